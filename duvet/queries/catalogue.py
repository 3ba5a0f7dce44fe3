"""A trace as a catalogue: flat cards that point at one another by their index, quick to keep and to read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TypeVar

from msgspec import Struct

from duvet.model import Kind, Level, Problem
from duvet.specs.urls import is_url
from duvet.text import text_id
from duvet.trace.states import NotApplicable, State, Status

_Key = TypeVar("_Key")

SHOWN = 12
"""So many digits of an id are shown."""


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
        from duvet.queries.names import plain

        places = (self.locator, self.url, self.path)
        ranked = ((self.id,), places, map(plain, (self.id, *places)), (plain(self.name),))
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
        return f"{self.section_path(section)}/requirements/{id[:SHOWN]}"


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
        return text_id(self.text)

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
