"""The snapshot: the coverage of each specification, as text that is easy to compare and to review as a diff."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import BinaryIO

from msgspec import Struct

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
    ##% The summary, the HTML report, the snapshot and both versions of the JSON report MUST list every
    ##% `[[not-applicable]]` entry.
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


_HEADING = re.compile(r"\[.*\]\((.*)\)$", re.MULTILINE)
_TEXT = re.compile(r"^    TEXT\[([^\]\n]*)\]: (.*)$", re.MULTILINE)
_DONE = frozenset(("implementation", "implication", "test"))


class SnapshotChange(Struct, frozen=True, kw_only=True):
    specification: str  # The part of its targets before `#`.
    section: str
    text: str
    before: str  # The types of its citations; empty for a new line.
    after: str


class SnapshotDiff(Struct, frozen=True, kw_only=True):
    gained: tuple[SnapshotChange, ...] = ()
    lost: tuple[SnapshotChange, ...] = ()
    added: tuple[SnapshotChange, ...] = ()
    removed: tuple[SnapshotChange, ...] = ()


_Spot = tuple[str, str]  # A specification and a section of it.
_Line = tuple[str, int]  # A text, and the number of earlier equal lines in its section.


def compare_snapshots(committed: str, today: str) -> SnapshotDiff:
    before, after = _split_sections(committed), _split_sections(today)
    found: dict[str, list[SnapshotChange]] = {name: [] for name in SnapshotDiff.__struct_fields__}
    # Most sections are equal, and skipping them is cheap.
    for spot in (*after, *(spot for spot in before if spot not in after)):
        if before.get(spot) == after.get(spot):
            continue
        then, now = _parse_lines(before.get(spot, "")), _parse_lines(after.get(spot, ""))
        for line in (*now, *(line for line in then if line not in now)):
            old, new = then.get(line), now.get(line)
            if old != new:
                words = {"before": ", ".join(old or ()), "after": ", ".join(new or ())}
                change = SnapshotChange(specification=spot[0], section=spot[1], text=line[0], **words)
                found[_classify(old, new)].append(change)
    return SnapshotDiff(**{kind: tuple(changes) for kind, changes in found.items()})


def _split_sections(snapshot: str) -> dict[_Spot, str]:
    found: dict[_Spot, str] = {}
    for block in f"\n{snapshot}".replace("\r\n", "\n").split("\nSPECIFICATION: ")[1:]:
        specification, *sections = block.split("\n  SECTION: ")
        name = _parse_name(specification)
        for section in sections:
            found[name, _parse_name(section).removeprefix("#")] = section.partition("\n")[2].rstrip("\n")
    return found


def _parse_name(text: str) -> str:
    heading = _HEADING.match(text)
    return heading[1] if heading else text.partition("\n")[0]


def _parse_lines(section: str) -> dict[_Line, tuple[str, ...]]:
    found: dict[_Line, tuple[str, ...]] = {}
    seen: Counter[str] = Counter()
    for status, text in _TEXT.findall(section):
        plain = text.strip()
        found[plain, seen[plain]] = tuple(word for word in status.split(",") if word and not word.startswith("!"))
        seen[plain] += 1
    return found


def _classify(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> str:
    if before is None:
        return "added"
    if after is None:
        return "removed"
    then, now = set(before), set(after)
    has_lost = not then & _DONE <= now or not now - then
    return "lost" if has_lost else "gained"
