"""What is not owed, in upstream's second JSON report: a bucket of our own."""

from __future__ import annotations

from collections.abc import Iterable

from duvet.reports.v2_ids import entity_id
from duvet.reports.v2_records import NotApplicableRecord
from duvet.trace.states import NotApplicable


def not_applicable_records(entries: Iterable[NotApplicable]) -> dict[str, NotApplicableRecord]:
    """The records by their id."""
    ##= man/spec/gates.md#not-applicable
    ##% Every entry MUST be listed with its target, its reason, its owner, its last day and the number of its
    ##% requirements in the summary, the page, JSON in both of its versions, and the snapshot.
    return {_id(one): _record(one) for one in entries}


def _id(one: NotApplicable) -> str:
    return entity_id("not", one.target, one.quote, one.reason, one.owner, str(one.expiry or ""))


def _record(one: NotApplicable) -> NotApplicableRecord:
    return NotApplicableRecord(
        one.target, one.reason, one.requirements, one.quote or None, one.owner or None, one.expiry
    )
