"""The summary of a run: specifications by level and state, the verdict, and the coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from duvet.model import Level, Problem
from duvet.reports.cells import (
    COLUMN_GAP,
    STATE_MARKS,
    TableLook,
    align_left,
    cut_middle,
    escape_cell,
    measure_width,
    paint_text,
    wrap_cells,
)
from duvet.text import collapse_whitespace, format_count, quote_text, shorten_text
from duvet.trace.records import (
    Finished,
    GateResult,
    NotApplicable,
    State,
    Total,
    compute_totals,
    format_state,
    group_totals,
    judge_run,
)

_NAME = 24  # Levels are shown as percentages before names are cut to less than this width.
_SHORT_NAME = 12  # Levels are left out before names are cut to less than this width.
_TITLE = "specification"
_STATES = (
    State.NEEDS_TESTS,
    State.NEEDS_CODE,
    State.IN_PROGRESS,
    State.TO_DO,
    State.UNCITED,
    State.EXCEPTED,
    State.NOT_APPLICABLE,
)
"""The states other than `done` that have a column if any requirement is in them."""


class SummaryRow(Struct, frozen=True):
    """The counts of one specification, or of all specifications."""

    name: str
    shares: tuple[str, ...]  # `2/3` for each level, and finally for all levels.
    percents: tuple[str, ...]  # The same as `66%`.
    counts: tuple[int, ...]  # The number of requirements by state.
    is_done: bool  # Whether every applicable requirement is done.


class Summary(Struct, frozen=True):
    """The content of the summary, independent of its layout."""

    levels: tuple[str, ...]
    rows: tuple[SummaryRow, ...]  # The last row is the total of all specifications.
    lines: tuple[str, ...]  # The lines below the table.


def summarize_run(
    report: Finished, problems: Sequence[Problem], gates: Sequence[GateResult], *, counts: bool = True
) -> Summary:
    """Collect the table, not-applicable entries, verdict and coverage; `counts` adds counts to the verdict."""
    found = compute_totals(report.requirements)
    levels = [total.level for total in found if total.specification is None and total.level is not None]
    rows = tuple(_summarize_group(group, levels) for group in group_totals(found))
    stating = {requirement.specification.id for requirement in report.requirements}
    lines = []
    if others := sum(coverage.specification.id not in stating for coverage in report.trace.coverages):
        lines.append(
            f"{format_count(others, 'cited specification')} {'has' if others == 1 else 'have'} no known requirements"
        )
    lines += [escape_cell(describe_not_applicable(entry)) for entry in report.not_applicable]
    verdict = judge_run(problems, gates, report.trace.citation_count, counts=counts)
    lines += [escape_cell(line) for line in verdict.lines]
    lines.append(f"coverage: {found[-1].words}")
    return Summary(tuple("other" if level is Level.AUTO else level.name for level in levels), rows, tuple(lines))


def _summarize_group(group: Sequence[Total], levels: Sequence[Level]) -> SummaryRow:
    by_level = {total.level: total for total in group}
    whole = group[-1]
    totals = [*(by_level.get(level) for level in levels), whole]
    return SummaryRow(
        escape_cell(whole.specification.name) or whole.specification.id if whole.specification else "all",
        tuple(f"{total.done:,}/{total.applicable:,}" if total and total.applicable else "-" for total in totals),
        tuple("-" if total is None or total.percent is None else f"{total.percent}%" for total in totals),
        whole.counts,
        whole.percent == 100,
    )


def format_summary(summary: Summary, look: TableLook) -> str:
    table = [*_format_table(summary, look), ""] if any(summary.rows[-1].counts) else []
    return "".join(f"{line}\n" for line in (*table, *summary.lines))


class _Cell(Struct, frozen=True):
    text: str
    state: State | None = None  # The state that gives the cell its colour.


def _format_table(summary: Summary, look: TableLook) -> Iterator[str]:
    # A table of one specification needs no totals.
    rows = summary.rows if len(summary.rows) > 2 else summary.rows[:1]
    states = [state for state in _STATES if summary.rows[-1].counts[state]]
    names = max(measure_width(row.name) for row in rows)
    wide, narrow = (summary.levels, False, _NAME), ((), False, _SHORT_NAME)
    for levels, percents, least in (wide, (summary.levels, True, _SHORT_NAME), narrow):
        heads, cells = _make_cells(rows, levels, states, percents=percents)
        widths = [max(measure_width(cell.text) for cell in column) for column in zip(*heads, *cells, strict=True)]
        rest = sum(widths) + len(COLUMN_GAP) * len(widths)
        name = min(max(names, len(_TITLE)), look.width - rest)
        if name >= min(names, least):
            break
    else:
        yield from _format_list(rows, states, look)
        return
    for title, head in zip(("", _TITLE if name >= len(_TITLE) else "name"), heads, strict=True):
        if any(cell.text for cell in head):
            yield _format_line(title, name, head, widths, look)
    for row, line in zip(rows, cells, strict=True):
        if row is rows[-1] and len(rows) > 1:
            yield "-" * (name + rest)
        yield _format_line(row.name, name, line, widths, look)


def _make_cells(
    rows: Sequence[SummaryRow], levels: Sequence[str], states: Sequence[State], *, percents: bool
) -> tuple[list[list[_Cell]], list[list[_Cell]]]:
    heads = [
        [_Cell("") for _ in (*levels, "done", "%")]
        + [_Cell(state.words.rpartition(" ")[0], state) for state in states],
        [*map(_Cell, levels), _Cell("done", State.DONE), _Cell("")]
        + [_Cell(state.words.rpartition(" ")[2], state) for state in states],
    ]
    cells = []
    for row in rows:
        by_level = (row.percents if percents else row.shares)[: len(levels)]
        # A share is green only if it is 100 %.
        whole = State.DONE if row.is_done else None
        line = [*map(_Cell, by_level), _Cell(row.shares[-1], whole), _Cell(row.percents[-1], whole)]
        line += [_Cell(f"{row.counts[state]:,}", state if row.counts[state] else None) for state in states]
        cells.append(line)
    return heads, cells


def _format_line(name: str, room: int, cells: Sequence[_Cell], widths: Sequence[int], look: TableLook) -> str:
    parts = [align_left(cut_middle(name, room), room)]
    for cell, width in zip(cells, widths, strict=True):
        parts.append(" " * (width - measure_width(cell.text)) + _paint(cell.text, cell.state, look))
    return COLUMN_GAP.join(parts).rstrip()


def _format_list(rows: Sequence[SummaryRow], states: Sequence[State], look: TableLook) -> Iterator[str]:
    """Yield each specification and its numbers, for terminals that are too narrow for a table."""
    for row in rows:
        yield cut_middle(row.name, look.width)
        parts = [f"{row.shares[-1]} done"]
        parts += [
            f"{row.counts[state]:,} {format_state(state, row.counts[state])}" for state in states if row.counts[state]
        ]
        text = ", ".join(parts)
        for start, end in wrap_cells(text, look.width - len(COLUMN_GAP)):
            yield f"{COLUMN_GAP}{text[start:end]}"


def _paint(text: str, state: State | None, look: TableLook) -> str:
    return text if state is None or not look.colour else paint_text(text, STATE_MARKS[state.words])


def describe_not_applicable(entry: NotApplicable) -> str:
    """Describe an entry: `not applicable: 2 requirements of SPEC#SECTION: we have no spout (QA, until 2027-12-31)`."""
    what = "expired" if entry.has_expired else "not applicable"
    quote = f", {quote_text(shorten_text(collapse_whitespace(entry.quote)))}" if entry.quote else ""
    count = format_count(entry.requirements, "requirement")
    return f"{what}: {count} of {entry.target}{quote}: {describe_exemption(entry)}"


def describe_exemption(entry: NotApplicable) -> str:
    """Return reason, owner and date, such as `we have no spout (QA, until 2027-12-31)`."""
    last_day = f"{'expired' if entry.has_expired else 'until'} {entry.expiry}" if entry.expiry else ""
    more = ", ".join(filter(None, (collapse_whitespace(entry.owner), last_day)))
    return f"{collapse_whitespace(entry.reason)} ({more})" if more else collapse_whitespace(entry.reason)
