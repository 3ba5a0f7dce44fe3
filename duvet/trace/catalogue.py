"""The trace as flat cards that refer to one another by index, quick to store and to load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from msgspec import Struct

from duvet.errors import UnreadableError
from duvet.model import Annotation, Format, Kind, Level, Problem, Specification
from duvet.specs.library import Library, assign_further_ids
from duvet.specs.locator import is_url, locate_specification
from duvet.text import LineNumbers, make_text_id
from duvet.trace.records import Coverage, NotApplicable, Requirement, State, Status, Trace

_Key = TypeVar("_Key")

SHORT_ID_DIGITS = 12
"""So many digits of an id are shown."""
CATALOGUE_KEY = "catalogue"
"""The cache key of a project's catalogue."""


class SectionCard(Struct, frozen=True, array_like=True):
    """A part of a specification."""

    id: str
    title: str


class SpecificationCard(Struct, frozen=True, array_like=True, dict=True):
    """A document."""

    id: str
    name: str
    url: str
    """The canonical URL, or the path in the project."""
    description: str
    locator: str
    """What targets call it."""
    path: str
    """The file that holds the text."""
    sections: tuple[SectionCard, ...]

    @cached_property
    def titles(self) -> dict[str, str]:
        """The titles of the sections by their ids."""
        return {section.id: section.title for section in self.sections}

    @cached_property
    def titled(self) -> dict[str, str]:
        """The ids of the sections by their titles, whose case is folded; the first one of a title."""
        return {section.title.casefold(): section.id for section in reversed(self.sections)}

    @cached_property
    def names(self) -> Mapping[str, int]:
        """What it is called, as it is written and each in its one spelling, and how far from its id that is."""
        # Most commands ask for no name.
        from duvet.trace.names import normalise_name

        places = (self.locator, self.url, self.path)
        ranked = ((self.id,), places, map(normalise_name, (self.id, *places)), (normalise_name(self.name),))
        return {name: rank for rank, names in reversed([*enumerate(ranked)]) for name in names}

    @property
    def cited_as(self) -> str:
        """The URL that targets name, though its text may be fetched from another, or the path in the project."""
        return self.locator if is_url(self.locator) else self.url

    @property
    def full_path(self) -> str:
        return f"/specifications/{self.id}"

    def section_path(self, id: str) -> str:
        """Where a section of it stands among all resources."""
        return f"{self.full_path}/sections/{id}"

    def requirement_path(self, section: str, id: str) -> str:
        """The same for a requirement of a section."""
        return f"{self.section_path(section)}/requirements/{id[:SHORT_ID_DIGITS]}"


class RequirementCard(Struct, frozen=True, array_like=True):
    """A normative sentence of a section."""

    specification: int
    section: str
    text: str
    level: Level
    state: State
    line: int
    """Where it begins in the file of its specification."""
    citations: tuple[int, ...]

    @property
    def id(self) -> str:
        """The hex BLAKE3 of its text, so that it outlives a new wrapping."""
        return make_text_id(self.text)

    @property
    def status(self) -> Status:
        return self.state.status


class CitationCard(Struct, frozen=True, array_like=True):
    """An annotation that states no requirement."""

    path: str
    line: int
    kind: Kind
    target: str
    quote: str
    reason: str
    feature: str
    tracking_issue: str
    specification: int
    """-1 where it leads nowhere."""
    section: str
    requirements: tuple[int, ...]
    span: tuple[int, int]
    """Its characters in the file; in a requirement file those of the head of its table."""
    blob_link: str | None = None
    """Where its source can be read, if elsewhere than the others."""
    remark: str = ""
    """Why it leads nowhere, or what else there is to say of it."""

    @property
    def id(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def is_valid(self) -> bool:
        """Whether it leads to a text."""
        return self.specification >= 0


class Catalogue(Struct, frozen=True, array_like=True, dict=True):
    """Everything that there is to know about a project."""

    specifications: tuple[SpecificationCard, ...]
    requirements: tuple[RequirementCard, ...]
    citations: tuple[CitationCard, ...]
    problems: tuple[Problem, ...]
    blob_link: str | None = None
    """Where sources can be read."""
    issue_link: str | None = None
    """Where issues can be read."""
    excuses: dict[int, NotApplicable] = {}
    """Why requirements are not applicable, by their index."""

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of the requirements in their order."""
        return tuple([card.id for card in self.requirements])

    @cached_property
    def stated(self) -> dict[tuple[int, str], tuple[int, ...]]:
        """The requirements of each section that has any, by the index of its specification and by its id."""
        return _grouped((card.specification, card.section) for card in self.requirements)

    @cached_property
    def cited_in(self) -> dict[str, tuple[int, ...]]:
        """The citations of each file."""
        return _grouped(card.path for card in self.citations)

    def specification_of(self, card: RequirementCard) -> SpecificationCard:
        return self.specifications[card.specification]

    def target_of(self, card: RequirementCard) -> str:
        """What a citation of it has to name."""
        return f"{self.specification_of(card).locator}#{card.section}"

    def full_path_of(self, card: RequirementCard) -> str:
        """Where it stands among all resources."""
        return self.specification_of(card).requirement_path(card.section, card.id)


def _grouped(keys: Iterable[_Key]) -> dict[_Key, tuple[int, ...]]:
    """Where each key occurs among them."""
    found: dict[_Key, list[int]] = {}
    for index, key in enumerate(keys):
        found.setdefault(key, []).append(index)
    return {key: tuple(indexes) for key, indexes in found.items()}


_Spot = tuple[int, str]
"""The index of a specification, and the id of a section in it."""

_NOWHERE: _Spot = (-1, "")


def build_catalogue(
    trace: Trace, requirements: Iterable[Requirement], configured: Iterable[Specification]
) -> Catalogue:
    """The catalogue of a trace with its requirements; configured specifications are in it though nothing is cited."""
    cited = [coverage.specification for coverage in trace.coverages]
    others = list_unreferenced_specifications(configured, cited)
    citing = {id: number for number, id in enumerate(_citing(trace.annotations))}
    places = {specification.id: index for index, specification in enumerate(cited)}
    numbered = [*_requirement_cards(requirements, places, citing)]
    return Catalogue(
        tuple(map(make_specification_card, (*cited, *others))),
        tuple(numbered),
        tuple(_citation_cards(trace, citing, numbered)),
        trace.problems,
    )


def list_unreferenced_specifications(
    configured: Iterable[Specification], cited: Sequence[Specification]
) -> tuple[Specification, ...]:
    """The configured specifications that nothing refers to, with ids of their own."""
    # A format that is configured is no other specification than the same one found out.
    known = {(one.locator.name, one.format) for one in cited}
    others = {one.locator: one for one in configured if (one.locator.name, one.format) not in known}
    return assign_further_ids(others.values(), cited)


def _citing(annotations: tuple[Annotation, ...]) -> Iterator[int]:
    return (id for id, annotation in enumerate(annotations) if annotation.kind is not Kind.SPEC)


def make_specification_card(one: Specification) -> SpecificationCard:
    sections = tuple(SectionCard(section.id, section.title) for section in one.sections)
    return SpecificationCard(one.id, one.name, one.url, one.description, one.locator.name, one.path, sections)


def _requirement_cards(
    requirements: Iterable[Requirement], places: dict[str, int], citing: dict[int, int]
) -> Iterator[RequirementCard]:
    lines = LineNumbers()
    for one in requirements:
        yield RequirementCard(
            places[one.specification.id],
            one.section.id,
            one.text,
            one.level,
            one.state,
            lines.of(one.specification.data, one.matches[0].pieces[0].start),
            tuple([citing[id] for id in one.related if id in citing]),
        )


def _citation_cards(trace: Trace, citing: dict[int, int], cards: list[RequirementCard]) -> Iterator[CitationCard]:
    spots = _spots(trace.coverages)
    related: list[list[int]] = [[] for _ in citing]
    for index, card in enumerate(cards):
        for number in card.citations:
            related[number].append(index)
    for id, number in citing.items():
        one = trace.annotations[id]
        specification, section = spots.get(id, _NOWHERE)
        yield CitationCard(
            one.path,
            one.line,
            one.kind,
            one.target,
            one.quote,
            one.reason,
            one.feature,
            one.tracking_issue,
            specification,
            section,
            tuple(related[number]),
            one.source.text,
            one.blob_link,
            trace.failures[id].message if id in trace.failures else "",
        )


def _spots(coverages: tuple[Coverage, ...]) -> dict[int, _Spot]:
    """Where each annotation leads."""
    found: dict[int, _Spot] = {}
    for index, coverage in enumerate(coverages):
        for match in coverage.matches:
            spot = (index, coverage.specification.sections[match.section].id)
            found.update(dict.fromkeys(match.ids, spot))
    return found


def load_card_specification(card: SpecificationCard, library: Library) -> Specification:
    """The specification of a card, with its text."""
    for format in Format:
        found = library.load_from(card.path, locate_specification(card.locator, format))
        # One name may be read in several formats, and the file may be another one by now.
        if list(card.titles) == [section.id for section in found.sections]:
            return found
    raise UnreadableError("it has changed meanwhile", path=card.path, hint="ask again")
