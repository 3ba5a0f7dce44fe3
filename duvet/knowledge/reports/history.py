"""What earlier runs have come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec import DecodeError, ValidationError, json

from duvet.knowledge.reports.coverage import CoverageThen, coverage
from duvet.knowledge.reports.facts import ProjectFacts
from duvet.knowledge.reports.lifecycle import LifecycleThen, lifecycle
from duvet.knowledge.reports.shapes import Past
from duvet.store.protocol import Store, Writing

COVERAGE, LIFECYCLE = "coverage", "lifecycle"
_KEPT = {COVERAGE: 5, LIFECYCLE: 10}
"""How many reports there are of each kind."""


Then = TypeVar("Then", CoverageThen, LifecycleThen)


def keep_reports(writing: Writing, facts: ProjectFacts, now: float) -> None:
    """Keep what the reports come to at the end of a run."""
    ##= man/spec/knowledge.md#reports
    ##% At the end of each run, what the reports come to MUST be kept: of coverage the last 5, of the lifecycle the last 10.
    covered, living = coverage(facts, now), lifecycle(facts, now)
    kept: dict[str, Past] = {
        COVERAGE: CoverageThen(
            generated_at=now, generated_at_iso=covered.generated_at_iso, run=covered.run, summary=covered.summary
        ),
        LIFECYCLE: LifecycleThen(
            generated_at=now, generated_at_iso=living.generated_at_iso, run=living.run, summary=living.summary
        ),
    }
    for name, then in kept.items():
        writing.put_report(name, then.run.run_id, json.encode(then), keep=_KEPT[name])


def history(store: Store, name: str, kind: type[Then], limit: int) -> Sequence[Then]:
    """The last ones, the newest first; what another version has kept in another shape is left out."""
    found = (_decoded(data, kind) for data in (store.reports(name, limit) if limit else ()))
    return [one for one in found if one is not None]


def _decoded(data: bytes, kind: type[Then]) -> Then | None:
    try:
        return json.decode(data, type=kind)
    except (DecodeError, ValidationError):
        return None
