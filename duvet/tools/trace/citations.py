"""Tools that validate and suggest citations, and show the code around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, NamedTuple
from urllib.parse import unquote

from msgspec import Meta, Struct

from duvet import errors, model
from duvet.queries.references import CitationRef, Usage, find_citable, resolve_reference
from duvet.sources import comments, editor, glob
from duvet.text import decode_utf8, join_names, quote_text, shorten_text, suggest_nearest
from duvet.tools.arguments import is_inside_project
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import ErrorCode, ResultPage, ToolAnswer, ToolError, declare_query
from duvet.tools.trace import citation_checker, invalid_citations
from duvet.trace import locations

CitationText = Annotated[str, Meta(max_length=10_000)]  # A longer text would block other calls for too long.
_STEPS = {
    invalid_citations.SPECIFICATION_NOT_FOUND: "Find the text with search_requirements; suggest_citation returns the comment to paste.",
    invalid_citations.SECTION_NOT_FOUND: "Find the text with search_requirements, or read a section with get_section.",
    invalid_citations.REQUIREMENT_NOT_FOUND: "Find the text with search_requirements; suggest_citation returns the comment to paste.",
}
_ROOM = 8_000  # Maximum length of errors, warnings and texts in an answer.
_MAX_COMPARED = 6_000  # Maximum length of invalid citations that are compared with all texts, because that is slow.
_KINDS = {"implementation": model.Kind.CITATION, **{kind.name.lower(): kind for kind in model.Kind}}
_DEFAULT_LINES, _MAX_LINES, _MAX_WIDTH = 5, 1000, 500
_AROUND = f"Lines to show before and after the first line of the citation [default: {_DEFAULT_LINES} before the first and {_DEFAULT_LINES} after the last line]"


class ValidateCitationInput(Struct, frozen=True, forbid_unknown_fields=True):
    citation: Annotated[CitationText, Meta(description="The whole comment, or just spec#section")]
    file: Annotated[
        str | None, Meta(description="The file that will contain the citation, to check the comment style")
    ] = None


class ValidateCitationOutput(Struct, frozen=True, omit_defaults=True):
    valid: bool
    error: str | None = None
    warning: str | None = None
    nearest: str | None = None


@declare_query("validate_citation", "Validate a citation", ValidateCitationInput, ValidateCitationOutput)
def validate_citation(arguments: ValidateCitationInput, context: ProjectSnapshot) -> ToolAnswer:
    """Check that a citation's URL, section and quote exist. Call it on every citation you write."""
    verdict = context.once(citation_checker.CitationChecker).check(arguments.citation)
    if arguments.file is not None and not verdict.error:
        path, styles = _find_source(context, arguments.file)
        verdict = citation_checker.check_style(verdict, arguments.citation, path, styles)
    phrase, step = verdict.error.partition(":")[0], f"{verdict.hint[:1].upper()}{verdict.hint[1:]}"
    if verdict.nearest and phrase != invalid_citations.REQUIREMENT_NOT_FOUND:
        change = "Change the target to the value of `nearest`."
        if "#" not in verdict.nearest:
            change = "Change the specification to the value of `nearest`, and add one of its sections: spec#section."
        step = f"{change} {step}".rstrip()
    elif verdict.error and not verdict.hint:
        step = _STEPS.get(
            phrase, "Fix the citation, or paste the comment from suggest_citation. A target is written as spec#section."
        )
    return ToolAnswer(value=_make_output(verdict), next_step=step)


def _make_output(verdict: citation_checker.CitationVerdict, most: int | None = None) -> ValidateCitationOutput:
    texts = (text or None for text in (verdict.error, verdict.warning, verdict.nearest))
    return ValidateCitationOutput(
        not verdict.error, *(text and (shorten_text(text, most) if most else text) for text in texts)
    )


class ValidateCitationsInput(Struct, frozen=True, forbid_unknown_fields=True):
    citations: Annotated[
        list[CitationText], Meta(min_length=1, max_length=50, description="Citations to check, each a complete comment")
    ]


@declare_query("validate_citations", "Validate citations", ValidateCitationsInput, tuple[ValidateCitationOutput, ...])
def validate_citations(arguments: ValidateCitationsInput, context: ProjectSnapshot) -> ToolAnswer:
    """Check several citations at once; the answers are in the same order."""
    checker, left = context.once(citation_checker.CitationChecker), _MAX_COMPARED
    verdicts: list[citation_checker.CitationVerdict] = []
    for citation in arguments.citations:
        verdict = checker.check(citation, with_nearest=left > 0)
        left -= len(citation) if verdict.error else 0
        verdicts.append(verdict)
    count, wrong = len(verdicts), [str(number) for number, one in enumerate(verdicts, 1) if one.error]
    step = f"All {count:,} citations are valid." if count > 1 else "The citation is valid."
    if wrong:
        nouns = "is invalid: number" if len(wrong) == 1 else "are invalid: numbers"
        advice = "Call validate_citation on each to see how to fix it."
        if any(one.nearest for one in verdicts):
            advice = "Use the target or the quote in `nearest`, and validate again."
        step = f"{len(wrong)} of {count} {nouns} {join_names(wrong, 10)}. {advice}"
    rows = [_make_output(verdict, _ROOM // (2 * count)) for verdict in verdicts]
    return ToolAnswer(value=rows, next_step=step, page=ResultPage(count))


class SuggestCitationInput(Struct, frozen=True, forbid_unknown_fields=True):
    requirement: Annotated[str, Meta(description="Id or name of a requirement; spec#section cites the section's title")]
    file: Annotated[str, Meta(description="The file to paste the citation into")]
    type: Literal["implementation", "test", "exception", "todo", "implication"] | None = None
    line: Annotated[int, Meta(ge=1, description="The line to paste the citation above")] | None = None
    reason: Annotated[str, Meta(max_length=1000)] | None = None


class SuggestCitationOutput(Struct, frozen=True, omit_defaults=True):
    comment: str
    file_path: str
    line_number: int | None = None


@declare_query("suggest_citation", "Suggest a citation", SuggestCitationInput, SuggestCitationOutput)
def suggest_citation(arguments: SuggestCitationInput, context: ProjectSnapshot) -> ToolAnswer:
    """Return the comment that cites a requirement, in the style of a file. Paste it yourself: nothing is written."""
    cited, line = find_citable(context.catalogue, context.find(arguments.requirement, Usage.CITABLE)), arguments.line
    path, styles = _find_source(context, arguments.file)
    style = editor.choose_style(styles, _KINDS.get(arguments.type or ""))
    kind = _KINDS[arguments.type] if arguments.type else style.kind
    reason = (arguments.reason or "").strip()
    if kind is model.Kind.EXCEPTION and not reason:
        hint = "set `reason` to the reason why the requirement is not met"
        raise ToolError(ErrorCode.INVALID_REQUEST, "an exception needs a reason", hint)
    if line is not None and not context.project.tree.exists(path):
        message = f"{path} does not exist, so it has no line {line}"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, "omit line, or create the file first")
    annotation = editor.NewAnnotation(cited.target, cited.quote, kind, {"reason": reason} if reason else {})
    try:
        text = "\n" if line is None else decode_utf8(context.project.tree.read(path), path)
        lines = editor.insert_annotation(path, text, line or 1, annotation, style, most=100).lines
    except errors.DuvetError as error:
        raise ToolError(ErrorCode.INVALID_REQUEST, error.message, error.hint) from error
    where = "right above the code that it refers to" if line is None else f"above line {line}"
    ##= man/spec/mcp.md#tools
    ##% `suggest_citation` MUST return a valid comment in the style of the file, without changing the file.
    return ToolAnswer(
        value=SuggestCitationOutput("\n".join(lines), path, line),
        next_step=f"Paste the comment {where}. If you change the comment, call validate_citation.",
    )


def _find_source(context: ProjectSnapshot, name: str) -> tuple[str, tuple[comments.SourceStyle, ...]]:
    project = context.project
    known = context.once(invalid_citations.group_styles_by_path)
    rules = (*(project.config.sources if project.config else ()), *project.options.sources)
    for path in locations.list_possible_paths(name, project.root):
        if not is_inside_project(project.root, path):
            continue
        if path in known:
            return path, known[path]
        matching = (rule for rule in rules if _matches(rule.patterns, path) and not _matches(rule.exclude, path))
        if not project.tree.exists(path):
            styles = (comments.SourceStyle(rule.meta, rule.content, rule.kind, rule.blob_link) for rule in matching)
            if found := tuple(dict.fromkeys(styles)):
                return path, found
    names = [pattern for rule in rules for pattern in rule.patterns]
    hint = f"use a file that matches {join_names(names, 8)}" if names else "add a [[source]] to the configuration"
    raise ToolError(ErrorCode.NOT_FOUND, f"{quote_text(name)} is not a source file of this project", hint)


def _matches(patterns: tuple[str, ...], path: str) -> bool:
    try:
        return bool(glob.match_any(glob.compile_pattern(one) for one in patterns)(path))
    except glob.PatternError:
        return False


class GetCitationContextInput(Struct, frozen=True):
    citation_id: Annotated[str, Meta(description="file:line of a citation, or its full_path")]
    context_lines: Annotated[int, Meta(ge=0, le=_MAX_LINES, description=_AROUND)] | None = None


class GetCitationContextOutput(Struct, frozen=True):
    file_path: str
    line_number: int
    context: tuple[str, ...]


class _Location(NamedTuple):
    path: str
    first: int
    last: int
    text: locations.SourceText


@declare_query("get_citation_context", "Code around a citation", GetCitationContextInput, GetCitationContextOutput)
def get_citation_context(arguments: GetCitationContextInput, context: ProjectSnapshot) -> ToolAnswer:
    """Show the code around a citation. Use it to check that the code meets the requirement."""
    path, first, last, text = _locate(context, arguments.citation_id)
    around = arguments.context_lines
    # By default, the code below is shown even if the comment is long.
    end = last + _DEFAULT_LINES if around is None else first + around
    start = first - 1 - (_DEFAULT_LINES if around is None else around)
    lines = text.lines[max(start, 0) : end]
    is_cut = any(len(one) > _MAX_WIDTH for one in lines)
    return ToolAnswer(
        value=GetCitationContextOutput(path, first, tuple(one[:_MAX_WIDTH] for one in lines)),
        next_step=f"Lines are cut at {_MAX_WIDTH} characters." if is_cut else "",
    )


def _locate(context: ProjectSnapshot, reference: str) -> _Location:
    catalogue = context.catalogue
    if locations.parse_resource(reference.strip()):
        cited = resolve_reference(catalogue, reference, context.files)
        if not isinstance(cited, CitationRef):
            hint = "find the citations of a requirement with get_requirement"
            raise errors.NotFoundError(f"{quote_text(reference)} is not a citation", hint=hint)
        card = catalogue.citations[cited.indexes[0]]
        text = context.files.text(card.path)
        return _Location(card.path, card.line, locations.find_last_line(text, card.line, card.span[1]), text)
    place = locations.parse_file_line(reference.strip())
    if place is None:
        raise errors.QueryError(
            f"{quote_text(reference)} is not in the form `file:line`", hint="write it like src/main.rs:42"
        )
    root, found = context.project.root, list[_Location]()
    paths = [path for name in (place.path, unquote(place.path)) for path in locations.list_possible_paths(name, root)]
    for one in _list_locations(context, paths):
        if one.first <= place.line <= one.last:
            return one
        found.append(one)
    ##= man/spec/mcp.md#tools
    ##% `get_citation_context` MUST NOT show lines of a file that has no citations.
    if not found:
        known = sorted({card.path for card in context.catalogue.citations})
        hint = suggest_nearest(place.path, known) or "find citations with get_requirement or list_invalid_citations"
        raise errors.NotFoundError(f"no citations in {quote_text(place.path)}", hint=hint)
    path = found[0].path
    nearest = locations.find_nearest_lines([one.first for one in found], place.line)
    near = ", ".join(f"{path}:{line}" for line in nearest)
    raise errors.NotFoundError(f"no citation at {path}:{place.line}", hint=f"nearest: {near}")


def _list_locations(context: ProjectSnapshot, paths: Sequence[str]) -> Iterator[_Location]:
    if numbers := locations.find_annotations_in_file(context.catalogue, paths):
        path = context.catalogue.citations[numbers[0]].path
        text = context.files.text(path)
        for lines in locations.find_annotation_lines(context.catalogue, numbers, text):
            yield _Location(path, lines.first, lines.last, text)
    for one in context.once(invalid_citations.find_malformed_annotations):
        if one.path in paths:
            yield _Location(one.path, one.first, one.last, context.files.text(one.path))
