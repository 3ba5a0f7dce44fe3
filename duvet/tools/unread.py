"""What would be an annotation, but for what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from msgspec import Struct

from duvet import rules
from duvet.model import Problem
from duvet.queries.snippets import Text, last_line
from duvet.sources.blocks import blocks
from duvet.sources.finder import finder_of
from duvet.sources.runs import runs
from duvet.sources.style import Style
from duvet.sources.tokens import tokens
from duvet.text import trim
from duvet.tools.context import Context

_TABLE = "[["
_LONGEST = 50
"""So many lines of an entry are looked at: one that is never closed goes on to the end of its file."""
UNREAD = frozenset(
    one.code
    for one in (
        rules.COMMENT_UNKNOWN_KEY,
        rules.COMMENT_REPEATED_KEY,
        rules.COMMENT_BAD_TYPE,
        rules.COMMENT_BAD_LEVEL,
        rules.COMMENT_BAD_FORMAT,
        rules.COMMENT_NO_TARGET,
        rules.COMMENT_KEY_NOT_ALLOWED,
        rules.COMMENT_STRAY_CONTENT,
        rules.COMMENT_CUT,
        rules.REQUIREMENT_SYNTAX,
        rules.REQUIREMENT_UNKNOWN_KEY,
        rules.REQUIREMENT_MISSING_KEY,
        rules.REQUIREMENT_WRONG_TYPE,
        rules.REQUIREMENT_BAD_VALUE,
        rules.REQUIREMENT_REPEATED_KEY,
    )
)
"""The codes of what keeps a comment, or an entry of a requirement file, from being read."""

Styles = Mapping[str, tuple[Style, ...]]
"""How each source writes annotations."""


class Stretch(NamedTuple):
    """Lines of a file, from the first to the last."""

    first: int
    last: int


class Unread(Struct, frozen=True):
    """One of them, with all of its lines."""

    path: str
    lines: Stretch
    comment: str
    problems: tuple[Problem, ...]


class Head(NamedTuple):
    """Where an annotation begins, and its characters."""

    line: int
    span: tuple[int, int] = (0, 0)


def unread(context: Context) -> tuple[Unread, ...]:
    """All of them, by their places."""
    text = lru_cache(maxsize=None)(context.files.text)
    stretches = lru_cache(maxsize=None)(partial(_stretches, context.once(styles_by_path), text))
    found: dict[tuple[str, Stretch], list[Problem]] = {}
    for one in context.findings.found:
        problem = one.problem
        if one.id < 0 and problem.code in UNREAD:
            lines = _lines(text(problem.path), stretches(problem.path), problem.place.line)
            found.setdefault((problem.path, lines), []).append(problem)
    return tuple(
        Unread(path, lines, _comment(text(path), lines), tuple(problems))
        for (path, lines), problems in sorted(found.items(), key=lambda one: one[0])
    )


def styles_by_path(context: Context) -> Styles:
    """How each source of the project writes annotations."""
    return {path: styles for styles, paths in context.project.inputs.sources for path in paths}


def _stretches(styles: Styles, text: Callable[[str], Text], path: str) -> list[Stretch]:
    """The lines of all blocks of comments in a source."""
    return [one for style in styles.get(path, ()) for one in _in_style("\n".join(text(path).lines), style)]


def _in_style(text: str, style: Style) -> Iterator[Stretch]:
    for run in runs(text, finder_of(style.meta, style.content)):
        for block in blocks(tokens(run, style.meta, style.content)):
            numbers = [token.line for token in [*block.metas, *block.contents]]
            yield Stretch(min(numbers), max(numbers))


def _lines(text: Text, known: list[Stretch], line: int) -> Stretch:
    """Those of the comment, or of the entry, that a line belongs to."""
    found = next((one for one in known if one.first <= line <= one.last), None)
    if found is not None:
        return found
    heads = (number for number in range(line, 0, -1) if number <= len(text.lines))
    head = next((number for number in heads if text.lines[number - 1].startswith(_TABLE)), line)
    return Stretch(head, max(line, min(head + _LONGEST, last_line(text, Head(head)))))


def _comment(text: Text, lines: Stretch) -> str:
    return "\n".join(trim(line) for line in text.lines[lines.first - 1 : lines.last])
