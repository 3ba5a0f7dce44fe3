"""`suggest_citation`"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from duvet.config.schema import SourceRule
from duvet.errors import DuvetError
from duvet.model import Kind
from duvet.queries.citable import citable
from duvet.queries.places import plain_paths
from duvet.sources.inserting import Wanted, insertion, style_of
from duvet.sources.patterns import PatternError, any_of, compile_pattern
from duvet.sources.style import Style
from duvet.text import decode, quoted
from duvet.tools.context import Context
from duvet.tools.errors import Code, ToolError
from duvet.tools.inside import is_inside
from duvet.tools.tool import Answer, Question
from duvet.tools.unread import styles_by_path

_WIDEST = 100
_BLANK = "\n"
"""What stands above a comment that nobody has named a line for."""
_KINDS = {"implementation": Kind.CITATION, **{kind.name.lower(): kind for kind in Kind}}


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    requirement: Annotated[str, Meta(description="Id or full path; or spec#section for its title")]
    file: Annotated[str, Meta(description="Where to paste it")]
    type: Literal["implementation", "test", "exception", "todo", "implication"] | None = None
    line: Annotated[int, Meta(ge=1, description="Above this line")] | None = None
    reason: Annotated[str, Meta(max_length=1000)] | None = None


class Output(Struct, frozen=True, omit_defaults=True):
    comment: str
    file_path: str
    line_number: int | None = None


def suggest(asked: Input, context: Context) -> Answer:
    """The comment that cites a requirement in a file, as `duvet cite` would write it."""
    meant = citable(context.catalogue, context.find(asked.requirement))
    path, styles = _source(context, asked.file)
    style = style_of(styles, _KINDS.get(asked.type or ""))
    kind = _KINDS[asked.type] if asked.type else style.kind
    reason = (asked.reason or "").strip()
    if kind is Kind.EXCEPTION and not reason:
        raise ToolError(Code.INVALID_REQUEST, "an exception needs a reason", "say in reason why it does not apply")
    if asked.line is not None and not context.project.tree.exists(path):
        ##= man/spec/mcp.md#tools
        ##% A line of a file that is not written yet MUST be refused with a hint.
        message = f"{path} is not written yet, so it has no line {asked.line}"
        raise ToolError(Code.INVALID_REQUEST, message, "leave line out, or write the file first")
    wanted = Wanted(meant.target, meant.quote, kind, {"reason": reason} if reason else {})
    try:
        text = _BLANK if asked.line is None else decode(context.project.tree.read(path), path)
        lines = insertion(path, text, asked.line or 1, wanted, style, _WIDEST).lines
    except DuvetError as error:
        raise ToolError(Code.INVALID_REQUEST, error.message, error.hint) from error
    ##= man/spec/mcp.md#tools
    ##% A comment that is suggested MUST be valid and in the style of its file, and MUST NOT be written anywhere.
    return Answer(value=Output("\n".join(lines), path, asked.line), next_step=_next_step(asked))


def _next_step(asked: Input) -> str:
    where = "right above the code that it is about" if asked.line is None else f"above line {asked.line}"
    return f"Paste it {where}; validate_citation checks what you change in it."


def _source(context: Context, name: str) -> tuple[str, tuple[Style, ...]]:
    """The source of that name, which may not be written yet, and how it writes annotations."""
    project = context.project
    known = context.once(styles_by_path)
    for path in plain_paths(name, project.root):
        if not is_inside(project.root, path):
            continue
        if path in known:
            return path, known[path]
        styles = () if project.tree.exists(path) else _styles_to_be(context, path)
        if styles:
            return path, styles
    ##= man/spec/mcp.md#tools
    ##% A file that no source pattern matches MUST be refused with a hint.
    raise ToolError(Code.NOT_FOUND, f"{quoted(name)} is no source of this project", _patterns(_rules(context)))


def _styles_to_be(context: Context, path: str) -> tuple[Style, ...]:
    """How a file would write annotations that is not there yet."""
    matching = (rule for rule in _rules(context) if _matches(rule.patterns, path) and not _matches(rule.exclude, path))
    return tuple(dict.fromkeys(Style(rule.meta, rule.content, rule.kind, rule.blob_link) for rule in matching))


def _matches(patterns: tuple[str, ...], path: str) -> bool:
    try:
        return bool(any_of(compile_pattern(one) for one in patterns)(path))
    except PatternError:
        return False


def _rules(context: Context) -> tuple[SourceRule, ...]:
    config = context.project.config
    return (*(config.sources if config else ()), *context.project.options.sources)


def _patterns(rules: tuple[SourceRule, ...]) -> str:
    names = [pattern for rule in rules for pattern in rule.patterns]
    return f"sources match {', '.join(names[:8])}" if names else "the configuration names no sources"


SUGGEST_CITATION = Question(
    name="suggest_citation",
    title="Suggest a citation",
    description="The comment to paste into a file to cite a requirement, in the file's style. Writes nothing.",
    input=Input,
    output=Output,
    handler=suggest,
)
