"""What files have to do with one another by the requirements that they cite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

from duvet.queries.catalogue import Catalogue, CitationCard


class Cited:
    """Files that cite the same requirements."""

    def __init__(self, catalogue: Catalogue, subsystem: Callable[[str], str]) -> None:
        """The second tells the subsystem of a file of code; of all others nothing."""
        self._citations = catalogue.citations
        self._subsystem = subsystem

    def subsystem(self, path: str) -> str:
        """The one of most of the files that cite what this one does; empty where there is none."""
        votes = self._votes(self._by_path.get(path, ()))
        return votes.most_common(1)[0][0] if votes else ""

    def _votes(self, citations: Iterable[CitationCard]) -> Counter[str]:
        wanted = {requirement for one in citations for requirement in one.requirements}
        votes = Counter[str]()
        for requirement in sorted(wanted):
            votes.update(self._by_requirement.get(requirement, ()))
        return votes

    @cached_property
    def _by_path(self) -> dict[str, list[CitationCard]]:
        found: dict[str, list[CitationCard]] = {}
        for one in self._citations:
            found.setdefault(one.path, []).append(one)
        return found

    @cached_property
    def _by_requirement(self) -> dict[int, list[str]]:
        names = {path: self._subsystem(path) for path in self._by_path}
        found: dict[int, list[str]] = {}
        for one in self._citations:
            for requirement in one.requirements if names[one.path] else ():
                found.setdefault(requirement, []).append(names[one.path])
        return found
