"""The table of totals: specifications by level and state, every number a link to what it counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from duvet.queries.links import fragment
from duvet.reports.html_filters import Number, level_name, number
from duvet.reports.html_states import LOOKS, Look
from duvet.trace.states import State
from duvet.trace.totals import Total, by_specification

_DONE = (State.COMPLETE, State.IMPLIED)
_LEFT = (State.MISSING_TEST, State.MISSING_IMPLEMENTATION, State.PARTIAL, State.TO_DO, State.UNCITED)
_MOST = 40
"""So many specifications are listed by level."""

COUNTED = (*_DONE, *_LEFT, State.EXCEPTION)
"""The states that have a column."""


class TotalRow(Struct, frozen=True):
    """The requirements of one level, or all of them."""

    name: str
    is_sum: bool
    done: Number
    applicable: Number
    percent: str
    numbers: tuple[Number, ...]
    """By column."""
    shares: tuple[tuple[str, int], ...]
    """The classes and widths of the parts of the bar."""


class TotalGroup(Struct, frozen=True):
    """The rows of a specification, or of all of them."""

    name: str
    href: str
    """Nothing for all of them."""
    rows: tuple[TotalRow, ...]


def columns(whole: Total) -> tuple[Look, ...]:
    """The states to count, what is done first; what is not applicable where anything is."""
    states = (*COUNTED, State.NOT_APPLICABLE) if whole.not_applicable else COUNTED
    return tuple(LOOKS[state] for state in states)


def total_groups(counted: Sequence[Total], anchors: Mapping[str, str]) -> list[TotalGroup]:
    """The specifications, which have these anchors by their ids, and last all of them where there are several."""
    groups = by_specification(counted)
    looks = columns(counted[-1])
    ##= man/spec/page.md#overview
    ##% With more than 40 specifications, only all of them together MUST be listed by level.
    if len(groups) > _MOST + 1:
        groups = [*((group[-1],) for group in groups[:-1]), groups[-1]]
    # One specification is all of them.
    return [_group(group, looks, anchors) for group in (groups if len(groups) > 2 else groups[:-1])]


def total_row(total: Total, looks: Sequence[Look], spec: str = "") -> TotalRow:
    """The numbers of one row."""
    counts = total.counts

    def linked(count: int, states: Iterable[State] = ()) -> Number:
        return number(count, spec=spec, level=total.level, states=states)

    return TotalRow(
        "all" if total.level is None else level_name(total.level),
        total.level is None,
        linked(total.done, _DONE),
        linked(total.applicable, (*_DONE, *_LEFT)),
        "-" if total.percent is None else f"{total.percent} %",
        tuple(linked(counts[look.index], (State(look.index),)) for look in looks),
        tuple((look.mark, counts[look.index]) for look in looks if counts[look.index]),
    )


def _group(group: tuple[Total, ...], looks: Sequence[Look], anchors: Mapping[str, str]) -> TotalGroup:
    specification = group[-1].specification
    if specification is None:
        return TotalGroup("all", "", tuple(total_row(total, looks) for total in group))
    anchor = anchors[specification.id]
    rows = (total_row(total, looks, anchor) for total in group)
    return TotalGroup(specification.name, fragment(anchor), tuple(rows))
