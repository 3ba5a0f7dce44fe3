"""The table that ends a run: specifications by level and state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

from duvet.model import Level, Problem
from duvet.reports.cells import align_left, align_right, cut_middle, escape_cell, measure_width
from duvet.text import escape_line_ends, format_count, quote_text, shorten_text
from duvet.trace.coverage import GateResult, Total, compute_totals, group_totals, judge_run
from duvet.trace.records import Finished, NotApplicable, State

_WIDEST = 100
_NAME = 24  # Names are cut to less than this only where nothing else can give way.

_GAP = "  "
_STATES = (
    State.NEEDS_TESTS,
    State.NEEDS_CODE,
    State.IN_PROGRESS,
    State.TO_DO,
    State.UNCITED,
    State.EXCEPTED,
    State.NOT_APPLICABLE,
)
"""The states that have a column besides `done`, if any requirement has them."""

_Row = tuple[str, ...]


def render_summary(report: Finished, problems: Sequence[Problem], gates: Sequence[GateResult], out: BinaryIO) -> None:
    """Write the table, the not-applicable entries, the verdict and the coverage."""
    found = compute_totals(report.requirements)
    if not found[-1].requirements:
        lines = []
    else:
        levels = [total.level for total in found if total.specification is None and total.level is not None]
        names = ["other" if level is Level.AUTO else level.name for level in levels]
        states = [state for state in _STATES if found[-1].counts[state]]
        above = [state.words.rpartition(" ")[0] for state in states]
        below = [state.words.rpartition(" ")[2] for state in states]
        heads = [("", *("" for _ in names), "", "", *above), ("specification", *names, "done", "", *below)]
        groups = group_totals(found)
        # One specification is all of them.
        sums = groups[-1:] if len(groups) > 2 else []
        for cell in (_share, _percent):
            rows = [*heads, *(_row(group, levels, states, cell) for group in groups[:-1])]
            last = [_row(group, levels, states, cell) for group in sums]
            widths = [max(map(measure_width, column)) for column in zip(*rows, *last, strict=True)]
            rest = sum(widths[1:]) + len(_GAP) * len(widths[1:])
            longest, widths[0] = widths[0], min(widths[0], _WIDEST - rest)
            # Else names have to be cut more than they should be.
            if widths[0] >= min(longest, _NAME):
                break
        rule = ["-" * (widths[0] + rest)] if sums else []
        rows = rows if any(above) else rows[1:]
        lines = [*(_line(row, widths) for row in rows), *rule, *(_line(row, widths) for row in last), ""]
    stating = {requirement.specification.id for requirement in report.requirements}
    if others := sum(coverage.specification.id not in stating for coverage in report.trace.coverages):
        lines.append(f"{format_count(others, 'specification')} cited without requirements")
    lines += [escape_cell(describe_not_applicable(entry)) for entry in report.not_applicable]
    lines += [escape_cell(line) for line in judge_run(problems, gates, report.trace.citation_count).lines]
    lines.append(f"coverage: {found[-1].words}")
    out.write(("\n".join(lines) + "\n").encode(errors="replace"))


def _row(
    group: Sequence[Total], levels: Iterable[Level], states: Iterable[State], cell: Callable[[Total], str]
) -> _Row:
    by_level = {total.level: total for total in group}
    whole = group[-1]
    return (
        escape_cell(whole.specification.name) or whole.specification.id if whole.specification else "all",
        *(cell(by_level[level]) if level in by_level else "-" for level in levels),
        _share(whole),
        _percent(whole),
        *(str(whole.counts[state]) for state in states),
    )


def _share(total: Total) -> str:
    return f"{total.done}/{total.applicable}"


def _percent(total: Total) -> str:
    return "-" if total.percent is None else f"{total.percent}%"


def _line(row: _Row, widths: list[int]) -> str:
    name = align_left(cut_middle(row[0], widths[0]), widths[0])
    return _GAP.join([name, *map(align_right, row[1:], widths[1:])]).rstrip()


def format_last_day(entry: NotApplicable) -> str:
    """`until 2027-12-31`, or since when it is over; nothing where it does not end."""
    if entry.expiry is None:
        return ""
    return f"{'expired' if entry.has_expired else 'until'} {entry.expiry}"


def describe_not_applicable(entry: NotApplicable) -> str:
    """`not applicable: 2 requirements of SPEC#SECTION: we have no spout (QA, until 2027-12-31)`."""
    what = "expired" if entry.has_expired else "not applicable"
    quote = f", {quote_text(shorten_text(escape_line_ends(entry.quote)))}" if entry.quote else ""
    count = format_count(entry.requirements, "requirement")
    return f"{what}: {count} of {entry.target}{quote}: {describe_exemption(entry)}"


def describe_exemption(entry: NotApplicable) -> str:
    """`we have no spout (QA, until 2027-12-31)`."""
    more = ", ".join(filter(None, (escape_line_ends(entry.owner), format_last_day(entry))))
    return f"{escape_line_ends(entry.reason)} ({more})" if more else escape_line_ends(entry.reason)
