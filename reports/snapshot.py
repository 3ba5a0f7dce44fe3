"""The snapshot: what has which status, as text that shows well in a review."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import BinaryIO

from duvet.model import Level, Section
from duvet.specs.resolve import displayed
from duvet.text import WHITESPACE, byte_slice
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
        for number, (key, run) in enumerate(groupby(segments, key=_key)):
            text = indent + _text(section, index, list(run))
            status = _status(*key)
            indent = ""
            if not text.strip(WHITESPACE):
                indent = " " * len(text) if not number else ""
            elif status:
                yield f"    TEXT[{status}]: {text.rstrip(WHITESPACE)}\n"


def _text(section: Section, line: int, run: list[Segment]) -> str:
    origin = section.starts[line]
    return byte_slice(section.lines[line], run[0].start - origin, run[-1].end - origin)


def _key(segment: Segment) -> tuple[Level, int]:
    return segment.level, segment.flags & _SHOWN


def _status(level: Level, flags: int) -> str:
    words = [f"!{level.name}"] if level else []
    return ",".join(words + [word for flag, word in _WORDS if flags & flag])
