"""The summary of a run: requirements by specification, level and state, the verdict, and the coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from duvet.model import Level, Problem
from duvet.reports import cells
from duvet.text import collapse_whitespace, format_count, quote_phrase, shorten_text
from duvet.trace import records
from duvet.trace.catalogue import NotApplicable, State

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
    name: str
    shares: tuple[str, ...]  # `2/3` for each level, and finally for all levels.
    percents: tuple[str, ...]  # The same as `66%`.
    counts: tuple[int, ...]  # The number of requirements by state.
    is_done: bool  # Whether every applicable requirement is done.


class Summary(Struct, frozen=True):
    levels: tuple[str, ...]
    rows: tuple[SummaryRow, ...]  # The last row is the total of all specifications.
    lines: tuple[str, ...]  # The lines below the table.


def summarize_run(
    report: records.Finished, problems: Sequence[Problem], gates: Sequence[records.GateResult], *, counts: bool = True
) -> Summary:
    found = records.compute_totals(report.requirements)
    levels = [total.level for total in found if total.specification is None and total.level is not None]
    rows = []
    for group in records.group_totals(found):
        by_level = {total.level: total for total in group}
        whole = group[-1]
        totals = [*(by_level.get(level) for level in levels), whole]
        rows.append(
            SummaryRow(
                cells.escape_cell(whole.specification.name) or whole.specification.id if whole.specification else "all",
                tuple(f"{one.done:,}/{one.applicable:,}" if one and one.applicable else "-" for one in totals),
                tuple("-" if one is None or one.percent is None else f"{one.percent}%" for one in totals),
                whole.counts,
                whole.percent == 100,
            )
        )
    stating = {requirement.specification.id for requirement in report.requirements}
    lines = []
    if others := sum(coverage.specification.id not in stating for coverage in report.trace.coverages):
        lines.append(
            f"{format_count(others, 'cited specification')} {'has' if others == 1 else 'have'} no known requirements"
        )
    lines += [cells.escape_cell(describe_not_applicable(entry)) for entry in report.not_applicable]
    verdict = records.judge_run(problems, gates, report.trace.citation_count, counts=counts)
    lines += [cells.escape_cell(line) for line in verdict.lines]
    lines.append(f"coverage: {found[-1].words}")
    names = tuple("other" if level is Level.AUTO else level.name for level in levels)
    return Summary(names, tuple(rows), tuple(lines))


def format_summary(summary: Summary, look: cells.TableLook) -> str:
    table = [*_format_table(summary, look), ""] if any(summary.rows[-1].counts) else []
    return "".join(f"{line}\n" for line in (*table, *summary.lines))


_Cell = tuple[str, State | None]  # A text, and the state that gives it its colour.


def _format_table(summary: Summary, look: cells.TableLook) -> Iterator[str]:
    # A table of one specification needs no totals.
    rows = summary.rows if len(summary.rows) > 2 else summary.rows[:1]
    states = [state for state in _STATES if summary.rows[-1].counts[state]]
    names = max(cells.measure_width(row.name) for row in rows)
    wide, narrow = (summary.levels, False, _NAME), ((), False, _SHORT_NAME)
    for levels, percents, least in (wide, (summary.levels, True, _SHORT_NAME), narrow):
        heads, body = _make_cells(rows, levels, states, percents=percents)
        widths = [max(cells.measure_width(text) for text, _ in column) for column in zip(*heads, *body, strict=True)]
        rest = sum(widths) + len(cells.COLUMN_GAP) * len(widths)
        name = min(max(names, len(_TITLE)), look.width - rest)
        if name >= min(names, least):
            break
    else:
        # The terminal is too narrow for a table.
        for row in rows:
            yield cells.cut_middle(row.name, look.width)
            counts = ((state, row.counts[state]) for state in states if row.counts[state])
            words = [
                f"{row.shares[-1]} done",
                *(f"{count:,} {records.format_state(state, count)}" for state, count in counts),
            ]
            text = ", ".join(words)
            for start, end in cells.wrap_cells(text, look.width - len(cells.COLUMN_GAP)):
                yield f"{cells.COLUMN_GAP}{text[start:end]}"
        return
    for title, head in zip(("", _TITLE if name >= len(_TITLE) else "name"), heads, strict=True):
        if any(text for text, _ in head):
            yield _format_line(title, name, head, widths, look)
    for row, line in zip(rows, body, strict=True):
        if row is rows[-1] and len(rows) > 1:
            yield "-" * (name + rest)
        yield _format_line(row.name, name, line, widths, look)


def _make_cells(
    rows: Sequence[SummaryRow], levels: Sequence[str], states: Sequence[State], *, percents: bool
) -> tuple[list[list[_Cell]], list[list[_Cell]]]:
    first: list[_Cell] = [("", None)] * (len(levels) + 2)
    second: list[_Cell] = [*((level, None) for level in levels), ("done", State.DONE), ("", None)]
    for state in states:
        words, _, word = state.words.rpartition(" ")
        first.append((words, state))
        second.append((word, state))
    body: list[list[_Cell]] = []
    for row in rows:
        by_level = (row.percents if percents else row.shares)[: len(levels)]
        # A share is green only if it is 100 %.
        whole = State.DONE if row.is_done else None
        line: list[_Cell] = [*((share, None) for share in by_level), (row.shares[-1], whole), (row.percents[-1], whole)]
        body.append(line + [(f"{row.counts[state]:,}", state if row.counts[state] else None) for state in states])
    return [first, second], body


def _format_line(name: str, room: int, body: Sequence[_Cell], widths: Sequence[int], look: cells.TableLook) -> str:
    parts = [cells.align_left(cells.cut_middle(name, room), room)]
    for (text, state), width in zip(body, widths, strict=True):
        marks = cells.STATE_MARKS[state.words] if state is not None and look.colour else None
        parts.append(" " * (width - cells.measure_width(text)) + cells.paint_text(text, marks))
    return cells.COLUMN_GAP.join(parts).rstrip()


def describe_not_applicable(entry: NotApplicable) -> str:
    what = "expired" if entry.has_expired else "not applicable"
    quote = f", {quote_phrase(shorten_text(collapse_whitespace(entry.quote)))}" if entry.quote else ""
    count = format_count(entry.requirements, "requirement")
    return f"{what}: {count} of {entry.target}{quote}: {describe_exemption(entry)}"


def describe_exemption(entry: NotApplicable) -> str:
    last_day = f"{'expired' if entry.has_expired else 'until'} {entry.expiry}" if entry.expiry else ""
    more = ", ".join(filter(None, (collapse_whitespace(entry.owner), last_day)))
    return f"{collapse_whitespace(entry.reason)} ({more})" if more else collapse_whitespace(entry.reason)
