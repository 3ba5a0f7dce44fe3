"""Lists invalid citations, malformed annotations included."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct

from duvet import rules
from duvet.config.toml import format_one_line_string
from duvet.model import Problem, Severity
from duvet.sources.comments import SourceStyle, find_runs, make_finder, split_blocks, tokenize_run
from duvet.text import trim
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import QueryTool, ToolAnswer
from duvet.tools.trace.requirements import ListArguments, make_list_answer
from duvet.trace.locations import SourceText, find_last_line, read_comment

_TABLE = "[["
_LONGEST = 50
"""So many lines of an entry are looked at: one that is never closed goes on to the end of its file."""
MALFORMED_CODES = frozenset(
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

StylesByPath = Mapping[str, tuple[SourceStyle, ...]]
"""How each source writes annotations."""


class LineStretch(NamedTuple):
    """Lines of a file, from the first to the last."""

    first: int
    last: int


class MalformedAnnotation(Struct, frozen=True):
    """One of them, with all of its lines."""

    path: str
    lines: LineStretch
    comment: str
    problems: tuple[Problem, ...]


class AnnotationHead(NamedTuple):
    """Where an annotation begins, and its characters."""

    line: int
    span: tuple[int, int] = (0, 0)


def find_malformed_annotations(context: ProjectSnapshot) -> tuple[MalformedAnnotation, ...]:
    """All of them, by their places."""
    text = lru_cache(maxsize=None)(context.files.text)
    stretches = lru_cache(maxsize=None)(partial(_stretches, context.once(group_styles_by_path), text))
    found: dict[tuple[str, LineStretch], list[Problem]] = {}
    for one in context.findings.found:
        problem = one.problem
        if one.id < 0 and problem.code in MALFORMED_CODES:
            lines = _lines(text(problem.path), stretches(problem.path), problem.place.line)
            found.setdefault((problem.path, lines), []).append(problem)
    return tuple(
        MalformedAnnotation(path, lines, _comment(text(path), lines), tuple(problems))
        for (path, lines), problems in sorted(found.items(), key=lambda one: one[0])
    )


def group_styles_by_path(context: ProjectSnapshot) -> StylesByPath:
    """How each source of the project writes annotations."""
    return {path: styles for styles, paths in context.project.inputs.sources for path in paths}


def _stretches(styles: StylesByPath, text: Callable[[str], SourceText], path: str) -> list[LineStretch]:
    """The lines of all blocks of comments in a source."""
    return [one for style in styles.get(path, ()) for one in _in_style("\n".join(text(path).lines), style)]


def _in_style(text: str, style: SourceStyle) -> Iterator[LineStretch]:
    for run in find_runs(text, make_finder(style.meta, style.content)):
        for block in split_blocks(tokenize_run(run, style.meta, style.content)):
            numbers = [token.line for token in [*block.metas, *block.contents]]
            yield LineStretch(min(numbers), max(numbers))


def _lines(text: SourceText, known: list[LineStretch], line: int) -> LineStretch:
    """Those of the comment, or of the entry, that a line belongs to."""
    found = next((one for one in known if one.first <= line <= one.last), None)
    if found is not None:
        return found
    heads = (number for number in range(line, 0, -1) if number <= len(text.lines))
    head = next((number for number in heads if text.lines[number - 1].startswith(_TABLE)), line)
    return LineStretch(head, max(line, min(head + _LONGEST, find_last_line(text, AnnotationHead(head)))))


def _comment(text: SourceText, lines: LineStretch) -> str:
    return "\n".join(trim(line) for line in text.lines[lines.first - 1 : lines.last])


URL_NOT_FOUND = "URL not found"
SPECIFICATION_NOT_FOUND = "Specification not found"
SECTION_NOT_FOUND = "Section not found"
REQUIREMENT_NOT_FOUND = "Requirement not found"

_PHRASES = {
    rules.TARGET_UNRESOLVED.code: SPECIFICATION_NOT_FOUND,
    rules.SPECIFICATION_UNFETCHED.code: SPECIFICATION_NOT_FOUND,
    rules.FILE_UNREADABLE.code: SPECIFICATION_NOT_FOUND,
    rules.FILE_NOT_UTF8.code: SPECIFICATION_NOT_FOUND,
    rules.FILE_NOT_REGULAR.code: SPECIFICATION_NOT_FOUND,
    rules.TARGET_NO_SECTION.code: SECTION_NOT_FOUND,
    rules.TARGET_UNKNOWN_SECTION.code: SECTION_NOT_FOUND,
    rules.QUOTE_NOT_FOUND.code: REQUIREMENT_NOT_FOUND,
    rules.TARGET_BAD_URL.code: URL_NOT_FOUND,
    **dict.fromkeys(MALFORMED_CODES, URL_NOT_FOUND),
}
_NAME = re.compile(r".*(?:[#/]|\.[A-Za-z]+\Z)", re.DOTALL)


def describe_citation_error(problem: Problem, target: str) -> str:
    """What is wrong with a citation of this target: one of the phrases, and why; for other problems why alone."""
    ##= man/spec/mcp.md#tools
    ##% The error of an invalid citation MUST begin with `URL not found`, `Specification not found`, `Section not found`
    ##% or `Requirement not found`, and the second block MUST say what to do.
    phrase = _PHRASES.get(problem.code, "")
    if problem.code == rules.TARGET_UNRESOLVED.code and not _NAME.match(target):
        phrase = URL_NOT_FOUND
    message = restore_spelling(problem.message, target)
    return f"{phrase}: {message}" if phrase else message


def restore_spelling(message: str, target: str) -> str:
    """The message with a specification that stands above the project as the target names it."""
    name = target.partition("#")[0]
    return re.sub(rf"(?<!\S)/.*/{re.escape(name)}", lambda _: name, message) if name else message


_LIST_INVALID_CITATIONS_NAME = "list_invalid_citations"
_PASSED = rules.EXCEPTION_NO_REASON.code
"""An error of `duvet validate` that `duvet report` lets pass."""
_OWN_TARGET = re.compile(r"^target\s*=", re.MULTILINE)


class ListInvalidCitationsInput(ListArguments, frozen=True, kw_only=True):
    pass


class InvalidCitation(Struct, frozen=True):
    """A citation that something is wrong with."""

    file_path: str
    line_number: int
    comment_text: str
    error: str


def list_invalid_citations(asked: ListInvalidCitationsInput, context: ProjectSnapshot) -> ToolAnswer:
    """The citations that lead nowhere, misquote, or can't be read, by their places."""
    rows = context.once(_rows)
    note = "validate_citation tells whether a corrected one is right." if rows else "No citation is invalid."
    return make_list_answer(context, _LIST_INVALID_CITATIONS_NAME, asked, rows, key=_key, row=_itself, notes=[note])


def _rows(context: ProjectSnapshot) -> list[InvalidCitation]:
    ##= man/spec/trace.md#coverage
    ##% All commands, reports and tools MUST take their numbers from the same computation.
    return sorted([*_unread(context), *_wrong(context)], key=attrgetter("file_path", "line_number"))


def _wrong(context: ProjectSnapshot) -> Iterator[InvalidCitation]:
    """The citations that have errors."""
    text = lru_cache(maxsize=None)(context.files.text)
    annotations = context.project.trace.annotations
    for id, problems in context.findings.invalid().items():
        one = annotations[id]
        ##= man/spec/mcp.md#tools
        ##% `list_invalid_citations` MUST list exactly the citations that `duvet report` refuses, including comments
        ##% that cannot be read.
        wrong = [problem for problem in problems if problem.code != _PASSED]
        if wrong:
            comment = read_comment(text(one.path), AnnotationHead(one.line, one.source.text))
            if one.from_file:
                comment = _with_target(comment, one.target)
            yield InvalidCitation(one.path, one.line, comment, _error(wrong, one.target))


def _with_target(entry: str, target: str) -> str:
    """An entry of a requirement file with the target that it has, though it may stand above all entries."""
    head = "" if _OWN_TARGET.search(entry) else f"target = {format_one_line_string(target)}\n"
    return head + entry


def _unread(context: ProjectSnapshot) -> Iterator[InvalidCitation]:
    """What would be citations."""
    for one in context.once(find_malformed_annotations):
        wrong = [problem for problem in one.problems if problem.severity is Severity.ERROR]
        if wrong:
            yield InvalidCitation(one.path, one.lines.first, one.comment, _error(wrong, ""))


def _error(problems: Iterable[Problem], target: str) -> str:
    # What leads nowhere has a lower code than what is misquoted.
    return "; ".join(
        dict.fromkeys(describe_citation_error(one, target) for one in sorted(problems, key=attrgetter("code")))
    )


def _key(row: InvalidCitation) -> str:
    return f"{row.file_path}:{row.line_number}"


def _itself(row: InvalidCitation) -> InvalidCitation:
    return row


LIST_INVALID_CITATIONS = QueryTool(
    name=_LIST_INVALID_CITATIONS_NAME,
    title="Invalid citations",
    description="Citations in the code that lead nowhere or misquote, and why. Use it after a specification has changed.",
    input=ListInvalidCitationsInput,
    output=tuple[InvalidCitation, ...],
    handler=list_invalid_citations,
)
