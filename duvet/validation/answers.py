"""What an annotation that is wrong should say: what there is to show, and what is sure enough to be written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Annotation, Format, Specification
from duvet.project import Project
from duvet.specs.resolve import displayed, locate, resolve
from duvet.specs.sections import SectionNames, section_index
from duvet.trace.build import second_spellings
from duvet.trace.nearest import Neighbourhood
from duvet.trace.word_diff import word_diff

_LIKENESS = 60
"""How like another a name has to be to have been meant, of 100."""
_FEWEST = 3
"""Fewer words than this may stand in the only section that has them by chance."""
_SAFE = 95.0
"""What is more like a quote than this is a second good answer to it."""
_FAR = 90.0
"""How like a quote text in another section has to be to have been meant."""
_SHOWN = 3


class Answer(NamedTuple):
    """What an annotation should say, where that is sure, and what people should know."""

    hint: str = ""
    target: str | None = None
    quote: str | None = None

    @property
    def is_sure(self) -> bool:
        return self.target is not None or self.quote is not None


class Spot(NamedTuple):
    """The specification that a target names and what is near in it, and the index of the section, where there is one."""

    near: Neighbourhood
    section: int | None


class Answers:
    """Finds answers in the specifications of a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._near: dict[str, Neighbourhood] = {}
        self._known: dict[tuple[str, str, str, Format, str], Answer] = {}
        self._by_code: dict[str, Callable[[Annotation], Answer]] = {
            rules.QUOTE_NOT_FOUND.code: self._drifted,
            rules.QUOTE_ONE_EDIT.code: self._one_edit,
            rules.TARGET_UNKNOWN_SECTION.code: self._section,
            rules.TARGET_NO_SECTION.code: self._section,
            rules.TARGET_UNRESOLVED.code: self._specification,
            rules.TARGET_TWO_SPELLINGS.code: self._spelling,
        }

    def to(self, code: str, annotation: Annotation) -> Answer:
        """The answer to a problem of an annotation; one that others have, too, is found once."""
        find = self._by_code.get(code)
        if find is None:
            return Answer()
        base = annotation.path if annotation.from_file else ""
        known = (code, annotation.target, annotation.quote, annotation.format, base)
        if known not in self._known:
            self._known[known] = find(annotation)
        return self._known[known]

    def spot(self, annotation: Annotation, target: str) -> Spot | None:
        """Where a target leads that stands where the annotation does."""
        name, _, wanted = target.partition("#")
        base = annotation.path if annotation.from_file else self.project.root
        try:
            locator = resolve(name, annotation.format, base, self.project.tree)
            specification = self.project.library.load(locator)
        except DuvetError:
            return None
        return Spot(self._neighbourhood(specification), section_index(specification, wanted))

    def is_valid(self, annotation: Annotation) -> bool:
        """Whether an annotation quotes what stands in the section that it names."""
        spot = self.spot(annotation, annotation.target)
        return spot is not None and spot.section is not None and spot.near.holds(spot.section, annotation.quote)

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

    def _drifted(self, annotation: Annotation) -> Answer:
        spot, quote = self.spot(annotation, annotation.target), annotation.quote
        if spot is None or spot.section is None:
            return Answer()
        held = spot.near.holding(quote)
        own = spot.near.near(spot.section, quote)
        if held:
            moved = self._moved(annotation, spot.near, held)
            return moved._replace(target=None) if own is not None and own.score > _SAFE else moved
        if own is not None:
            ##= man/spec/validate.md#what-is-checked
            ##% For a quote that is not found, the text that is most like it SHOULD be shown, with what differs marked word
            ##% by word.
            hint = f"the nearest text in this section is\n{word_diff(quote, own.text)}"
            return Answer(hint, quote=own.text if own.is_clear else None)
        return self._far(annotation, spot.near)

    def _moved(self, annotation: Annotation, near: Neighbourhood, held: list[int]) -> Answer:
        """The answer for a quote that stands in these sections."""
        ids = [near.section_id(index) for index in held]
        names = " and ".join(f"#{id}" for id in ids[:_SHOWN])
        more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
        sure = len(ids) == 1 and len(annotation.quote.split()) >= _FEWEST
        target = f"{annotation.target.partition('#')[0]}#{ids[0]}" if sure else None
        ##= man/spec/validate.md#what-is-checked
        ##% For a quote that stands in another section, that section SHOULD be named.
        return Answer(f"these words stand in {names}{more}", target)

    def _far(self, annotation: Annotation, near: Neighbourhood) -> Answer:
        """The answer for a quote with nothing like it in its section: another section, or another specification."""
        found = near.anywhere(annotation.quote)
        if found is None or found.stretch.score < _FAR:
            for name, other in self._others(near):
                held = other.holding(annotation.quote)
                if held:
                    return Answer(f"these words stand in {name}#{other.section_id(held[0])}")
        if found is None:
            return self._in_others(annotation.quote, near)
        id = near.section_id(found.section)
        hint = f"the nearest text stands in #{id}:\n{word_diff(annotation.quote, found.stretch.text)}"
        if not found.stretch.is_clear or found.stretch.score < _FAR:
            return Answer(hint)
        return Answer(hint, f"{annotation.target.partition('#')[0]}#{id}", found.stretch.text)

    def _in_others(self, quote: str, near: Neighbourhood) -> Answer:
        """What other specifications have that is like a quote: something to show, and nothing to write."""
        others = list(self._others(near))
        likely = sorted(
            (
                (share, number, index)
                for number, (_, other) in enumerate(others)
                for share, index in other.likely(quote)
            ),
            key=lambda one: -one[0],
        )
        found = [
            (stretch, number, index)
            for _, number, index in likely[:_SHOWN]
            if (stretch := others[number][1].near(index, quote)) is not None
        ]
        if not found:
            return Answer()
        stretch, number, index = max(found, key=lambda one: one[0].score)
        name, other = others[number]
        return Answer(f"the nearest text stands in {name}#{other.section_id(index)}:\n{word_diff(quote, stretch.text)}")

    def _one_edit(self, annotation: Annotation) -> Answer:
        spot = self.spot(annotation, annotation.target)
        own = spot.near.near(spot.section, annotation.quote) if spot and spot.section is not None else None
        if own is None:
            return Answer()
        hint = f"the nearest text in this section is\n{word_diff(annotation.quote, own.text)}"
        return Answer(hint, quote=own.text if own.is_clear else None)

    def _section(self, annotation: Annotation) -> Answer:
        spot = self.spot(annotation, annotation.target)
        if spot is None:
            return Answer()
        name, _, wanted = annotation.target.partition("#")
        near = SectionNames(spot.near.specification).nearest(wanted) if wanted else []
        held = spot.near.holding(annotation.quote)
        if held:
            ids = {spot.near.section_id(index): index for index in held}
            # Of several sections with these words, the one that is called nearly so is meant.
            meant = [ids[id] for id in near if id in ids]
            moved = self._moved(annotation, spot.near, meant if len(meant) == 1 else held)
            return moved._replace(target=f"{name}#{spot.near.section_id(meant[0])}") if len(meant) == 1 else moved
        sure = not annotation.quote and len(near) == 1
        return Answer(target=f"{name}#{near[0]}" if sure else None)

    def _specification(self, annotation: Annotation) -> Answer:
        from rapidfuzz import fuzz

        name, _, wanted = annotation.target.partition("#")
        known = [(other, near) for other, near in self._others() if fuzz.ratio(name, other) >= _LIKENESS]
        fitting = []
        for other, near in known:
            index = section_index(near.specification, wanted)
            if index is not None and near.holds(index, annotation.quote):
                fitting.append(other)
        if len(fitting) == 1:
            return Answer(f"did you mean {fitting[0]}?", f"{fitting[0]}#{wanted}")
        return Answer(f"did you mean {' or '.join(name for name, _ in known[:_SHOWN])}?" if known else "")

    def _spelling(self, annotation: Annotation) -> Answer:
        """The first of the spellings that a specification has."""
        spot = self.spot(annotation, annotation.target)
        for other, first in second_spellings(self.project.trace.coverages, self.project.root):
            if spot is not None and spot.near.specification.locator == other.locator:
                if first.locator.name == other.locator.name:
                    return Answer()
                section = annotation.target.partition("#")[2]
                return Answer(target=f"{displayed(first.locator, self.project.root)}#{section}")
        return Answer()

    def _others(self, but: Neighbourhood | None = None) -> Iterator[tuple[str, Neighbourhood]]:
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
