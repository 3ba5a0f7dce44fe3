"""From the comments of a source to annotations."""

from __future__ import annotations

from duvet import rules
from duvet.model import Annotation, Problem, Source
from duvet.sources.blocks import Block, blocks
from duvet.sources.fields import field_of, read_fields
from duvet.sources.finder import finder_of
from duvet.sources.runs import runs
from duvet.sources.style import Style
from duvet.sources.tokens import tokens
from duvet.sources.usual import usual
from duvet.text import place_of

# Text this close below a target with no quote was meant for it.
_CUT_DISTANCE = 3


def scan(path: str, text: str, style: Style) -> tuple[list[Annotation], list[Problem]]:
    """The annotations of a source, and what is wrong with the rest."""
    found: list[Annotation] = []
    problems: list[Problem] = []
    before: Block | None = None
    finder = finder_of(style.meta, style.content)
    for run in runs(text, finder):
        annotation = usual(path, run, style, finder)
        if annotation is not None:
            found.append(annotation)
            before = None
            continue
        for block in blocks(tokens(run, style.meta, style.content)):
            if block.metas:
                found += read_block(path, text, block, style, problems)
            else:
                ##= man/spec/trace.md#annotations
                ##% Quoted text that has no target SHOULD cause a warning.
                problems.append(_without_target(path, text, block, before))
            before = block
    return found, problems


def read_block(path: str, text: str, block: Block, style: Style, problems: list[Problem]) -> list[Annotation]:
    """The annotation of a block, or none if something is wrong with it."""
    metas, contents = block.metas, block.contents
    given = read_fields(path, text, [field_of(token.text, token.start) for token in metas], style.kind)
    if given.problems:
        problems += given.problems
        return []
    start, end = metas[0].start, (contents or metas)[-1].end
    source = Source(*given.target_at, start, end, *((contents[0].start, end) if contents else (0, 0)))
    quote = " ".join([token.text for token in contents])
    return [given.annotation(path, metas[0].line, given.target, quote, style.blob_link, source)]


def _without_target(path: str, text: str, block: Block, before: Block | None) -> Problem:
    first, last = block.contents[0], block.contents[-1]
    place = place_of(text, first.start, last.end)
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
