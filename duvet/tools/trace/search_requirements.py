"""`search_requirements`"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from duvet.search.index import OpenIndex
from duvet.search.named import near
from duvet.search.search import Hits, Search, hits, notes_on
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.arguments import StatusWord, Wanted, filter_of
from duvet.tools.trace.lists import Requirement, requirements_listed

_NAME = "search_requirements"


class Input(Wanted, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description='Words, "a phrase", an id, file:line or spec#section')]
    status: StatusWord | None = None


def search_for(asked: Input, context: Context) -> Answer:
    """What is found, the best first."""
    question = Search(asked.query, filter_of(asked, asked.status))
    ##= man/spec/mcp.md#tools
    ##% What tools say of the trace MUST be what the commands say of it.
    found = hits(context.catalogue, question, lambda: context.once(_index), context.files)
    return requirements_listed(context, _NAME, asked, found.indexes, [*_notes(context, asked.query, found)])


def _index(context: Context) -> OpenIndex:
    return OpenIndex(context.catalogue, context.memory)


def _notes(context: Context, query: str, found: Hits) -> Iterator[str]:
    ##= man/spec/mcp.md#tools
    ##% The second block of a search MUST tell of loose matches, of words that don't count, and of the nearest names where
    ##% nothing is found.
    for note in notes_on(found):
        yield f"{note[:1].upper()}{note[1:]}."
    if not found.indexes:
        hint = near(context.catalogue, query, context.files)
        yield f"Nothing found; {hint}" if hint else "Nothing found."


SEARCH_REQUIREMENTS = Question(
    name=_NAME,
    title="Search requirements",
    description="Requirements by the words in them, or by what names them, the best first. Use it to find out which "
    "requirement some code is about.",
    input=Input,
    output=tuple[Requirement, ...],
    handler=search_for,
)
