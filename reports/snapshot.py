"""The snapshot: what has which status, as text that shows well in a review."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import BinaryIO

from duvet.model import Level, Section
from duvet.specs.resolve import displayed
from duvet.text import WHITESPACE, parts
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
        text = section.lines[index]
        if len(segments) > 1:
            yield from _line(text, section.starts[index], segments)
        elif status := _status(segments[0].flags & _SHOWN, segments[0].level):
            yield f"    TEXT[{status}]: {text.rstrip(WHITESPACE)}\n"


def _line(text: str, origin: int, segments: tuple[Segment, ...]) -> list[str]:
    """What of a line has a status; neighbours of one status are one, and blanks before the second part indent it."""
    statuses: list[str] = []
    bounds: list[int] = []
    last = None
    for segment in segments:
        status = _status(segment.flags & _SHOWN, segment.level)
        if status != last:
            statuses.append(status)
            bounds.append(segment.start - origin)
            last = status
    bounds.append(segments[-1].end - origin)
    texts = parts(text, bounds)
    lines: list[str] = []
    for number, status in enumerate(statuses):
        if status and (shown := texts[number].rstrip(WHITESPACE)):
            indent = " " * len(texts[0]) if number == 1 and not texts[0].strip(WHITESPACE) else ""
            lines.append(f"    TEXT[{status}]: {indent}{shown}\n")
    return lines


@cache
def _status(flags: int, level: Level) -> str:
    words = [f"!{level.name}"] if level else []
    return ",".join(words + [word for flag, word in _WORDS if flags & flag])
