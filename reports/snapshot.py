"""The snapshot: the coverage of each specification, as text that is easy to review as a diff."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import BinaryIO

from duvet.model import Level
from duvet.specs.locator import format_locator
from duvet.text import WHITESPACE, collapse_whitespace, split_bytes
from duvet.trace import records

_WORDS = (
    (records.CITATION, "implementation"),
    (records.IMPLICATION, "implication"),
    (records.TEST, "test"),
    (records.EXCEPTION, "exception"),
    (records.TODO, "todo"),
)
_SHOWN = records.CITATION | records.IMPLICATION | records.TEST | records.EXCEPTION | records.TODO
_LEVEL_SHIFT = 8


def render_snapshot(report: records.Finished, out: BinaryIO) -> None:
    blocks = ["".join(_render_specification(coverage, report.root)) for coverage in report.trace.coverages]
    ##= man/spec/gates.md#not-applicable
    ##% The summary, the HTML report, the snapshot and both versions of JSON MUST list every `[[not-applicable]]` entry.
    for entry in report.not_applicable:
        facts = {"QUOTE": entry.quote, "REASON": entry.reason, "OWNER": entry.owner, "EXPIRY": entry.expiry}
        lines = [f"NOT APPLICABLE: {collapse_whitespace(entry.target)}", f"  REQUIREMENTS: {entry.requirements}"]
        lines += [f"  {name}: {collapse_whitespace(str(fact))}" for name, fact in facts.items() if fact]
        blocks.append("".join(f"{line}\n" for line in lines))
    out.write("\n".join(blocks).encode())


def _render_specification(coverage: records.Coverage, root: str) -> Iterator[str]:
    sections = coverage.specification.sections
    referred = [
        (sections[index], lines) for index, lines in coverage.sections.items() if set(lines) - {records.TITLE_LINE}
    ]
    if not referred:
        return
    title, name = coverage.specification.title, format_locator(coverage.specification.locator, root)
    yield f"SPECIFICATION: [{title}]({name})\n" if title else f"SPECIFICATION: {name}\n"
    for number, (section, lines) in enumerate(referred):
        yield "\n" if number else ""
        yield f"  SECTION: [{section.title}](#{section.id})\n"
        for index, segments in lines.items():
            if index == records.TITLE_LINE:
                continue
            text = section.lines[index]
            if len(segments) > 1:
                yield from _render_line(text, section.starts[index], segments)
            elif status := _format_status(_encode_kind(segments[0])):
                yield f"    TEXT[{status}]: {text.rstrip(WHITESPACE)}\n"


def _render_line(text: str, origin: int, segments: tuple[records.Segment, ...]) -> Iterator[str]:
    kinds: list[tuple[int, int]] = []
    for segment in segments:
        kind = _encode_kind(segment)
        if not kinds or kind != kinds[-1][0]:
            kinds.append((kind, segment.start - origin))
    texts = split_bytes(text, [*[start for _, start in kinds], segments[-1].end - origin])
    for number, (kind, _) in enumerate(kinds):
        if kind and (shown := texts[number].rstrip(WHITESPACE)):
            before = texts[0] if number == 1 else ""
            indent = "" if before.strip(WHITESPACE) else before
            yield f"    TEXT[{_format_status(kind)}]: {indent}{shown}\n"


def _encode_kind(segment: records.Segment) -> int:
    return segment.flags & _SHOWN | segment.level << _LEVEL_SHIFT


@cache
def _format_status(kind: int) -> str:
    level = Level(kind >> _LEVEL_SHIFT)
    words = [f"!{level.name}"] if level else []
    return ",".join(words + [word for flag, word in _WORDS if kind & flag])
