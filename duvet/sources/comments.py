"""From the comments of a source to annotations."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from duvet import rules
from duvet.model import Annotation, Kind, Problem, Source
from duvet.sources.fields import Field, read_fields
from duvet.sources.tokens import Token, tokens
from duvet.text import WHITESPACE, place_of

# Text this close below a target with no quote was meant for it.
_CUT_DISTANCE = 3


class Style(Struct, frozen=True):
    """How a source writes annotations, and what holds for all of its annotations."""

    meta: str = "//="
    content: str = "//#"
    kind: Kind = Kind.CITATION
    blob_link: str | None = None


class Block(Struct):
    """The lines of one annotation."""

    metas: list[Token]
    contents: list[Token]


def scan(path: str, text: str, style: Style) -> tuple[list[Annotation], list[Problem]]:
    """The annotations of a source, and what is wrong with the rest."""
    found: list[Annotation] = []
    problems: list[Problem] = []
    before: Block | None = None
    for block in _blocks(text, style):
        if block.metas:
            annotation = _annotation(path, text, block, style, problems)
            if annotation is not None:
                found.append(annotation)
        else:
            ##= man/spec/trace.md#annotations
            ##% Quoted text that has no target SHOULD cause a warning.
            problems.append(_without_target(path, text, block, before))
        before = block
    return found, problems


def _blocks(text: str, style: Style) -> Iterator[Block]:
    """Lines without a gap; a target after content begins the next block."""
    block = Block([], [])
    previous = 0
    for token in tokens(text, style.meta, style.content):
        ##= man/spec/trace.md#annotations
        ##% Lines of annotations that follow one another without a gap MUST make one annotation.
        ##= man/spec/trace.md#annotations
        ##% A target after quoted text MUST begin the next annotation.
        if token.line > previous + 1 or (token.is_meta and block.contents):
            if block.metas or block.contents:
                yield block
            block = Block([], [])
        previous = token.line
        if token.is_meta:
            block.metas.append(token)
        elif token.text:
            block.contents.append(token)
    if block.metas or block.contents:
        yield block


def _annotation(path: str, text: str, block: Block, style: Style, problems: list[Problem]) -> Annotation | None:
    given = read_fields(path, text, [_field(token) for token in block.metas], style.kind)
    if given.problems:
        problems += given.problems
        return None
    metas, contents = block.metas, block.contents
    last = contents[-1] if contents else metas[-1]
    end = last.start + len(last.text)
    return Annotation(
        path=path,
        line=metas[0].line,
        kind=given.kind,
        target=given.target,
        quote=contents[0].text if len(contents) == 1 else " ".join([token.text for token in contents]),
        level=given.level,
        format=given.format,
        reason=given.reason,
        feature=given.feature,
        tracking_issue=given.tracking_issue,
        blob_link=style.blob_link,
        source=Source(
            given.target_at,
            (metas[0].start, end),
            (contents[0].start, end) if contents else (0, 0),
        ),
    )


def _field(token: Token) -> Field:
    key, equals, value = token.text.partition("=")
    if not equals:
        return Field("source", token.text, token.start, token.start, named=False)
    trimmed = value.lstrip(WHITESPACE)
    value_start = token.start + len(token.text) - len(trimmed)
    return Field(key.rstrip(WHITESPACE), trimmed, token.start, value_start)


def _without_target(path: str, text: str, block: Block, before: Block | None) -> Problem:
    first, last = block.contents[0], block.contents[-1]
    place = place_of(text, first.start, last.start + len(last.text))
    if (
        before is not None
        and before.metas
        and not before.contents
        and first.line - before.metas[-1].line <= _CUT_DISTANCE
    ):
        ##= man/spec/trace.md#annotations
        ##% Quoted text that a gap cuts off from its target SHOULD cause a warning.
        return rules.COMMENT_CUT.problem(
            f"this text is cut off from its target on line {before.metas[0].line}, which now quotes nothing",
            path,
            place,
            label="text here",
            hint="remove the lines between the target and the text",
        )
    return rules.COMMENT_STRAY_CONTENT.problem(
        "this text has no target, so it is ignored",
        path,
        place,
        label="text here",
        hint="put a line with the target (spec#section) above it, or use another comment prefix",
    )
