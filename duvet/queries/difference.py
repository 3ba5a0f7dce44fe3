"""What has changed from one catalogue of a project to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from duvet.model import Kind
from duvet.queries.catalogue import Catalogue, RequirementCard
from duvet.queries.citing import CitationChange, StaleCitation, cited, stale_citations, stale_rows
from duvet.queries.pairing import Pair, Pairing, paired
from duvet.queries.rows import RequirementRow, requirement_row
from duvet.text import plural
from duvet.trace.states import State
from duvet.trace.totals import totals_of

_LAYERS = {
    "implementation": frozenset({Kind.CITATION, Kind.IMPLICATION}),
    "tests": frozenset({Kind.TEST}),
}
"""What a requirement may have got, and the kinds of citations that make it."""


class Change(Struct, frozen=True, kw_only=True):
    """A requirement that is not what it was."""

    then: RequirementRow
    now: RequirementRow


class CoverageChange(Change, frozen=True, kw_only=True):
    """A requirement that has more or less than it had."""

    lost: tuple[str, ...]
    """`implementation` or `tests`, where it had some and has none any more."""
    gained: tuple[str, ...]


class Count(Struct, frozen=True, kw_only=True):
    """How many requirements there are, and how many are done."""

    requirements: int
    applicable: int
    done: int
    excepted: int
    not_applicable: int
    words: str


class Difference(Struct, frozen=True, kw_only=True):
    """Everything that has changed, in the order of specifications, and that of files for citations."""

    then: Count
    now: Count
    coverage_lost: tuple[CoverageChange, ...]
    citations_stale: tuple[StaleCitation, ...]
    coverage_gained: tuple[CoverageChange, ...]
    requirements_added: tuple[RequirementRow, ...]
    requirements_removed: tuple[RequirementRow, ...]
    requirements_changed: tuple[Change, ...]
    requirements_moved: tuple[Change, ...]
    citations_removed: tuple[CitationChange, ...]
    citations_added: tuple[CitationChange, ...]

    @property
    def regressions(self) -> int:
        """How much has been lost: requirements that have less, and citations that are wrong now."""
        return len(self.coverage_lost) + len(self.citations_stale)

    @property
    def losses(self) -> str:
        """`2 requirements lost coverage, 1 citation went stale`; nothing where nothing is lost."""
        requirements = plural(len(self.coverage_lost), "requirement") + " lost coverage" if self.coverage_lost else ""
        citations = plural(len(self.citations_stale), "citation") + " went stale" if self.citations_stale else ""
        return ", ".join(filter(None, (requirements, citations)))

    @property
    def uncited(self) -> tuple[RequirementRow, ...]:
        """The new requirements that nothing but todos refers to."""
        states = {state.words for state in (State.UNCITED, State.TO_DO)}
        return tuple(row for row in self.requirements_added if row.state in states)


def compare(then: Catalogue, now: Catalogue) -> Difference:
    """What has changed."""
    pairing = paired(then, now)
    coverage = list(_coverage_changes(then, now, pairing.pairs))
    stale = stale_citations(then, now)
    ours, theirs = cited(then, now, pairing, [old for old, _ in stale])
    return Difference(
        then=_count(then),
        now=_count(now),
        coverage_lost=tuple(change for change, is_loss in coverage if is_loss),
        citations_stale=tuple(stale_rows(now, stale)),
        coverage_gained=tuple(change for change, is_loss in coverage if not is_loss),
        ##= man/spec/diff.md#requirements
        ##% A requirement that was not there MUST be told as added, and one that is not there any more as removed.
        requirements_added=_rows(now, pairing.added),
        requirements_removed=_rows(then, pairing.removed),
        requirements_changed=_changes(then, now, [*pairing.changed, *_other_levels(then, now, pairing)]),
        requirements_moved=_changes(then, now, pairing.moved),
        citations_removed=ours.beyond(theirs),
        citations_added=theirs.beyond(ours),
    )


def _count(catalogue: Catalogue) -> Count:
    *_, total = totals_of(catalogue.requirements)
    return Count(
        requirements=total.requirements,
        applicable=total.applicable,
        done=total.done,
        excepted=total.excepted,
        not_applicable=total.not_applicable,
        words=total.words,
    )


def _rows(catalogue: Catalogue, indexes: Iterable[int]) -> tuple[RequirementRow, ...]:
    return tuple(requirement_row(catalogue, catalogue.requirements[index]) for index in indexes)


def _changes(then: Catalogue, now: Catalogue, pairs: Iterable[Pair]) -> tuple[Change, ...]:
    return tuple(
        Change(
            then=requirement_row(then, then.requirements[old]),
            now=requirement_row(now, now.requirements[new]),
        )
        for old, new in sorted(pairs, key=lambda pair: pair[1])
    )


def _other_levels(then: Catalogue, now: Catalogue, pairing: Pairing) -> Iterator[Pair]:
    """The same sentences, of which a requirement file says now that they bind more, or less."""
    for old, new in (*pairing.same, *pairing.moved):
        if then.requirements[old].level is not now.requirements[new].level:
            yield old, new


def _coverage_changes(then: Catalogue, now: Catalogue, pairs: Iterable[Pair]) -> Iterator[tuple[CoverageChange, bool]]:
    """The requirements that have more or less than they had, with whether that is a loss."""
    for old, new in pairs:
        before, after = then.requirements[old], now.requirements[new]
        ##= man/spec/diff.md#coverage
        ##% What is or was not applicable MUST NOT be told as a change of coverage.
        if State.NOT_APPLICABLE in (before.state, after.state):
            continue
        had, has = _layers(then, before), _layers(now, after)
        lost, gained = (tuple(name for name in _LAYERS if name in one) for one in (had - has, has - had))
        ##= man/spec/diff.md#coverage
        ##% A requirement whose status is lower than it was, or that has lost its implementation or its tests, MUST be told
        ##% as having lost coverage.
        is_loss = after.status < before.status or bool(lost)
        ##= man/spec/diff.md#coverage
        ##% A requirement whose status is higher than it was, or that has got an implementation or tests, MUST be told as
        ##% having gained coverage, unless it has lost some.
        if is_loss or gained or after.status > before.status:
            rows = requirement_row(then, before), requirement_row(now, after)
            yield CoverageChange(then=rows[0], now=rows[1], lost=lost, gained=gained), is_loss


def _layers(catalogue: Catalogue, card: RequirementCard) -> set[str]:
    kinds = {catalogue.citations[number].kind for number in card.citations}
    return {name for name, making in _LAYERS.items() if kinds & making}
