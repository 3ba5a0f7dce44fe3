"""What a citation that is wrong should have named or quoted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec import Struct

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Annotation, Specification
from duvet.queries.spellings import specifications_meant
from duvet.specs.resolve import resolve
from duvet.specs.sections import SectionNames, section_index
from duvet.text import one_line, shortened
from duvet.tools.context import Context
from duvet.tools.trace.by_section import requirements_by_section
from duvet.tools.trace.shelf import Shelf
from duvet.trace.nearest import Neighbourhood
from duvet.trace.stretches import Stretch
from duvet.validation.quote_answers import drifted
from duvet.validation.target_answers import section
from duvet.validation.texts import Spot, Texts

_LONGEST = 1000
"""What is like a longer quote is not looked for: nobody wants to wait."""
_LONG = 400
"""What is like a longer quote is looked for in its own section alone."""
_LIKENESS = 60
_HINT = 600


class Near(NamedTuple):
    """A text, a section or a specification, and what to know about it, in a line."""

    text: str = ""
    hint: str = ""


class Nearest:
    """Looks for what was meant in the specifications of a project."""

    def __init__(self, context: Context) -> None:
        self.shelf = context.once(Shelf)
        self.catalogue = context.catalogue
        self.texts = _Texts(context)
        self._by_code: dict[str, Callable[[Annotation], Near]] = {
            rules.QUOTE_NOT_FOUND.code: self._quote,
            rules.TARGET_UNKNOWN_SECTION.code: self._section,
            rules.TARGET_NO_SECTION.code: self._section,
        }

    def to(self, code: str, annotation: Annotation) -> Near:
        """What an annotation with this problem should say."""
        if len(annotation.quote) > _LONGEST or len(annotation.target) > _LONGEST:
            return Near()
        near = self._by_code.get(code, self._specification)(annotation)
        return Near(near.text, shortened(one_line(near.hint), _HINT))

    def _quote(self, annotation: Annotation) -> Near:
        answer = drifted(self.texts, annotation)
        spot = self.texts.spot(annotation)
        if spot is None or spot.section is None:
            # Its file is gone by now.
            return Near(hint=answer.hint)
        own = spot.near.near(spot.section, annotation.quote)
        text = answer.quote or (own.text if own else answer.target)
        if text is None:
            found = spot.near.anywhere(annotation.quote)
            text = found.stretch.text if found else ""
        return Near(text, answer.hint)

    def _section(self, annotation: Annotation) -> Near:
        answer = section(self.texts, annotation)
        spot = self.texts.spot(annotation)
        name, _, wanted = annotation.target.partition("#")
        near = SectionNames(spot.near.specification).nearest(wanted) if spot and wanted else []
        return Near(answer.target or (f"{name}#{near[0]}" if near else ""), answer.hint)

    def _specification(self, annotation: Annotation) -> Near:
        name, _, wanted = annotation.target.partition("#")
        number = next(iter(specifications_meant(self.catalogue, name, self.shelf.project.root)), None)
        number = self._called_like(name) if number is None else number
        if number is None:
            return Near()
        known, locator = self.shelf.known(number), self.shelf.cards[number].locator
        return Near(locator if section_index(known, wanted) is None else f"{locator}#{wanted}")

    def _called_like(self, name: str) -> int | None:
        from rapidfuzz import fuzz, process

        names = [card.locator for card in self.shelf.cards]
        found = process.extractOne(name, names, scorer=fuzz.ratio, processor=None, score_cutoff=_LIKENESS)
        return found[2] if found else None


class _Known(Struct):
    """What has been found out about a quote."""

    quote: str
    stretches: dict[int, Stretch | None] = {}
    likely: list[tuple[float, int]] | None = None
    holding: list[int] | None = None


class _Neighbourhood(Neighbourhood):
    """Sections that are looked through once for a quote, and for a long one only where it should stand."""

    weighs = False
    _last: _Known | None = None

    def near(self, section: int, quote: str) -> Stretch | None:
        known = self._of(quote).stretches
        if section not in known:
            known[section] = super().near(section, quote)
        return known[section]

    def likely(self, quote: str) -> list[tuple[float, int]]:
        known = self._of(quote)
        if known.likely is None:
            known.likely = super().likely(quote) if len(quote) <= _LONG else []
        return known.likely

    def holding(self, quote: str) -> list[int]:
        known = self._of(quote)
        if known.holding is None:
            known.holding = super().holding(quote)
        return known.holding

    def _of(self, quote: str) -> _Known:
        """What is known of this quote; that of another is forgotten."""
        if self._last is None or quote != self._last.quote:
            self._last = _Known(quote)
        return self._last


class _Texts(Texts):
    """The specifications of a catalogue, and no others to look for text in."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.project)
        self.shelf = context.once(Shelf)
        self._indexes = context.once(requirements_by_section)
        self._requirements = context.catalogue.requirements
        self._neighbourhoods: dict[int, Neighbourhood] = {}

    def spot(self, annotation: Annotation) -> Spot | None:
        name, _, wanted = annotation.target.partition("#")
        try:
            locator = resolve(name, annotation.format, self.shelf.cwd, self.shelf.reachable)
            specification = self.shelf.load(locator)
        except DuvetError:
            return None
        number = self.shelf.number_of(locator)
        is_known = number is not None and self.shelf.known(number).format == specification.format
        near = self._of(number) if is_known and number is not None else _Neighbourhood(specification)
        return Spot(near, section_index(specification, wanted))

    def others(self, but: Neighbourhood | None = None) -> Iterator[tuple[str, Neighbourhood]]:
        for number, card in enumerate(self.shelf.cards):
            near = self._of(number)
            if near is not but:
                yield card.locator, near

    def _of(self, number: int) -> Neighbourhood:
        if number not in self._neighbourhoods:
            known = self.shelf.known(number)
            self._neighbourhoods[number] = _Neighbourhood(known, self._sentences_of(number, known))
        return self._neighbourhoods[number]

    def _sentences_of(self, number: int, known: Specification) -> dict[int, list[str]]:
        found = ((place, self._indexes.get((number, one.id), ())) for place, one in enumerate(known.sections))
        return {place: [self._requirements[index].text for index in indexes] for place, indexes in found if indexes}
