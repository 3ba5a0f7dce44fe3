"""`get_prioritized_requirements`"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duvet.queries.filters import Filter
from duvet.queries.priority import Priority, prioritized, priority_of
from duvet.queries.rows import level_name
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.arguments import NO_LEVEL, Wanted, filter_of
from duvet.tools.trace.lists import listed, path_of, those

_NAME = "get_prioritized_requirements"


class Input(Wanted, frozen=True, kw_only=True):
    status: Literal["partially_implemented", "not_started", "fully_implemented"] | None = None


class Prioritized(Struct, frozen=True):
    """A requirement with what decides about its rank."""

    full_path: str
    level: str
    status: str
    todo_count: int


def prioritize(asked: Input, context: Context) -> Answer:
    """All requirements, most urgent first."""
    catalogue, ranked = context.catalogue, context.once(_ranked)
    indexes = those(catalogue, list(ranked), filter_of(asked))
    if asked.status:
        indexes = [index for index in indexes if _class(ranked[index]) == asked.status]
    note = "get_requirement tells all about one of them." if indexes else "No requirement is like that."
    return listed(
        context,
        _NAME,
        asked,
        indexes,
        key=lambda index: path_of(catalogue, index),
        row=lambda index: _row(path_of(catalogue, index), ranked[index]),
        notes=[note],
    )


def _ranked(context: Context) -> dict[int, Priority]:
    """The indexes of all requirements, most urgent first, with what decides about that."""
    ##= man/spec/mcp.md#tools
    ##% `get_prioritized_requirements` MUST list what is done, too.
    catalogue = context.catalogue
    ranked = prioritized(catalogue, Filter(), finished=True)
    return {index: priority_of(catalogue, catalogue.requirements[index]) for index in ranked}


def _class(priority: Priority) -> str:
    return priority.priority_class.name.lower()


def _row(path: str, priority: Priority) -> Prioritized:
    return Prioritized(path, level_name(priority.level) or NO_LEVEL, _class(priority), priority.todos)


GET_PRIORITIZED_REQUIREMENTS = Question(
    name=_NAME,
    title="What to work on next",
    description="All requirements, most urgent first: by level, then what has been begun, then todos. Use it to choose what "
    "to work on; what is done comes last in its level.",
    input=Input,
    output=tuple[Prioritized, ...],
    handler=prioritize,
)
