"""The ids that specifications give their requirements, such as `FR-001`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from duvet.model import Annotation, Locator
from duvet.text import remove_spacing
from duvet.trace.records import Coverage


class NamedText(Struct, frozen=True):
    """A requirement with an id."""

    name: str
    section: int  # The index of its section.
    text: str


class RequirementNames:
    """The requirements of one specification by the ids that it gives them."""

    def __init__(self, stated: Iterable[NamedText]) -> None:
        self._exact: dict[str, list[NamedText]] = {}
        self._folded: dict[str, list[NamedText]] = {}
        for one in dict.fromkeys(stated):
            self._exact.setdefault(one.name, []).append(one)
            self._folded.setdefault(one.name.casefold(), []).append(one)

    def find(self, name: str) -> Sequence[NamedText]:
        """Return the requirements with this id; if there are none, those whose id differs only in case."""
        ##= man/spec/names.md#references
        ##% duvet MUST accept an id in other upper or lower case if no id has the written one.
        found = self._exact.get(name) or self._folded.get(name.casefold())
        return found or ()

    def containing(self, quote: str) -> list[NamedText]:
        """Return the requirements whose text contains a quote."""
        words = remove_spacing(quote)
        return [one for found in self._exact.values() for one in found if words and words in remove_spacing(one.text)]

    def having(self, section: int, words: str) -> str:
        """Return the id of the requirement of a section that contains these words; empty without one."""
        found = {one.name for one in self.containing(words) if one.section == section}
        return found.pop() if len(found) == 1 else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self._exact)


def find_stated_names(coverage: Coverage, annotations: Sequence[Annotation]) -> RequirementNames:
    """Return the ids of the requirements of a specification in a trace."""
    return RequirementNames(
        NamedText(annotations[id].name, match.section, annotations[id].quote)
        for match in coverage.matches
        for id in match.stating
        if annotations[id].name
    )


NO_NAMES = RequirementNames(())
NamesOf = Callable[[Locator], RequirementNames]
