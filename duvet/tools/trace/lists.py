"""Answers that are lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.queries.catalogue import SHOWN, Catalogue
from duvet.queries.filters import Filter, selected
from duvet.tools.context import Context
from duvet.tools.paging import Wish, more, page_of
from duvet.tools.tool import Answer
from duvet.tools.trace.arguments import Part

_Item = TypeVar("_Item")


class Requirement(Struct, frozen=True):
    """A requirement in a list."""

    identifier: str
    full_path: str
    text: str


def requirement(catalogue: Catalogue, index: int) -> Requirement:
    return Requirement(catalogue.ids[index][:SHOWN], path_of(catalogue, index), catalogue.requirements[index].text)


def path_of(catalogue: Catalogue, index: int) -> str:
    """Where a requirement stands among all resources."""
    card = catalogue.requirements[index]
    return catalogue.specifications[card.specification].requirement_path(card.section, catalogue.ids[index])


def those(catalogue: Catalogue, indexes: Sequence[int], wanted: Filter) -> Sequence[int]:
    """Those of the requirements that pass, in their order."""
    if wanted == Filter():
        return indexes
    allowed = set(selected(catalogue, wanted))
    return [index for index in indexes if index in allowed]


def listed(
    context: Context,
    name: str,
    asked: Part,
    items: Sequence[_Item],
    *,
    key: Callable[[_Item], str],
    row: Callable[[_Item], Struct],
    notes: Sequence[str] = (),
) -> Answer:
    """The part of a list that is asked for, from the tool of that name; the notes come before how to get more."""
    question = (name, replace(asked, limit=None, cursor=None))
    rows, page = page_of(items, Wish(question, asked.cursor, asked.limit, context.page_size), key=key, row=row)
    words = [*notes, more(len(rows), page)]
    return Answer(value=rows, page=page, next_step=" ".join(filter(None, words)))


def requirements_listed(
    context: Context, name: str, asked: Part, indexes: Sequence[int], notes: Sequence[str] = ()
) -> Answer:
    """The same for requirements."""
    catalogue = context.catalogue
    return listed(
        context,
        name,
        asked,
        indexes,
        key=lambda index: path_of(catalogue, index),
        row=lambda index: requirement(catalogue, index),
        notes=notes,
    )
