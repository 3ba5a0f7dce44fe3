"""The snapshot: what has which status, as text that shows well in a review."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import BinaryIO

from duvet.model import Level, Section
from duvet.specs.resolve import displayed
from duvet.text import WHITESPACE
from duvet.trace.coverage import segment_texts
from duvet.trace.finished import Finished
from duvet.trace.records import (
    CITATION,
    EXCEPTION,
    IMPLICATION,
    TEST,
    TITLE_LINE,
    TODO,
    Coverage,
    Lines,
    Segment,
)

_WORDS = (
    (CITATION, "implementation"),
    (IMPLICATION, "implication"),
    (TEST, "test"),
    (EXCEPTION, "exception"),
    (TODO, "todo"),
)
_SHOWN = CITATION | IMPLICATION | TEST | EXCEPTION | TODO


def render(report: Finished, out: BinaryIO) -> None:
    """Write the snapshot."""
    ##= man/spec/trace.md#reports
    ##% JSON, in both of its versions, LCOV and the snapshot MUST equal those of awslabs duvet, its defects left aside.
    blocks = ("".join(_specification(coverage, report.root)) for coverage in report.trace.coverages)
    out.write("\n".join(blocks).encode())


def _specification(coverage: Coverage, root: str) -> Iterator[str]:
    sections = coverage.specification.sections
    referred = [(sections[index], lines) for index, lines in coverage.sections.items() if set(lines) - {TITLE_LINE}]
    if not referred:
        return
    title, name = coverage.specification.title, displayed(coverage.specification.locator, root)
    yield f"SPECIFICATION: [{title}]({name})\n" if title else f"SPECIFICATION: {name}\n"
    for number, (section, lines) in enumerate(referred):
        yield "\n" if number else ""
        yield f"  SECTION: [{section.title}](#{section.id})\n"
        yield from _lines(section, lines)


def _lines(section: Section, lines: Lines) -> Iterator[str]:
    for index, segments in lines.items():
        if index == TITLE_LINE:
            continue
        indent = ""
        texts = segment_texts(section, index, segments)
        for number, (status, run) in enumerate(groupby(zip(map(_status_of, segments), texts, strict=True), key=_first)):
            text = indent + "".join([text for _, text in run])
            indent = ""
            if not text.strip(WHITESPACE):
                indent = " " * len(text) if not number else ""
            elif status:
                yield f"    TEXT[{status}]: {text.rstrip(WHITESPACE)}\n"


_first = itemgetter(0)


def _status_of(segment: Segment) -> str:
    return _status(segment.level, segment.flags & _SHOWN)


@cache
def _status(level: Level, flags: int) -> str:
    words = [f"!{level.name}"] if level else []
    return ",".join(words + [word for flag, word in _WORDS if flags & flag])
