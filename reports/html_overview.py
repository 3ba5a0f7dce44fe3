"""What the overview shows: the verdict, the totals, and what to look at next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from duvet.model import Problem, Severity
from duvet.queries.links import issue
from duvet.reports.html_filters import Number, number
from duvet.reports.html_names import Names
from duvet.reports.html_next import NextView, next_views
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places
from duvet.reports.html_since import SinceGroup, since_groups
from duvet.reports.html_states import Look
from duvet.reports.html_totals import TotalGroup, TotalRow, columns, total_groups, total_row
from duvet.text import one_line, plural
from duvet.trace.states import NotApplicable
from duvet.trace.totals import Total, Verdict, verdict


class Label(NamedTuple):
    """A feature or a tracking issue, and the requirements that it has to do with."""

    name: str
    href: str
    """Where it can be read, if anywhere."""
    number: Number


class OverviewView(Struct, frozen=True):
    """All of the overview."""

    verdict: Verdict
    words: str
    """What the verdict leaves out."""
    looks: tuple[Look, ...]
    whole: TotalRow
    groups: list[TotalGroup]
    problems: str
    since: list[SinceGroup] | None
    next: list[NextView]
    features: list[Label]
    issues: list[Label]
    not_applicable: tuple[NotApplicable, ...]


def overview_view(page: Page, counted: Sequence[Total], places: Places, names: Names) -> OverviewView:
    """Everything on it, from the totals that every report takes its numbers from."""
    whole = counted[-1]
    looks = columns(whole)
    outcome = verdict(whole, page.problems)
    labels = _labels(page)
    return OverviewView(
        outcome,
        f"{whole.left}." if outcome.passed and whole.left else "" if outcome.passed else f"{whole.words}.",
        looks,
        total_row(whole, looks),
        total_groups(counted, places.specifications),
        _problems(page.problems),
        since_groups(page, places, names),
        next_views(page, places, names),
        [Label(name, "", number(count, feature=name)) for name, count in labels[0]],
        [Label(name, issue(page.finished.issue_link, name), number(count, issue=name)) for name, count in labels[1]],
        page.finished.not_applicable,
    )


def _problems(problems: Sequence[Problem]) -> str:
    """`2 errors and 1 warning`."""
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    counts = ((errors, "error"), (len(problems) - errors, "warning"))
    return " and ".join(plural(count, word) for count, word in counts if count)


def _labels(page: Page) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """The features and the tracking issues with the numbers of their requirements, most first."""
    citations = page.catalogue.citations
    labelled = {number for number, one in enumerate(citations) if one.feature or one.tracking_issue}
    features, issues = Counter[str](), Counter[str]()
    for card in page.catalogue.requirements if labelled else ():
        found = [citations[number] for number in card.citations if number in labelled]
        features.update({one_line(one.feature) for one in found} - {""})
        issues.update({one_line(one.tracking_issue) for one in found} - {""})
    return _most_first(features), _most_first(issues)


def _most_first(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
