"""Why a requirement has its rank, in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from duvet.model import Kind, Level
from duvet.queries.catalogue import Catalogue, RequirementCard
from duvet.queries.priority import Priority, priority_of
from duvet.queries.rows import RequirementRow, fields_of
from duvet.text import plural
from duvet.trace.states import State


class PriorityRow(RequirementRow, frozen=True, kw_only=True):
    """A requirement with its rank."""

    rank: int
    priority_class: str
    todo_count: int
    reason: str


class ExplainedRow(PriorityRow, frozen=True, kw_only=True):
    """A requirement with all that decided about its rank."""

    key: str
    before_next: str
    """Why the next one comes after it; nothing for the last one."""


def priority_rows(catalogue: Catalogue, ranked: Sequence[int], most: int | None = None) -> list[PriorityRow]:
    """The first of the requirements that are in this order."""
    cards = [catalogue.requirements[index] for index in ranked[:most]]
    return [PriorityRow(**_fields(catalogue, card, rank)) for rank, card in enumerate(cards, 1)]


def explained_rows(catalogue: Catalogue, ranked: Sequence[int], most: int | None = None) -> list[ExplainedRow]:
    """The same, each compared with the next one."""
    cards = [catalogue.requirements[index] for index in ranked]
    nexts = [*cards[1:], None]
    return [
        ExplainedRow(
            **_fields(catalogue, card, rank),
            key=_key(priority_of(catalogue, card)),
            before_next=_before(catalogue, card, after) if after else "",
        )
        for rank, (card, after) in enumerate(zip(cards[:most], nexts, strict=False), 1)
    ]


def _fields(catalogue: Catalogue, card: RequirementCard, rank: int) -> dict[str, Any]:
    priority = priority_of(catalogue, card)
    return {
        **fields_of(catalogue, card),
        "rank": rank,
        "priority_class": priority.priority_class.name.lower(),
        "todo_count": priority.todos,
        "reason": reason_of(catalogue, card),
    }


def reason_of(catalogue: Catalogue, card: RequirementCard) -> str:
    """`MUST, needs tests: implemented but not tested, 2 todos`."""
    ##= man/spec/queries.md#priorities
    ##% The reason of each rank MUST be given in words.
    todos = priority_of(catalogue, card).todos
    words = f"{_level_words(card.level)}, {card.status.words}: {_state(catalogue, card)}"
    return f"{words}, {plural(todos, 'todo')}" if todos else words


def _state(catalogue: Catalogue, card: RequirementCard) -> str:
    kinds = {catalogue.citations[number].kind for number in card.citations}
    return shortfall(card.state, kinds) or _STATES[card.state]


def shortfall(state: State, kinds: Collection[Kind]) -> str:
    """What a state alone does not say of a requirement that has citations of these kinds; mostly nothing."""
    if state is State.MISSING_TEST and Kind.CITATION not in kinds:
        return "excepted without a reason"
    if state is State.MISSING_TEST and Kind.TEST in kinds:
        return "implemented but only tested in part"
    if state is State.MISSING_IMPLEMENTATION and Kind.CITATION in kinds:
        return "tested but only implemented in part"
    return ""


_STATES = {
    State.UNCITED: "nothing refers to it",
    State.TO_DO: "only todos refer to it",
    State.MISSING_IMPLEMENTATION: "tested but not implemented",
    State.PARTIAL: "only a part of it is cited",
    State.MISSING_TEST: "implemented but not tested",
    State.EXCEPTION: "excepted with a reason",
    State.IMPLIED: "implied",
    State.COMPLETE: "implemented and tested",
    State.NOT_APPLICABLE: "not applicable",
}


def _key(one: Priority) -> str:
    return f"{_level_words(one.level)}, {one.priority_class.words}, {plural(one.todos, 'todo')}"


def _before(catalogue: Catalogue, card: RequirementCard, after: RequirementCard) -> str:
    """The first thing in which the two differ."""
    one, other = priority_of(catalogue, card), priority_of(catalogue, after)
    if one.level is not other.level:
        return f"{_level_words(one.level)} comes before {_level_words(other.level)}"
    if one.priority_class is not other.priority_class:
        return f"same level; {one.priority_class.words} comes before {other.priority_class.words}"
    if one.todos != other.todos:
        return f"same level and class; more todos ({one.todos} against {other.todos})"
    return "same level, class and todos; stands first in the specifications"


def _level_words(level: Level) -> str:
    return level.name if level else "no level"
