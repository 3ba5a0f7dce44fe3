"""`get_prioritized_requirements`"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duvet.queries.catalogue import Catalogue
from duvet.queries.filters import Filter
from duvet.queries.priority import prioritized, priority_of
from duvet.queries.rows import level_name
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Tool
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


def prioritize(context: Context, asked: Input) -> Answer:
    """All requirements, most urgent first."""
    catalogue = context.catalogue
    found = those(catalogue, context.once(_ranked), filter_of(asked))
    indexes = [index for index in found if class_of(catalogue, index) == asked.status] if asked.status else found
    note = "get_requirement tells all about one of them." if indexes else "No requirement is like that."
    return listed(
        context,
        _NAME,
        asked,
        indexes,
        key=lambda index: path_of(catalogue, index),
        row=lambda index: _row(catalogue, index),
        notes=[note],
    )


def class_of(catalogue: Catalogue, index: int) -> str:
    """How far a requirement has got, as its priority sees it."""
    return priority_of(catalogue, catalogue.requirements[index]).priority_class.name.lower()


def _ranked(context: Context) -> list[int]:
    ##= man/spec/mcp.md#tools
    ##% `get_prioritized_requirements` MUST list what is done, too.
    return prioritized(context.catalogue, Filter(), finished=True)


def _row(catalogue: Catalogue, index: int) -> Prioritized:
    priority = priority_of(catalogue, catalogue.requirements[index])
    return Prioritized(
        path_of(catalogue, index),
        level_name(priority.level) or NO_LEVEL,
        priority.priority_class.name.lower(),
        priority.todos,
    )


GET_PRIORITIZED_REQUIREMENTS = Tool(
    name=_NAME,
    title="What to work on next",
    description="All requirements, most urgent first: by level, then what has been begun, then todos.",
    input=Input,
    output=tuple[Prioritized, ...],
    handler=prioritize,
)
