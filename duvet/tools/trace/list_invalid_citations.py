"""`list_invalid_citations`"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import attrgetter

from msgspec import Struct

from duvet import rules
from duvet.config.toml_text import one_line_string
from duvet.model import Problem, Severity
from duvet.queries.snippets import comment_of
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.arguments import Part
from duvet.tools.trace.lists import listed
from duvet.tools.trace.verdicts import error_of
from duvet.tools.unread import Head, unread

_NAME = "list_invalid_citations"
_PASSED = rules.EXCEPTION_NO_REASON.code
"""An error of `duvet validate` that `duvet report` lets pass."""
_OWN_TARGET = re.compile(r"^target\s*=", re.MULTILINE)


class Input(Part, frozen=True, kw_only=True):
    pass


class Invalid(Struct, frozen=True):
    """A citation that something is wrong with."""

    file_path: str
    line_number: int
    comment_text: str
    error: str


def list_invalid(asked: Input, context: Context) -> Answer:
    """The citations that lead nowhere, misquote, or can't be read, by their places."""
    rows = context.once(_rows)
    note = "validate_citation tells whether a corrected one is right." if rows else "No citation is invalid."
    return listed(context, _NAME, asked, rows, key=_key, row=_itself, notes=[note])


def _rows(context: Context) -> list[Invalid]:
    ##= man/spec/mcp.md#tools
    ##% What tools say of the trace MUST be what the commands say of it.
    return sorted([*_unread(context), *_wrong(context)], key=attrgetter("file_path", "line_number"))


def _wrong(context: Context) -> Iterator[Invalid]:
    """The citations that have errors."""
    text = lru_cache(maxsize=None)(context.files.text)
    annotations = context.project.trace.annotations
    for id, problems in context.findings.invalid().items():
        one = annotations[id]
        ##= man/spec/mcp.md#tools
        ##% `list_invalid_citations` MUST list each citation that `duvet report` refuses, and no other.
        wrong = [problem for problem in problems if problem.code != _PASSED]
        if wrong:
            comment = comment_of(text(one.path), Head(one.line, one.source.text))
            if one.from_file:
                comment = _with_target(comment, one.target)
            yield Invalid(one.path, one.line, comment, _error(wrong, one.target))


def _with_target(entry: str, target: str) -> str:
    """An entry of a requirement file with the target that it has, though it may stand above all entries."""
    head = "" if _OWN_TARGET.search(entry) else f"target = {one_line_string(target)}\n"
    return head + entry


def _unread(context: Context) -> Iterator[Invalid]:
    """What would be citations."""
    for one in context.once(unread):
        wrong = [problem for problem in one.problems if problem.severity is Severity.ERROR]
        if wrong:
            yield Invalid(one.path, one.lines.first, one.comment, _error(wrong, ""))


def _error(problems: Iterable[Problem], target: str) -> str:
    # What leads nowhere has a lower code than what is misquoted.
    return "; ".join(dict.fromkeys(error_of(one, target) for one in sorted(problems, key=attrgetter("code"))))


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
