"""The snapshot: what has which status, as text that shows well in a review."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
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
_LEVEL_SHIFT = 6


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
        for number, (status, text) in enumerate(_merged(segments, segment_texts(section, index, segments))):
            if not text.strip(WHITESPACE):
                indent = " " * len(text) if not number else ""
                continue
            if status:
                yield f"    TEXT[{status}]: {indent}{text.rstrip(WHITESPACE)}\n"
            indent = ""


def _merged(segments: tuple[Segment, ...], texts: list[str]) -> list[tuple[str, str]]:
    """The statuses and texts of a line; neighbours of one status are one."""
    merged: list[tuple[str, str]] = []
    for segment, text in zip(segments, texts, strict=True):
        status = _status_of(segment)
        if merged and merged[-1][0] == status:
            merged[-1] = (status, merged[-1][1] + text)
        else:
            merged.append((status, text))
    return merged


def _status_of(segment: Segment) -> str:
    return _status(segment.flags & _SHOWN | segment.level << _LEVEL_SHIFT)


@cache
def _status(flags: int) -> str:
    level = Level(flags >> _LEVEL_SHIFT)
    words = [f"!{level.name}"] if level else []
    return ",".join(words + [word for flag, word in _WORDS if flags & flag])
