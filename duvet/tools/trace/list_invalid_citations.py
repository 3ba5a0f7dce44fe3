"""`list_invalid_citations`"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct

from duvet.model import Problem, Severity
from duvet.queries.snippets import Text, comment_of
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.arguments import Part
from duvet.tools.trace.lists import listed
from duvet.tools.trace.verdicts import UNREAD, error_of

_NAME = "list_invalid_citations"


class Input(Part, frozen=True, kw_only=True):
    pass


class Invalid(Struct, frozen=True):
    """A citation that something is wrong with."""

    file_path: str
    line_number: int
    comment_text: str
    error: str


class _Stretch(NamedTuple):
    """Where a citation is written."""

    line: int
    span: tuple[int, int] = (0, 0)


def list_invalid(asked: Input, context: Context) -> Answer:
    """The citations that break a rule, by their places."""
    rows = context.once(_rows)
    note = "validate_citation tells whether a corrected one is right." if rows else "No citation is invalid."
    return listed(context, _NAME, asked, rows, key=_key, row=_itself, notes=[note])


def _rows(context: Context) -> list[Invalid]:
    ##= man/spec/mcp.md#tools
    ##% What tools say of the trace MUST be what the commands say of it.
    text = lru_cache(maxsize=None)(context.files.text)
    return sorted([*_unread(context, text), *_wrong(context, text)], key=attrgetter("file_path", "line_number"))


def _wrong(context: Context, text: Callable[[str], Text]) -> Iterator[Invalid]:
    """The citations that have errors."""
    annotations = context.project.trace.annotations
    for id, problems in context.findings.invalid().items():
        one = annotations[id]
        comment = comment_of(text(one.path), _Stretch(one.line, one.source.text))
        yield Invalid(one.path, one.line, comment, _error(problems, one.target))


def _unread(context: Context, text: Callable[[str], Text]) -> Iterator[Invalid]:
    """The comments that would be citations."""
    for found in context.findings.found:
        one = found.problem
        if found.id < 0 and one.code in UNREAD and one.severity is Severity.ERROR:
            comment = comment_of(text(one.path), _Stretch(one.place.line))
            yield Invalid(one.path, one.place.line, comment, error_of(one, ""))


def _error(problems: Iterable[Problem], target: str) -> str:
    # What leads nowhere has a lower code than what lacks a reason.
    return "; ".join(error_of(one, target) for one in sorted(problems, key=attrgetter("code")))


def _key(row: Invalid) -> str:
    return f"{row.file_path}:{row.line_number}"


def _itself(row: Invalid) -> Invalid:
    return row


LIST_INVALID_CITATIONS = Question(
    name=_NAME,
    title="Invalid citations",
    description="Citations in the code that lead nowhere or misquote, and why. Use it after a specification has changed.",
    input=Input,
    output=tuple[Invalid, ...],
    handler=list_invalid,
)
