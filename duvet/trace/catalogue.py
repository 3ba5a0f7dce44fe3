"""The trace as flat cards, which refer to each other by index and are fast to store and load."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.model import Kind, Level, Problem, Rank, RequirementForm, Specification, index_section_names
from duvet.specs.section_names import is_url, map_title_ids, normalise_name
from duvet.text import LineNumbers, make_text_id

if TYPE_CHECKING:
    from duvet.specs.library import Library
    from duvet.trace.records import Requirement, Trace

_Key = TypeVar("_Key")

SHORT_ID_DIGITS = 12  # The number of digits to show of an id.
CATALOGUE_KEY = "catalogue"  # The cache key of a project's catalogue.


NO_REQUIREMENTS_HINT = (
    "requirements contain MUST, SHOULD or MAY in capitals; check `source` and `format`, or set "
    '`keywords = "any"` for lower-case keywords or `requirements = "ids"` for ids such as FR-001'
)


class State(Rank):
    """The state of a requirement, worst first."""

    meaning: str

    def __new__(cls, rank: int, meaning: str) -> Self:
        state = int.__new__(cls, rank)
        state._value_ = rank
        state.meaning = meaning
        return state

    UNCITED = 0, "Nothing cites it."
    TO_DO = 1, "Only todos cite it."
    IN_PROGRESS = 2, "Only a part of it is covered, or an exception has no reason."
    NEEDS_CODE = 3, "Tests cite all of it, but code does not."
    NEEDS_TESTS = 4, "Code cites all of it, but tests do not."
    EXCEPTED = 5, "Exceptions with a reason cover all that is not done."
    DONE = 6, "Code and tests, or implications, cite all of it."
    NOT_APPLICABLE = 7, "The configuration declares it not applicable."


class NotApplicable(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry in the configuration that declares requirements not applicable."""

    target: str  # A specification, or a section of one.
    quote: str = ""  # The text of a single requirement of the section; empty for all.
    reason: str
    owner: str = ""
    expiry: date | None = None  # The last day on which the entry applies.
    has_expired: bool = False  # The day has passed, so the requirements count again.
    requirements: int  # The number of requirements that it matches.


MissingWords = tuple[tuple[str, ...], tuple[str, ...]]
"""The words of a requirement that need code, and those that need tests."""


class SectionCard(Struct, frozen=True, array_like=True):
    id: str
    title: str
    qualified: str = ""  # The name in targets; empty if it is the id.
    breadcrumb: str = ""  # The title, after those of the sections above it; empty if there are none to show.
    anchors: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.qualified or self.id


class SpecificationCard(Struct, frozen=True, array_like=True, dict=True):
    id: str
    name: str
    url: str  # The canonical URL, or the path in the project.
    description: str
    locator: str  # The name in targets.
    path: str  # The file that contains the text.
    sections: tuple[SectionCard, ...]
    is_configured: bool = False  # False if only annotations name it.
    form: RequirementForm | None = None  # None if it is read as awslabs duvet reads it.

    @cached_property
    def titles(self) -> dict[str, str]:
        return {section.id: section.breadcrumb or section.title for section in self.sections}

    @cached_property
    def section_names(self) -> dict[str, str]:
        return {section.id: section.qualified or section.id for section in self.sections}

    @cached_property
    def sections_by_title(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for section in self.sections:
            for title in {section.title, section.breadcrumb or section.title}:
                found.setdefault(title.casefold(), []).append(section.id)
        return {title: tuple(ids) for title, ids in found.items()}

    @cached_property
    def by_name(self) -> dict[str, tuple[int, ...]]:
        return index_section_names(self.sections)

    @cached_property
    def title_ids(self) -> dict[str, int]:
        return map_title_ids(self.form, self.sections)

    @cached_property
    def names(self) -> Mapping[str, int]:
        """Maps the names of the specification, including normalised forms, to ranks; the id has rank 0."""
        places = (self.locator, self.url, self.path)
        ranked = ((self.id,), places, map(normalise_name, (self.id, *places)), (normalise_name(self.name),))
        return {name: rank for rank, names in reversed([*enumerate(ranked)]) for name in names}

    @property
    def cited_as(self) -> str:
        """The URL or project path to write in targets; the text may come from a different URL."""
        return self.locator if is_url(self.locator) else self.url

    @property
    def full_path(self) -> str:
        return f"/specifications/{self.id}"

    def section_target(self, id: str) -> str:
        return f"{self.locator}#{self.section_names[id]}"

    def section_path(self, id: str) -> str:
        return f"/specifications/{self.id}/sections/{id}"

    def requirement_path(self, section: str, id: str) -> str:
        return f"/specifications/{self.id}/sections/{section}/requirements/{id[:SHORT_ID_DIGITS]}"

    def load(self, library: Library) -> Specification:
        return library.load_listed(self.path, self.locator, self.form, list(self.titles))


class RequirementCard(Struct, frozen=True, array_like=True):
    specification: int
    section: str
    text: str
    level: Level
    state: State
    line: int  # The line of the specification's file on which it begins.
    citations: tuple[int, ...]
    name: str = ""  # The id that the specification gives it, such as `FR-001`.

    @property
    def id(self) -> str:
        return make_text_id(self.text)


class CitationCard(Struct, frozen=True, array_like=True):
    """An annotation whose type is not `spec`."""

    path: str
    line: int
    kind: Kind
    target: str
    quote: str
    reason: str
    feature: str
    tracking_issue: str
    specification: int  # -1 if it leads nowhere.
    section: str
    requirements: tuple[int, ...]
    span: tuple[int, int]  # Its range of characters in the file; in a requirement file, the range of its table header.
    blob_link: str | None = None  # The web address of its source, if it differs from the default.
    remark: str = ""  # The message of its failure or warning.

    @property
    def id(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def is_valid(self) -> bool:
        return self.specification >= 0


class Catalogue(Struct, frozen=True, array_like=True, dict=True):
    specifications: tuple[SpecificationCard, ...]
    requirements: tuple[RequirementCard, ...]
    citations: tuple[CitationCard, ...]
    problems: tuple[Problem, ...]
    blob_link: str | None = None  # Where sources can be read.
    issue_link: str | None = None  # Where issues can be read.
    excuses: dict[int, NotApplicable] = {}  # The entries, by the index of a requirement that is not applicable.
    setup: tuple[Problem, ...] = ()  # The warnings that make every gate fail.
    missing: dict[int, MissingWords] = {}  # By requirement, if annotations cover only some of its words.

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple([card.id for card in self.requirements])

    @cached_property
    def named(self) -> dict[str, list[int]]:
        found = _group_indexes(map(attrgetter("name"), self.requirements))
        found.pop("", None)
        return found

    def find_named(self, name: str, specifications: Collection[int]) -> tuple[int, ...]:
        if not self.named:
            return ()
        for indexes in (self.named.get(name, ()), self._named_in_any_case.get(name.casefold(), ())):
            found = tuple([index for index in indexes if self.requirements[index].specification in specifications])
            if found:
                return found
        return ()

    @cached_property
    def _named_in_any_case(self) -> dict[str, list[int]]:
        found = _group_indexes([card.name.casefold() for card in self.requirements])
        found.pop("", None)
        return found

    @cached_property
    def stated(self) -> dict[tuple[int, str], list[int]]:
        return _group_indexes(map(attrgetter("specification", "section"), self.requirements))

    @cached_property
    def cited_in(self) -> dict[str, list[int]]:
        return _group_indexes(map(attrgetter("path"), self.citations))

    def target_of(self, card: RequirementCard) -> str:
        return self.specifications[card.specification].section_target(card.section)

    def full_path_of(self, card: RequirementCard) -> str:
        return self.specifications[card.specification].requirement_path(card.section, card.id)


def _group_indexes(keys: Iterable[_Key]) -> dict[_Key, list[int]]:
    found: dict[_Key, list[int]] = {}
    for index, key in enumerate(keys):
        found.setdefault(key, []).append(index)
    return found


def build_catalogue(
    trace: Trace, requirements: Sequence[Requirement], configured: Iterable[Specification]
) -> Catalogue:
    from duvet.trace.coverage import find_missing_words

    cited = [coverage.specification for coverage in trace.coverages]
    others = list_unreferenced_specifications(configured, cited)
    stating = (id for id, annotation in enumerate(trace.annotations) if annotation.kind is not Kind.SPEC)
    numbers = {id: number for number, id in enumerate(stating)}
    indexes = {specification.id: index for index, specification in enumerate(cited)}
    lines = LineNumbers()
    cards = [
        RequirementCard(
            indexes[one.specification.id],
            one.section.id,
            one.text,
            one.level,
            one.state,
            lines.of(one.specification.data, one.matches[0].pieces[0].start),
            tuple([numbers[id] for id in one.related if id in numbers]),
            one.name,
        )
        for one in requirements
    ]
    citations = tuple(_make_citation_cards(trace, numbers, cards))
    specifications = tuple(map(make_specification_card, (*cited, *others)))
    missing = {
        index: found
        for index, (card, one) in enumerate(zip(cards, requirements, strict=True))
        if State.IN_PROGRESS <= one.state <= State.NEEDS_TESTS
        and (found := find_missing_words(trace.coverages[card.specification], one))
    }
    return Catalogue(specifications, tuple(cards), citations, trace.problems, missing=missing)


def list_unreferenced_specifications(
    configured: Iterable[Specification], cited: Sequence[Specification]
) -> tuple[Specification, ...]:
    from duvet.specs.library import assign_ids

    return assign_ids(select_unreferenced_specifications(configured, cited), cited)


def select_unreferenced_specifications(
    configured: Iterable[Specification], cited: Iterable[Specification]
) -> tuple[Specification, ...]:
    # A configured format and the same detected format are one specification.
    known = {(one.locator.name, one.format) for one in cited}
    others = {
        one.locator: replace(one, is_configured=True)
        for one in configured
        if (one.locator.name, one.format) not in known
    }
    return tuple(others.values())


def make_specification_card(one: Specification) -> SpecificationCard:
    sections = tuple(
        [
            SectionCard(part.id, part.title, part.qualified, "" if crumb == part.title else crumb, part.anchors)
            for part in one.sections
            for crumb in (part.breadcrumb,)
        ]
    )
    return SpecificationCard(
        one.id, one.name, one.url, one.description, one.locator.name, one.path, sections, one.is_configured, one.form
    )


def _make_citation_cards(trace: Trace, numbers: dict[int, int], cards: list[RequirementCard]) -> Iterator[CitationCard]:
    targets: dict[int, tuple[int, str]] = {}
    for index, coverage in enumerate(trace.coverages):
        for match in coverage.matches:
            target = (index, coverage.specification.sections[match.section].id)
            targets.update(dict.fromkeys(match.ids, target))
    related: list[list[int]] = [[] for _ in numbers]
    for index, card in enumerate(cards):
        for number in card.citations:
            related[number].append(index)
    for id, number in numbers.items():
        one = trace.annotations[id]
        specification, section = targets.get(id, (-1, ""))
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
