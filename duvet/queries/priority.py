"""Ranks requirements by urgency, and explains the order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from duvet.model import Kind, Level, Rank
from duvet.queries.gaps import RequirementFilter, select_requirements
from duvet.queries.records import RequirementRow, make_row_fields
from duvet.text import format_count
from duvet.trace.catalogue import Catalogue, RequirementCard
from duvet.trace.records import State


class PriorityClass(Rank):
    """The progress of a requirement, most urgent first."""

    PARTIALLY_IMPLEMENTED = 0
    NOT_STARTED = 1
    FULLY_IMPLEMENTED = 2


class Priority(Struct, frozen=True):
    """The criteria for a requirement's rank; ties keep the order of the specifications."""

    level: Level
    priority_class: PriorityClass
    todos: int

    @property
    def key(self) -> tuple[int, int, int]:
        ##= man/spec/queries.md#priorities
        ##% `duvet prioritize` MUST rank requirements by level, then by progress (started, not started, done), then by
        ##% the number of todos, and then by their order in the specifications.
        return (-self.level, self.priority_class, -self.todos)


def prioritize_requirements(catalogue: Catalogue, filters: RequirementFilter, *, finished: bool = False) -> list[int]:
    """Return the requirements that pass the filters, most urgent first; `finished` includes done ones."""
    ##= man/spec/queries.md#priorities
    ##% Unless an option includes them, `duvet prioritize` MUST leave out requirements that are done, excepted or not
    ##% applicable.
    wants_done = finished or any(state >= State.EXCEPTED for state in filters.states)
    cards = catalogue.requirements
    found = (
        index for index in select_requirements(catalogue, filters) if wants_done or cards[index].state < State.EXCEPTED
    )
    return sorted(found, key=lambda index: compute_priority(catalogue, cards[index]).key)


def compute_priority(catalogue: Catalogue, card: RequirementCard) -> Priority:
    todos = sum(catalogue.citations[number].kind is Kind.TODO for number in card.citations)
    return Priority(card.level, _classify(card.state), todos)


def _classify(state: State) -> PriorityClass:
    if state <= State.TO_DO:
        return PriorityClass.NOT_STARTED
    return PriorityClass.PARTIALLY_IMPLEMENTED if state < State.EXCEPTED else PriorityClass.FULLY_IMPLEMENTED


class PriorityRow(RequirementRow, frozen=True, kw_only=True):
    """A requirement with its rank."""

    rank: int
    priority_class: str
    todo_count: int
    reason: str


class ExplainedRow(PriorityRow, frozen=True, kw_only=True):
    """A requirement with the explanation of its rank."""

    key: str
    before_next: str  # The reason why the next requirement comes after this one; empty for the last requirement.


def make_priority_rows(catalogue: Catalogue, ranked: Sequence[int], limit: int | None = None) -> list[PriorityRow]:
    cards = [catalogue.requirements[index] for index in ranked[:limit]]
    return [PriorityRow(**_make_fields(catalogue, card, rank)) for rank, card in enumerate(cards, 1)]


def make_explained_rows(catalogue: Catalogue, ranked: Sequence[int], limit: int | None = None) -> list[ExplainedRow]:
    cards = [catalogue.requirements[index] for index in ranked]
    nexts = [*cards[1:], None]
    return [
        ExplainedRow(
            **_make_fields(catalogue, card, rank),
            key=_describe_key(card, compute_priority(catalogue, card).todos),
            before_next=_explain_order(catalogue, card, after) if after else "",
        )
        for rank, (card, after) in enumerate(zip(cards[:limit], nexts, strict=False), 1)
    ]


def _make_fields(catalogue: Catalogue, card: RequirementCard, rank: int) -> dict[str, Any]:
    priority = compute_priority(catalogue, card)
    citations = [catalogue.citations[number] for number in card.citations]
    meaning = card.state.meaning
    state = describe_shortfall(card.state, citations) or meaning[0].lower() + meaning[1:].rstrip(".")
    reason = f"{_format_level(card.level)}, {card.state.words}: {state}"
    return {
        **make_row_fields(catalogue, card),
        "rank": rank,
        "priority_class": priority.priority_class.name.lower(),
        "todo_count": priority.todos,
        "reason": f"{reason}, {format_count(priority.todos, 'todo')}" if priority.todos else reason,
    }


class _Citation(Protocol):
    """An annotation, or its card in the catalogue."""

    @property
    def kind(self) -> Kind: ...

    @property
    def reason(self) -> str | None: ...


def describe_shortfall(state: State, citations: Sequence[_Citation]) -> str:
    """Return what is missing if the citations suggest more progress than the state; otherwise empty."""
    kinds = {one.kind for one in citations}
    if state is State.NEEDS_TESTS and Kind.TEST in kinds:
        return "code cites all of it; tests cite only a part"
    if state is State.NEEDS_CODE and Kind.CITATION in kinds:
        return "tests cite all of it; code cites only a part"
    if state is State.IN_PROGRESS:
        is_unexcused = any(one.kind is Kind.EXCEPTION and not one.reason for one in citations)
        return "an exception has no reason" if is_unexcused else "only a part of it is covered"
    return ""


def _describe_key(card: RequirementCard, todos: int) -> str:
    return f"{_format_level(card.level)}, {card.state.words}, {format_count(todos, 'todo')}"


def _explain_order(catalogue: Catalogue, card: RequirementCard, after: RequirementCard) -> str:
    """Return the first criterion by which two requirements differ, in words."""
    one, other = compute_priority(catalogue, card), compute_priority(catalogue, after)
    if one.level is not other.level:
        return f"{_format_level(one.level)} comes before {_format_level(other.level)}"
    if one.priority_class is not other.priority_class:
        return f"same level; `{card.state.words}` comes before `{after.state.words}`"
    if one.todos != other.todos:
        return f"same level and progress; more todos ({one.todos} instead of {other.todos})"
    return "same level, progress and todos; occurs earlier in the specifications"


def _format_level(level: Level) -> str:
    return level.name if level else "no level"
