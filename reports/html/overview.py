"""The overview: verdict, totals, changes, next steps, problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup
from msgspec import Struct

from duvet.model import Problem
from duvet.queries.records import make_fragment_link, make_issue_url
from duvet.queries.revisions import SnapshotChange
from duvet.reports.html import anchors
from duvet.reports.html.citations import ReferenceWriter
from duvet.reports.problems import count_problems
from duvet.specs.locator import format_locator
from duvet.text import collapse_whitespace, format_count, shorten_text
from duvet.trace.records import NotApplicable, RunVerdict, State, Total, group_totals, judge_run

_WIDEST = 120

_LOOKS = {state.words: anchors.STATE_LOOKS[state] for state in State}


class NextView(NamedTuple):
    look: anchors.StateLook
    href: str
    place: str
    text: str
    reason: str


def make_next_views(
    page: anchors.ReportData, places: anchors.ReportPlaces, names: anchors.SectionLabels
) -> list[NextView]:
    wanted = {row.text for row in page.next}
    found = {
        page.catalogue.full_path_of(card): (card, Markup(spot.link))
        for card, spot in zip(page.catalogue.requirements, places.requirements, strict=True)
        if card.text in wanted
    }
    return [
        NextView(
            _LOOKS[row.status],
            link,
            Markup(names.section(card.specification, card.section)),
            shorten_text(f"{row.name} {row.text}".lstrip(), _WIDEST),
            row.reason,
        )
        for row, (card, link) in ((row, found[row.full_path]) for row in page.next)
    ]


_MOST = 8  # Maximum number of changes of one kind to show.

_WORDS = {
    "gained": "Coverage gained",
    "lost": "Coverage lost",
    "added": "Added",
    "removed": "Removed",
}


class SnapshotChangeView(NamedTuple):
    place: str
    href: str  # Empty for a removed section.
    text: str
    change: str


class SnapshotChangeGroup(NamedTuple):
    mark: str
    words: str
    total: int
    changes: list[SnapshotChangeView]
    rest: int  # The number of changes that are not shown.


def make_snapshot_groups(
    page: anchors.ReportData, places: anchors.ReportPlaces, names: anchors.SectionLabels
) -> list[SnapshotChangeGroup] | None:
    """Group the changes by kind; None if there is no snapshot to compare with."""
    if page.since is None:
        return None
    ##= man/spec/page.md#overview
    ##% If the commit `HEAD` contains a snapshot, the overview MUST list the coverage that was gained and lost since
    ##% that commit.
    found = ((mark, words, getattr(page.since, mark)) for mark, words in _WORDS.items())
    sections = _Sections(page, places, names)
    return [
        SnapshotChangeGroup(
            mark,
            words,
            len(changes),
            [_change(mark, change, sections) for change in changes[:_MOST]],
            max(len(changes) - _MOST, 0),
        )
        for mark, words, changes in found
        if changes
    ]


class _Sections:
    def __init__(self, page: anchors.ReportData, places: anchors.ReportPlaces, names: anchors.SectionLabels) -> None:
        self._places = places.sections
        self._names = names
        cited = (coverage.specification for coverage in page.finished.trace.coverages)
        self._cited = {
            format_locator(one.locator, page.finished.root): (index, one.name) for index, one in enumerate(cited)
        }

    def link(self, change: SnapshotChange) -> tuple[str, str]:
        index, name = self._cited.get(change.specification, (None, change.specification))
        if index is None or change.section not in self._places[index]:
            return "", f"{name}, {change.section}"
        return Markup(self._places[index][change.section].spot.link), Markup(self._names.section(index, change.section))


def _change(mark: str, change: SnapshotChange, sections: _Sections) -> SnapshotChangeView:
    href, place = sections.link(change)
    before, after = change.before or State.UNCITED.words, change.after or State.UNCITED.words
    words = {"added": after, "removed": before}.get(mark, f"{before} → {after}")
    return SnapshotChangeView(place, href, change.text, words)


_LEFT = (State.NEEDS_TESTS, State.NEEDS_CODE, State.IN_PROGRESS, State.TO_DO, State.UNCITED)
_MAX_DETAILED_SPECIFICATIONS = 40  # With more specifications, the totals have no rows for levels.

COUNTED_STATES = (State.DONE, *_LEFT, State.EXCEPTED)


class TotalRow(Struct, frozen=True):
    name: str
    is_sum: bool
    done: anchors.LinkedNumber
    applicable: anchors.LinkedNumber
    percent: str
    numbers: tuple[anchors.LinkedNumber, ...]  # By column.
    shares: tuple[tuple[str, int], ...]  # The class and width of each part of the bar.


class TotalGroup(Struct, frozen=True):
    name: str
    href: str  # Empty for the total of all specifications.
    rows: tuple[TotalRow, ...]


def choose_states(whole: Total) -> tuple[anchors.StateLook, ...]:
    """Return the states to show, `done` first; `not applicable` only if it occurs."""
    states = (*COUNTED_STATES, State.NOT_APPLICABLE) if whole.not_applicable else COUNTED_STATES
    return tuple(anchors.STATE_LOOKS[state] for state in states)


def make_total_groups(
    counted: Sequence[Total], columns: Sequence[anchors.StateLook], anchor_names: Mapping[str, str]
) -> list[TotalGroup]:
    """Group the totals by specification, with the overall total last if there are several specifications.

    `anchor_names` maps specification ids to anchors.
    """
    groups = group_totals(counted)
    if len(groups) > _MAX_DETAILED_SPECIFICATIONS + 1:
        groups = [*((group[-1],) for group in groups[:-1]), groups[-1]]
    # With one specification, the total would repeat its rows.
    return [_group(group, columns, anchor_names) for group in (groups if len(groups) > 2 else groups[:-1])]


def make_total_row(total: Total, looks: Sequence[anchors.StateLook], spec: str = "") -> TotalRow:
    counts = total.counts

    def linked(count: int, states: Iterable[State] = ()) -> anchors.LinkedNumber:
        return anchors.link_number(count, spec=spec, level=total.level, states=states)

    return TotalRow(
        "all" if total.level is None else anchors.name_level(total.level),
        total.level is None,
        linked(total.done, (State.DONE,)),
        linked(total.applicable, (State.DONE, *_LEFT)),
        "-" if total.percent is None else f"{total.percent} %",
        tuple(linked(counts[look.index], ([*State][look.index],)) for look in looks),
        tuple((look.mark, counts[look.index]) for look in looks if counts[look.index]),
    )


def _group(group: tuple[Total, ...], looks: Sequence[anchors.StateLook], anchor_names: Mapping[str, str]) -> TotalGroup:
    specification = group[-1].specification
    # With one level, the total would repeat its row.
    totals = group[:1] if len(group) == 2 else group
    if specification is None:
        return TotalGroup("all", "", tuple(make_total_row(total, looks) for total in totals))
    anchor = anchor_names[specification.id]
    rows = (make_total_row(total, looks, anchor) for total in totals)
    return TotalGroup(anchors.strip_backticks(specification.name), make_fragment_link(anchor), tuple(rows))


class LabelView(NamedTuple):
    """A feature or tracking issue, and the number of its requirements."""

    name: str
    href: str  # The URL of the issue, or empty.
    number: anchors.LinkedNumber


class OverviewView(Struct, frozen=True):
    verdict: RunVerdict
    words: str  # The coverage.
    looks: tuple[anchors.StateLook, ...]
    columns: tuple[anchors.StateLook, ...]  # The states with a column in the table, `done` first.
    whole: TotalRow
    groups: list[TotalGroup]
    problems: str
    since: list[SnapshotChangeGroup] | None
    next: list[NextView]
    features: list[LabelView]
    issues: list[LabelView]
    not_applicable: tuple[NotApplicable, ...]


def make_overview_view(
    page: anchors.ReportData, counted: Sequence[Total], places: anchors.ReportPlaces, names: anchors.SectionLabels
) -> OverviewView:
    whole = counted[-1]
    looks = choose_states(whole)
    columns = tuple(look for look in looks if look.index == State.DONE or whole.counts[look.index])
    citations = page.catalogue.citations
    labelled = {number for number, one in enumerate(citations) if one.feature or one.tracking_issue}
    features, issues = Counter[str](), Counter[str]()
    for card in page.catalogue.requirements if labelled else ():
        found = [citations[number] for number in card.citations if number in labelled]
        features.update({collapse_whitespace(one.feature) for one in found} - {""})
        issues.update({collapse_whitespace(one.tracking_issue) for one in found} - {""})
    labels = (_most_first(features), _most_first(issues))
    counts = count_problems(page.problems)
    # The report counts warnings next to the link to the problems.
    verdict = judge_run(page.problems, page.gates, page.finished.trace.citation_count, counts=counts[0] > 0)
    return OverviewView(
        verdict,
        f"Coverage: {whole.words}",
        looks,
        columns,
        make_total_row(whole, looks),
        make_total_groups(counted, columns, places.specifications),
        " and ".join(
            format_count(count, word) for count, word in zip(counts, ("error", "warning"), strict=True) if count
        ),
        make_snapshot_groups(page, places, names),
        make_next_views(page, places, names),
        [LabelView(name, "", anchors.link_number(count, feature=name)) for name, count in labels[0]],
        [
            LabelView(name, make_issue_url(page.finished.issue_link, name), anchors.link_number(count, issue=name))
            for name, count in labels[1]
        ],
        page.finished.not_applicable,
    )


def _most_first(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


class ProblemView(Struct, frozen=True):
    problem: Problem
    place: Markup
    notes: tuple[tuple[Markup, str], ...]


def make_problem_view(problem: Problem, references: ReferenceWriter) -> ProblemView:
    path = problem.path
    notes = ((Markup(references.place(path, note.place)), note.label) for note in problem.notes)
    return ProblemView(problem, Markup(references.place(path, problem.place) if path else ""), tuple(notes))
