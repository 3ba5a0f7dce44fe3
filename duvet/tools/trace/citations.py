"""Tools about citations: validate, suggest, context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple
from urllib.parse import unquote

from msgspec import Meta, Struct
from msgspec.structs import replace

from duvet.config.settings import SourceRule
from duvet.errors import DuvetError, NotFoundError, QueryError
from duvet.model import Kind
from duvet.queries.references import CitationRef, find_citable
from duvet.queries.references import resolve_reference as find_reference
from duvet.sources.comments import SourceStyle
from duvet.sources.editor import NewAnnotation, choose_style, insert_annotation
from duvet.sources.glob import PatternError, compile_pattern, match_any
from duvet.text import decode_utf8, format_count, quote_text, shorten_text
from duvet.tools.context import ProjectSnapshot, is_inside_project
from duvet.tools.tool import ErrorCode, QueryTool, ResultPage, ToolAnswer, ToolError
from duvet.tools.trace.citation_checker import CitationVerdict, get_citation_checker
from duvet.tools.trace.invalid_citations import (
    REQUIREMENT_NOT_FOUND,
    SECTION_NOT_FOUND,
    SPECIFICATION_NOT_FOUND,
    LineStretch,
    find_malformed_annotations,
    group_styles_by_path,
)
from duvet.trace.locations import (
    FileLine,
    SourceText,
    find_annotation_lines,
    find_annotations_in_file,
    find_last_line,
    find_nearest_lines,
    list_possible_paths,
    parse_file_line,
)
from duvet.trace.names import parse_resource, suggest_nearest

CitationText = Annotated[str, Meta(max_length=10_000)]
"""Longer ones would keep others waiting."""


class ValidateCitationInput(Struct, frozen=True, forbid_unknown_fields=True):
    citation: Annotated[CitationText, Meta(description="The whole comment, or spec#section alone")]


class ValidateCitationOutput(Struct, frozen=True, omit_defaults=True):
    valid: bool
    error: str | None = None
    warning: str | None = None
    nearest: str | None = None


_STEPS = {
    SPECIFICATION_NOT_FOUND: "Find its id with resolve_spec_id, or the text with search_requirements.",
    SECTION_NOT_FOUND: "Find the text with search_requirements, or read a section with get_section.",
    REQUIREMENT_NOT_FOUND: "Find the text with search_requirements; suggest_citation writes the comment.",
}
_AS_NEAREST = "Name the target as `nearest` says."
_AS_NEAREST_WHOLE = "Name the specification as `nearest` says, and one of its sections: spec#section."
_WRITE = "Write the target as spec#section, or let suggest_citation write the comment."


def validate_citation(asked: ValidateCitationInput, context: ProjectSnapshot) -> ToolAnswer:
    """Whether a citation leads to a text of the project."""
    found = get_citation_checker(context).verdict(asked.citation)
    return ToolAnswer(value=make_citation_output(found), next_step=_next_step(found))


def make_citation_output(verdict: CitationVerdict) -> ValidateCitationOutput:
    """A verdict as it is told."""
    given = (verdict.error, verdict.warning, verdict.nearest)
    return ValidateCitationOutput(not verdict.error, *(one or None for one in given))


def _next_step(verdict: CitationVerdict) -> str:
    ##= man/spec/mcp.md#tools
    ##% The error of an invalid citation MUST begin with `URL not found`, `Specification not found`, `Section not found`
    ##% or `Requirement not found`, and the second block MUST say what to do.
    if not verdict.error:
        return ""
    phrase = verdict.error.partition(":")[0]
    if verdict.nearest and phrase != REQUIREMENT_NOT_FOUND:
        step = _AS_NEAREST if "#" in verdict.nearest else _AS_NEAREST_WHOLE
        return f"{step} {verdict.hint}".rstrip()
    return verdict.hint or _STEPS.get(phrase, _WRITE)


VALIDATE_CITATION = QueryTool(
    name="validate_citation",
    title="Validate a citation",
    description="Whether a citation leads to a specification, its section, and the text it quotes.",
    input=ValidateCitationInput,
    output=ValidateCitationOutput,
    handler=validate_citation,
)


_ROOM = 8_000
"""So many characters of errors, warnings and texts are told in all."""
_LOOKED = 6_000
"""So many characters of citations that are wrong are compared with all texts: nobody is to wait for long."""
_SHOWN = 10
_VALIDATE_CITATIONS_AS_NEAREST = "Write what `nearest` says, the target or the words, and validate again."
_ONE_BY_ONE = "validate_citation says what to do about one."


class ValidateCitationsInput(Struct, frozen=True, forbid_unknown_fields=True):
    citations: Annotated[list[CitationText], Meta(min_length=1, max_length=50, description="Whole comments")]


def validate_citations(asked: ValidateCitationsInput, context: ProjectSnapshot) -> ToolAnswer:
    """Whether each of the citations leads to a text of the project, in their order."""
    look, left = get_citation_checker(context).verdict, _LOOKED
    found: list[ValidateCitationOutput] = []
    for citation in asked.citations:
        verdict = look(citation, looks=left > 0)
        left -= len(citation) if verdict.error else 0
        found.append(make_citation_output(verdict))
    room = _ROOM // (2 * len(found))
    told = [replace(one, **_short(one, room)) for one in found]
    return ToolAnswer(value=told, next_step=_validate_citations_next_step(found), page=ResultPage(len(found)))


def _short(one: ValidateCitationOutput, room: int) -> dict[str, str]:
    given = {"error": one.error, "warning": one.warning, "nearest": one.nearest}
    return {name: shorten_text(text, room) for name, text in given.items() if text}


def _validate_citations_next_step(found: list[ValidateCitationOutput]) -> str:
    wrong = [number for number, one in enumerate(found, 1) if not one.valid]
    if not wrong:
        return f"All {format_count(len(found), 'citation')} valid."
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    shown = ", ".join(map(str, wrong[:_SHOWN]))
    step = _VALIDATE_CITATIONS_AS_NEAREST if any(one.nearest for one in found) else _ONE_BY_ONE
    return f"{len(wrong)} of {len(found)} invalid: number {shown}{more}. {step}"


VALIDATE_CITATIONS = QueryTool(
    name="validate_citations",
    title="Validate citations",
    description="validate_citation for many at once; answers in their order.",
    input=ValidateCitationsInput,
    output=tuple[ValidateCitationOutput, ...],
    handler=validate_citations,
)


_WIDEST = 100
_BLANK = "\n"
"""What stands above a comment that nobody has named a line for."""
_KINDS = {"implementation": Kind.CITATION, **{kind.name.lower(): kind for kind in Kind}}


class SuggestCitationInput(Struct, frozen=True, forbid_unknown_fields=True):
    requirement: Annotated[str, Meta(description="Id or full path; or spec#section for its title")]
    file: Annotated[str, Meta(description="Where to paste it")]
    type: Literal["implementation", "test", "exception", "todo", "implication"] | None = None
    line: Annotated[int, Meta(ge=1, description="Above this line")] | None = None
    reason: Annotated[str, Meta(max_length=1000)] | None = None


class SuggestCitationOutput(Struct, frozen=True, omit_defaults=True):
    comment: str
    file_path: str
    line_number: int | None = None


def suggest_citation(asked: SuggestCitationInput, context: ProjectSnapshot) -> ToolAnswer:
    """The comment that cites a requirement in a file, as `duvet cite` would write it."""
    meant = find_citable(context.catalogue, context.find(asked.requirement))
    path, styles = _source(context, asked.file)
    style = choose_style(styles, _KINDS.get(asked.type or ""))
    kind = _KINDS[asked.type] if asked.type else style.kind
    reason = (asked.reason or "").strip()
    if kind is Kind.EXCEPTION and not reason:
        raise ToolError(ErrorCode.INVALID_REQUEST, "an exception needs a reason", "say in reason why it does not apply")
    if asked.line is not None and not context.project.tree.exists(path):
        message = f"{path} is not written yet, so it has no line {asked.line}"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, "leave line out, or write the file first")
    wanted = NewAnnotation(meant.target, meant.quote, kind, {"reason": reason} if reason else {})
    try:
        text = _BLANK if asked.line is None else decode_utf8(context.project.tree.read(path), path)
        lines = insert_annotation(path, text, asked.line or 1, wanted, style, _WIDEST).lines
    except DuvetError as error:
        raise ToolError(ErrorCode.INVALID_REQUEST, error.message, error.hint) from error
    ##= man/spec/mcp.md#tools
    ##% `suggest_citation` MUST return a valid comment in the style of the file without writing it, and refuse a line or
    ##% a file that cannot have one.
    return ToolAnswer(
        value=SuggestCitationOutput("\n".join(lines), path, asked.line), next_step=_suggest_citation_next_step(asked)
    )


def _suggest_citation_next_step(asked: SuggestCitationInput) -> str:
    where = "right above the code that it is about" if asked.line is None else f"above line {asked.line}"
    return f"Paste it {where}; validate_citation checks what you change in it."


def _source(context: ProjectSnapshot, name: str) -> tuple[str, tuple[SourceStyle, ...]]:
    """The source of that name, which may not be written yet, and how it writes annotations."""
    project = context.project
    known = context.once(group_styles_by_path)
    for path in list_possible_paths(name, project.root):
        if not is_inside_project(project.root, path):
            continue
        if path in known:
            return path, known[path]
        styles = () if project.tree.exists(path) else _styles_to_be(context, path)
        if styles:
            return path, styles
    raise ToolError(ErrorCode.NOT_FOUND, f"{quote_text(name)} is no source of this project", _patterns(_rules(context)))


def _styles_to_be(context: ProjectSnapshot, path: str) -> tuple[SourceStyle, ...]:
    """How a file would write annotations that is not there yet."""
    matching = (rule for rule in _rules(context) if _matches(rule.patterns, path) and not _matches(rule.exclude, path))
    return tuple(dict.fromkeys(SourceStyle(rule.meta, rule.content, rule.kind, rule.blob_link) for rule in matching))


def _matches(patterns: tuple[str, ...], path: str) -> bool:
    try:
        return bool(match_any(compile_pattern(one) for one in patterns)(path))
    except PatternError:
        return False


def _rules(context: ProjectSnapshot) -> tuple[SourceRule, ...]:
    config = context.project.config
    return (*(config.sources if config else ()), *context.project.options.sources)


def _patterns(rules: tuple[SourceRule, ...]) -> str:
    names = [pattern for rule in rules for pattern in rule.patterns]
    return f"sources match {', '.join(names[:8])}" if names else "the configuration names no sources"


SUGGEST_CITATION = QueryTool(
    name="suggest_citation",
    title="Suggest a citation",
    description="The comment to paste into a file to cite a requirement, in the file's style. Writes nothing.",
    input=SuggestCitationInput,
    output=SuggestCitationOutput,
    handler=suggest_citation,
)


_USUAL, _MOST, _GET_CITATION_CONTEXT_WIDEST = 5, 1000, 500


class GetCitationContextInput(Struct, frozen=True):
    citation_id: Annotated[str, Meta(description="file:line of a citation, or its full_path")]
    context_lines: (
        Annotated[
            int, Meta(ge=0, le=_MOST, description=f"Lines before and after its first; else {_USUAL} around all of it")
        ]
        | None
    ) = None


class GetCitationContextOutput(Struct, frozen=True):
    file_path: str
    line_number: int
    context: tuple[str, ...]


class _Cited(NamedTuple):
    """The lines of a citation in its file."""

    path: str
    lines: LineStretch
    text: SourceText


def get_citation_context(asked: GetCitationContextInput, context: ProjectSnapshot) -> ToolAnswer:
    """The lines around a citation."""
    path, (first, last), text = _found(context, asked.citation_id)
    around = asked.context_lines
    # Who asks for no number wants to see the code, however long the comment is.
    end = last + _USUAL if around is None else first + around
    start = first - 1 - (_USUAL if around is None else around)
    lines = text.lines[max(start, 0) : end]
    long = any(len(one) > _GET_CITATION_CONTEXT_WIDEST for one in lines)
    note = f"Lines are cut after {_GET_CITATION_CONTEXT_WIDEST} characters." if long else ""
    return ToolAnswer(
        value=GetCitationContextOutput(path, first, tuple(one[:_GET_CITATION_CONTEXT_WIDEST] for one in lines)),
        next_step=note,
    )


def _found(context: ProjectSnapshot, wanted: str) -> _Cited:
    catalogue = context.catalogue
    if parse_resource(wanted.strip()):
        found = find_reference(catalogue, wanted)
        if not isinstance(found, CitationRef):
            raise NotFoundError(
                f"{quote_text(wanted)} is no citation", hint="get_requirement lists the citations of one"
            )
        card = catalogue.citations[found.indexes[0]]
        text = context.files.text(card.path)
        return _Cited(card.path, LineStretch(card.line, find_last_line(text, card)), text)
    place = parse_file_line(wanted.strip())
    if place is None:
        raise QueryError(f"{quote_text(wanted)} is not file:line", hint="give it as src/main.rs:42")
    return _at(context, place)


def _at(context: ProjectSnapshot, place: FileLine) -> _Cited:
    found = _cited_in(context, place.path)
    own = _holding(found, place.line)
    if not own:
        ##= man/spec/mcp.md#tools
        ##% `list_invalid_citations` MUST list exactly the citations that `duvet report` refuses, including comments
        ##% that cannot be read.
        unread = _unread_in(context, place.path)
        own, found = _holding(unread, place.line), [*found, *unread]
    ##= man/spec/mcp.md#tools
    ##% `get_citation_context` MUST NOT show lines of a file without citations.
    if not found:
        raise _no_citation(context, place.path)
    if own:
        return own[0]
    path = found[0].path
    near = ", ".join(f"{path}:{line}" for line in find_nearest_lines([one.lines.first for one in found], place.line))
    ##= man/spec/show.md#references
    ##% For a line without an annotation, duvet MUST name the nearest annotations in its file.
    raise NotFoundError(f"there is no citation at {path}:{place.line}", hint=f"near are {near}")


def _holding(found: Sequence[_Cited], line: int) -> list[_Cited]:
    return [one for one in found if one.lines.first <= line <= one.lines.last]


def _cited_in(context: ProjectSnapshot, path: str) -> list[_Cited]:
    """The citations in a file."""
    catalogue = context.catalogue
    numbers = find_annotations_in_file(catalogue, _spellings(context, path))
    if not numbers:
        return []
    known = catalogue.citations[numbers[0]].path
    text = context.files.text(known)
    return [
        _Cited(known, LineStretch(one.first, one.last), text) for one in find_annotation_lines(catalogue, numbers, text)
    ]


def _unread_in(context: ProjectSnapshot, path: str) -> list[_Cited]:
    """What would be citations in a file, but can't be read."""
    paths, files = _spellings(context, path), context.files
    return [
        _Cited(one.path, one.lines, files.text(one.path))
        for one in context.once(find_malformed_annotations)
        if one.path in paths
    ]


def _spellings(context: ProjectSnapshot, path: str) -> list[str]:
    root = context.project.root
    return [*list_possible_paths(path, root), *list_possible_paths(unquote(path), root)]


def _no_citation(context: ProjectSnapshot, path: str) -> NotFoundError:
    known = {card.path for card in context.catalogue.citations}
    hint = suggest_nearest(path, sorted(known)) or "list_invalid_citations and get_requirement name citations"
    return NotFoundError(f"there is no citation in {quote_text(path)}", hint=hint)


GET_CITATION_CONTEXT = QueryTool(
    name="get_citation_context",
    title="Code around a citation",
    description="The lines of code around a citation. Use it to see whether the code does what it cites.",
    input=GetCitationContextInput,
    output=GetCitationContextOutput,
    handler=get_citation_context,
)
