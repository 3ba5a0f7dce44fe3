"""Lists invalid citations, including malformed annotations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter

from msgspec import Struct

from duvet import model, rules
from duvet.config.toml import format_one_line_string
from duvet.sources.comments import SourceStyle, find_runs, make_finder, split_blocks
from duvet.text import trim
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import ToolAnswer, declare_query
from duvet.tools.trace.requirements import ListArguments, make_list_answer
from duvet.trace.locations import find_last_line, read_comment

_TABLE = "[["
_LONGEST = 50  # The most lines of an entry that are read: an unclosed entry would extend to the end of the file.
MALFORMED_CODES = frozenset(
    code
    for code in rules.list_rules()
    if rules.COMMENT_UNKNOWN_KEY.code <= code <= rules.COMMENT_CUT.code
    or rules.REQUIREMENT_SYNTAX.code <= code <= rules.REQUIREMENT_REPEATED_KEY.code
)

StylesByPath = Mapping[str, tuple[SourceStyle, ...]]
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
    rules.TARGET_AMBIGUOUS.code: SECTION_NOT_FOUND,
    rules.NAME_AMBIGUOUS.code: SECTION_NOT_FOUND,
    rules.QUOTE_NOT_FOUND.code: REQUIREMENT_NOT_FOUND,
    rules.TARGET_BAD_URL.code: URL_NOT_FOUND,
    **dict.fromkeys(MALFORMED_CODES, URL_NOT_FOUND),
}
_NAME = re.compile(r".*(?:[#/]|\.[A-Za-z]+\Z)", re.DOTALL)
_PASSED = rules.EXCEPTION_NO_REASON.code  # An error of `duvet validate` that `duvet report` tolerates.
_OWN_TARGET = re.compile(r"^target\s*=", re.MULTILINE)


class MalformedAnnotation(Struct, frozen=True):
    path: str
    first: int
    last: int
    comment: str
    problems: tuple[model.Problem, ...]


def find_malformed_annotations(context: ProjectSnapshot) -> tuple[MalformedAnnotation, ...]:
    text = cache(context.files.text)

    @cache
    def list_blocks(path: str) -> list[tuple[int, int]]:
        blocks = []
        for style in context.once(group_styles_by_path).get(path, ()):
            for run in find_runs("\n".join(text(path).lines), make_finder(style.meta, style.content)):
                for block in split_blocks(run, style.meta, style.content):
                    numbers = [token.line for token in [*block.metas, *block.contents]]
                    blocks.append((min(numbers), max(numbers)))
        return blocks

    def find_lines(path: str, line: int) -> tuple[int, int]:
        for first, last in list_blocks(path):
            if first <= line <= last:
                return first, last
        known = text(path).lines
        heads = (number for number in range(min(line, len(known)), 0, -1) if known[number - 1].startswith(_TABLE))
        head = next(heads, line)
        return head, max(line, min(head + _LONGEST, find_last_line(text(path), head)))

    found: dict[tuple[str, int, int], list[model.Problem]] = {}
    for one in context.findings.found:
        problem = one.problem
        if one.id < 0 and problem.code in MALFORMED_CODES:
            key = (problem.path, *find_lines(problem.path, problem.place.line))
            found.setdefault(key, []).append(problem)
    return tuple(
        MalformedAnnotation(
            path, first, last, "\n".join(map(trim, text(path).lines[first - 1 : last])), tuple(found[path, first, last])
        )
        for path, first, last in sorted(found)
    )


def group_styles_by_path(context: ProjectSnapshot) -> StylesByPath:
    return {path: styles for styles, paths in context.project.inputs.sources for path in paths}


def describe_citation_error(problem: model.Problem, target: str) -> str:
    ##= man/spec/mcp.md#tools
    ##% If a citation is invalid, `validate_citation` MUST return an error that begins with `URL not found`,
    ##% `Specification not found`, `Section not found` or `Requirement not found`.
    is_unnamed = problem.code == rules.TARGET_UNRESOLVED.code and not _NAME.match(target)
    phrase = URL_NOT_FOUND if is_unnamed else _PHRASES.get(problem.code, "")
    message = restore_spelling(problem.message, target)
    return f"{phrase}: {message}" if phrase else message


def restore_spelling(message: str, target: str) -> str:
    name = target.partition("#")[0]
    return re.sub(rf"(?<!\S)/.*/{re.escape(name)}", lambda _: name, message) if name else message


class InvalidCitation(Struct, frozen=True):
    file_path: str
    line_number: int
    comment_text: str
    error: str


@declare_query("list_invalid_citations", "Invalid citations", ListArguments, tuple[InvalidCitation, ...])
def list_invalid_citations(arguments: ListArguments, context: ProjectSnapshot) -> ToolAnswer:
    """List the invalid citations, each with its error. Use it after a specification changes."""
    rows = context.once(_find_invalid)
    note = "After a fix, check the citation with validate_citation." if rows else "No citation is invalid."
    key: Callable[[InvalidCitation], str] = lambda row: f"{row.file_path}:{row.line_number}"
    return make_list_answer(
        context, "list_invalid_citations", arguments, rows, key=key, row=lambda row: row, notes=[note]
    )


def _find_invalid(context: ProjectSnapshot) -> list[InvalidCitation]:
    found = []
    for one in context.once(find_malformed_annotations):
        if errors := [problem for problem in one.problems if problem.severity is model.Severity.ERROR]:
            found.append(InvalidCitation(one.path, one.first, one.comment, _describe_errors(errors, "")))
    text = cache(context.files.text)
    annotations = context.project.trace.annotations
    for id, problems in context.findings.invalid().items():
        annotation = annotations[id]
        ##= man/spec/mcp.md#tools
        ##% `list_invalid_citations` MUST list exactly the citations that `duvet report` refuses.
        if errors := [problem for problem in problems if problem.code != _PASSED]:
            comment = read_comment(text(annotation.path), annotation.line, annotation.source.text_end)
            # In a requirement file, one target at the top may apply to all entries.
            if annotation.from_file and not _OWN_TARGET.search(comment):
                comment = f"target = {format_one_line_string(annotation.target)}\n{comment}"
            error = _describe_errors(errors, annotation.target)
            found.append(InvalidCitation(annotation.path, annotation.line, comment, error))
    return sorted(found, key=attrgetter("file_path", "line_number"))


def _describe_errors(problems: Iterable[model.Problem], target: str) -> str:
    # An unknown target has a lower code than a wrong quote.
    found = sorted(problems, key=attrgetter("code"))
    return "; ".join(dict.fromkeys(describe_citation_error(one, target) for one in found))
