"""The specifications of a project, to look for what annotations mean in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from duvet.errors import DuvetError
from duvet.model import Annotation, Specification
from duvet.project import Project
from duvet.specs.resolve import displayed, locate, resolve
from duvet.specs.sections import section_index
from duvet.trace.build import second_spellings
from duvet.trace.nearest import Neighbourhood


class Spot(NamedTuple):
    """The specification that a target names and what is near in it, and the index of the section, where there is one."""

    near: Neighbourhood
    section: int | None


class Texts:
    """Every specification that an annotation may mean; what is read of them is kept."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._near: dict[str, Neighbourhood] = {}

    def spot(self, annotation: Annotation) -> Spot | None:
        """Where the target of an annotation leads; None where no specification is there."""
        name, _, wanted = annotation.target.partition("#")
        base = annotation.path if annotation.from_file else self.project.root
        try:
            locator = resolve(name, annotation.format, base, self.project.tree)
            specification = self.project.library.load(locator)
        except DuvetError:
            return None
        return Spot(self._neighbourhood(specification), section_index(specification, wanted))

    def is_valid(self, annotation: Annotation) -> bool:
        """Whether an annotation quotes what stands in the section that it names."""
        spot = self.spot(annotation)
        return spot is not None and spot.section is not None and spot.near.holds(spot.section, annotation.quote)

    def others(self, but: Neighbourhood | None = None) -> Iterator[tuple[str, Neighbourhood]]:
        """Every specification that is cited or configured, each with what targets call it, by one name."""
        project = self.project
        second = {other.locator for other, _ in second_spellings(project.trace.coverages, project.root)}
        cited = [one.specification for one in project.trace.coverages]
        found = {one.locator: one for one in cited if one.locator not in second}
        for rule in project.config.specifications if project.config else ():
            with suppress(DuvetError):
                loaded = project.library.load(locate(rule.source, rule.format))
                found.setdefault(loaded.locator, loaded)
        for locator, specification in found.items():
            near = self._neighbourhood(specification)
            if near is not but:
                yield displayed(locator, project.root), near

    def _neighbourhood(self, specification: Specification) -> Neighbourhood:
        key = f"{specification.locator.name}\n{specification.locator.format}"
        if key not in self._near:
            self._near[key] = Neighbourhood(specification, self._sentences(specification))
        return self._near[key]

    def _sentences(self, specification: Specification) -> dict[int, list[str]]:
        """The requirements of a specification by section."""
        trace = self.project.trace
        found: dict[int, list[str]] = {}
        for coverage in trace.coverages:
            if coverage.specification.locator == specification.locator:
                for match in coverage.matches:
                    quotes = [trace.annotations[id].quote for id in match.stating[:1]]
                    found.setdefault(match.section, []).extend(quotes)
        return found
