"""Changes since a revision, as text, JSON, or Markdown for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import BinaryIO, NamedTuple

from msgspec.structs import asdict

from duvet.model import Problem
from duvet.queries import difference, records, revisions
from duvet.reports.cells import encode_json, escape_cell
from duvet.text import format_count, shorten_text
from duvet.trace.nearest import make_word_diff

DifferenceLine = tuple[str, str]  # A sign (`-` for old text, `+` for new text, or empty), and the text.


class DifferenceItem(NamedTuple):
    place: str
    words: str
    lines: tuple[DifferenceLine, ...]


class DifferenceGroup(NamedTuple):
    title: str
    items: tuple[DifferenceItem, ...]
    is_loss: bool = False


def group_differences(changes: difference.Difference) -> list[DifferenceGroup]:
    found = [
        DifferenceGroup("Coverage lost", tuple(map(_describe_coverage_change, changes.coverage_lost)), True),
        DifferenceGroup("Stale citations", tuple(map(_describe_stale_citation, changes.citations_stale)), True),
        DifferenceGroup("Requirements added", tuple(map(_describe_requirement, changes.requirements_added))),
        DifferenceGroup("Requirements removed", tuple(map(_describe_requirement, changes.requirements_removed))),
        DifferenceGroup("Requirements changed", tuple(map(_describe_change, changes.requirements_changed))),
        DifferenceGroup("Requirements moved", tuple(map(_describe_move, changes.requirements_moved))),
        DifferenceGroup("Coverage gained", tuple(map(_describe_coverage_change, changes.coverage_gained))),
        DifferenceGroup("Citations removed", tuple(map(_describe_citation_change, changes.citations_removed))),
        DifferenceGroup("Citations added", tuple(map(_describe_citation_change, changes.citations_added))),
    ]
    return [group for group in found if group.items]


def _describe_requirement(row: records.RequirementRow) -> DifferenceItem:
    return DifferenceItem(row.target, _join_parts(row.name, row.level, row.status), (("", row.text),))


def _describe_coverage_change(change: difference.CoverageChange) -> DifferenceItem:
    status = _format_turn(change.then.status, change.now.status)
    lost = f"{' and '.join(change.lost)} lost" if change.lost else None
    gained = f"{' and '.join(change.gained)} gained" if change.gained else None
    return DifferenceItem(
        change.now.target,
        _join_parts(change.now.name, change.now.level, status, lost, gained),
        (("", change.now.text),),
    )


def _describe_change(change: difference.RequirementChange) -> DifferenceItem:
    then, now = change.then, change.now
    level = _format_turn(then.level or "no level", now.level or "no level")
    name = _format_turn(then.name or now.name, now.name)
    lines: tuple[DifferenceLine, ...] = (("-", then.text), ("+", now.text))
    if then.text == now.text:
        lines = (("", now.text),)
    elif name:
        lines = (("", make_word_diff(then.text, now.text)),)
    return DifferenceItem(now.target, _join_parts(name, level, now.status), (*_list_places(change), *lines))


def _describe_move(change: difference.RequirementChange) -> DifferenceItem:
    return DifferenceItem(
        change.now.target,
        _join_parts(change.now.name, change.now.level, change.now.status),
        (*_list_places(change), ("", change.now.text)),
    )


def _list_places(change: difference.RequirementChange) -> tuple[DifferenceLine, ...]:
    if change.then.target == change.now.target:
        return ()
    return ("-", change.then.target), ("+", change.now.target)


def _describe_stale_citation(one: difference.StaleCitation) -> DifferenceItem:
    lines = tuple(("", text) for text in (one.target, one.quote, one.message) if text)
    return DifferenceItem(f"{one.file_path}:{one.line_number}", one.kind, lines)


def _describe_citation_change(one: difference.CitationChange) -> DifferenceItem:
    lines = tuple(("", line) for line in (one.text, *one.places))
    return DifferenceItem(one.target, format_count(len(one.places), one.kind), lines)


def _format_turn(then: str, now: str) -> str:
    return now if then == now else f"{then} -> {now}"


def _join_parts(*words: str | None) -> str:
    return "; ".join(word for word in words if word)


_WIDTH = 100


def render_difference(base: revisions.DiffBase, changes: difference.Difference, out: BinaryIO) -> None:
    lines = [escape_cell(f"Compared with {base.words}"), ""]
    for group in group_differences(changes):
        lines.append(f"{group.title} ({len(group.items)})")
        for item in group.items:
            lines.append(f"  {escape_cell(item.place)}  {item.words}")
            for sign, text in item.lines:
                first = " " * 6 + (f"{sign} " if sign else "")
                lines += wrap(
                    escape_cell(text),
                    _WIDTH,
                    initial_indent=first,
                    subsequent_indent=" " * len(first),
                    break_on_hyphens=False,
                )
        lines.append("")
    if len(lines) == 2:
        lines += ["No changes.", ""]
    lines += [f"then: {changes.then.words}", f"now:  {changes.now.words}"]
    out.write(("\n".join(lines) + "\n").encode(errors="replace"))


def render_difference_json(base: revisions.DiffBase, changes: difference.Difference, out: BinaryIO) -> None:
    counts = {"regressions": changes.regressions, "new_uncited": len(changes.uncited)}
    out.write(encode_json({"base": base, **counts, **asdict(changes)}))


_MOST = 65_000  # GitHub refuses comments of more than 65,536 characters.
_FRAME = 200  # Maximum number of characters around the items of a group.
_LONGEST = 600
_MOST_OBSTACLES = 20


def render_difference_markdown(
    base: revisions.DiffBase,
    changes: difference.Difference,
    out: BinaryIO,
    *,
    verdict: str = "",
    obstacles: Sequence[Problem] = (),
) -> None:
    """`obstacles` are the problems that kept the gate from being checked."""
    found = group_differences(changes)
    compared = f"{_format_code(base.short)} ({_format_code(base.revision)})"
    if base.is_merge_base:
        compared = f"{_format_code(base.short)}, the merge base with {_format_code(base.revision)}"
    unchanged = "no coverage lost" if changes.now.requirements else "the project has no requirements"
    lines = [f"### duvet: {'; '.join(filter(None, (verdict, changes.losses))) or unchanged}", ""]
    if obstacles:
        lines += [
            f"- {_format_code(one.path)} {_format_code(one.message)} [{one.code}]"
            for one in obstacles[:_MOST_OBSTACLES]
        ]
        lines += [f"- and {len(obstacles) - _MOST_OBSTACLES:,} more"] if len(obstacles) > _MOST_OBSTACLES else []
        lines += [""]
    lines += [f"Compared with {compared}.", "", "| | then | now |", "|---|--:|--:|"]
    for name in ("requirements", "applicable", "done", "excepted", "not_applicable"):
        before, after = getattr(changes.then, name), getattr(changes.now, name)
        if before or after or name == "requirements":
            lines.append(f"| {name.replace('_', ' ')} | {before:,} | {after:,} |")
    lines.append("")
    ##= man/spec/diff.md#output
    ##% With `--format markdown`, `duvet diff` MUST stay within the size limit of a GitHub comment, and say how
    ##% much it left out.
    room = _MOST - sum(len(line) + 1 for line in lines) - _FRAME * len(found)
    for group in found:
        items, room = _select_fitting(group, room)
        opened = "<details open>" if group.is_loss else "<details>"
        lines += [opened, f"<summary>{group.title}: {len(group.items):,}</summary>", "", *items, "", "</details>", ""]
    out.write(("\n".join(lines).rstrip("\n") + "\n").encode(errors="replace"))


def _select_fitting(group: DifferenceGroup, room: int) -> tuple[list[str], int]:
    found: list[str] = []
    words = {"-": "then: ", "+": "now: ", "": ""}
    for number, item in enumerate(group.items):
        lines = (f"  - {words[sign]}{_format_code(text)}" for sign, text in item.lines)
        text = "\n".join([f"- {_format_code(item.place)} {item.words}", *lines])
        if len(text) + 1 > room:
            return [*found, f"- and {len(group.items) - number:,} more, which don't fit in a comment"], 0
        room -= len(text) + 1
        found.append(text)
    return found, room


def _format_code(text: str) -> str:
    ##= man/spec/diff.md#output
    ##% With `--format markdown`, `duvet diff` MUST escape text from files.
    shown = escape_cell(shorten_text(text, _LONGEST))
    fence = "`"
    while fence in shown:
        fence += "`"
    pad = " " if shown[:1] in ("`", " ", "") or shown[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"
