"""Requirements without citations or tests, and the order of requirements by urgency."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from duvet.model import Annotation, Kind, Level, Rank
from duvet.queries.records import RequirementFilter, RequirementRow, make_row_fields, select_requirements
from duvet.text import format_count
from duvet.trace.catalogue import Catalogue, CitationCard, RequirementCard, State


class Gap(StrEnum):
    CITATION = "uncited or `to do`"
    TEST = "untested"
    TODO = "with a todo"


class RequirementGaps(Struct, frozen=True):
    indexes: tuple[int, ...]
    among: int  # The number of requirements that were examined.
    not_applicable: int = 0  # The number of those left out.


class TodoNote(Struct, frozen=True, kw_only=True):
    file_path: str
    line_number: int
    feature: str
    tracking_issue: str

    @property
    def words(self) -> str:
        place = f"{self.file_path}:{self.line_number}"
        return " ".join(word for word in (place, self.feature, self.tracking_issue) if word)


class TodoRow(RequirementRow, frozen=True, kw_only=True):
    todos: tuple[TodoNote, ...]


def find_gaps(catalogue: Catalogue, filters: RequirementFilter, gap: Gap | None) -> RequirementGaps:
    cards = catalogue.requirements
    all_examined = examined = select_requirements(catalogue, replace(filters, states=()))
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST list requirements that are not applicable only if `--status` selects them, and never with
    ##% `--untested` or `--todo`.
    if gap is not None or State.NOT_APPLICABLE not in filters.states:
        examined = [index for index in examined if cards[index].state is not State.NOT_APPLICABLE]
    found = [index for index in examined if gap is None or _has_gap(catalogue, cards[index], gap)]
    if filters.states:
        found = [index for index in found if cards[index].state in filters.states]
    return RequirementGaps(tuple(found), len(examined), len(all_examined) - len(examined))


def _has_gap(catalogue: Catalogue, card: RequirementCard, gap: Gap) -> bool:
    kinds = {catalogue.citations[number].kind for number in card.citations}
    match gap:
        case Gap.CITATION:
            ##= man/spec/queries.md#uncited
            ##% By default, `duvet uncited` MUST list the requirements that are uncited or `to do`; with `--untested`,
            ##% the unfinished ones that no test cites and those in the state `needs tests`; and with `--todo`, those
            ##% that a todo cites.
            return card.state <= State.TO_DO
        case Gap.TEST:
            return card.state is State.NEEDS_TESTS or (card.state < State.EXCEPTED and Kind.TEST not in kinds)
        case Gap.TODO:
            return Kind.TODO in kinds


def make_todo_row(catalogue: Catalogue, card: RequirementCard) -> TodoRow:
    cited = [catalogue.citations[number] for number in card.citations]
    todos = tuple(
        TodoNote(file_path=one.path, line_number=one.line, feature=one.feature, tracking_issue=one.tracking_issue)
        for one in cited
        if one.kind is Kind.TODO
    )
    return TodoRow(**make_row_fields(catalogue, card), todos=todos)


class PriorityClass(Rank):
    PARTIALLY_IMPLEMENTED = 0
    NOT_STARTED = 1
    FULLY_IMPLEMENTED = 2


class Priority(Struct, frozen=True):
    level: Level
    priority_class: PriorityClass
    todos: int


def prioritize_requirements(catalogue: Catalogue, filters: RequirementFilter, *, finished: bool = False) -> list[int]:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST leave out requirements that are done, excepted or not applicable, unless an option
    ##% includes them.
    wants_done = finished or any(state >= State.EXCEPTED for state in filters.states)
    cards = catalogue.requirements
    ranked: list[tuple[int, int, int, int]] = []
    for index in select_requirements(catalogue, filters):
        if wants_done or cards[index].state < State.EXCEPTED:
            one = compute_priority(catalogue, cards[index])
            ##= man/spec/queries.md#priorities
            ##% `duvet prioritize` MUST rank requirements by level, then by progress (started, not started, done), then
            ##% by the number of todos, and then by their order in the specifications.
            ranked.append((-one.level, one.priority_class, -one.todos, index))
    return [index for *_, index in sorted(ranked)]


def compute_priority(catalogue: Catalogue, card: RequirementCard) -> Priority:
    progress = PriorityClass.PARTIALLY_IMPLEMENTED
    if card.state <= State.TO_DO:
        progress = PriorityClass.NOT_STARTED
    elif card.state >= State.EXCEPTED:
        progress = PriorityClass.FULLY_IMPLEMENTED
    return Priority(card.level, progress, [catalogue.citations[one].kind for one in card.citations].count(Kind.TODO))


class PriorityRow(RequirementRow, frozen=True, kw_only=True):
    rank: int
    priority_class: str
    todo_count: int
    reason: str


class ExplainedRow(PriorityRow, frozen=True, kw_only=True):
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
            key=f"{_format_level(card.level)}, {card.state.words}, {format_count(todos, 'todo')}",
            before_next=_explain_order(catalogue, card, after) if after else "",
        )
        for rank, (card, after) in enumerate(zip(cards[:limit], nexts, strict=False), 1)
        for todos in (compute_priority(catalogue, card).todos,)
    ]


def _make_fields(catalogue: Catalogue, card: RequirementCard, rank: int) -> dict[str, Any]:
    priority = compute_priority(catalogue, card)
    citations = [catalogue.citations[number] for number in card.citations]
    meaning = explain_state(card.state, citations).rstrip(".")
    reason = f"{_format_level(card.level)}, {card.state.words}: {meaning[0].lower()}{meaning[1:]}"
    return {
        **make_row_fields(catalogue, card),
        "rank": rank,
        "priority_class": priority.priority_class.name.lower(),
        "todo_count": priority.todos,
        "reason": f"{reason}, {format_count(priority.todos, 'todo')}" if priority.todos else reason,
    }


def explain_state(state: State, citations: Sequence[Annotation | CitationCard]) -> str:
    words = describe_shortfall(state, citations)
    return f"{words[0].upper()}{words[1:]}." if words else state.meaning


def describe_shortfall(state: State, citations: Sequence[Annotation | CitationCard]) -> str:
    kinds = {one.kind for one in citations}
    if state is State.NEEDS_TESTS and Kind.TEST in kinds:
        return "code cites all of it; tests cite only a part"
    if state is State.NEEDS_CODE and Kind.CITATION in kinds:
        return "tests cite all of it; code cites only a part"
    if state is State.IN_PROGRESS:
        is_unexcused = any(one.kind is Kind.EXCEPTION and not one.reason for one in citations)
        return "an exception has no reason" if is_unexcused else "only a part of it is covered"
    return ""


def _explain_order(catalogue: Catalogue, card: RequirementCard, after: RequirementCard) -> str:
    one, other = compute_priority(catalogue, card), compute_priority(catalogue, after)
    if one.level is not other.level:
        return f"{_format_level(one.level)} comes before {_format_level(other.level)}"
    if one.priority_class is not other.priority_class:
        return f"same level; `{card.state.words}` comes before `{after.state.words}`"
    if one.todos != other.todos:
        return f"same level and progress; more todos ({one.todos}, the next has {other.todos})"
    return "same level, progress and todos; occurs earlier in the specifications"


def _format_level(level: Level) -> str:
    return level.name if level else "no level"
