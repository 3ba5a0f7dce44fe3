"""One run of `duvet ingest`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.reports.cells import visible
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say
from duvet.text import plural

if TYPE_CHECKING:
    from duvet.config.schema import IngestRule
    from duvet.knowledge.ingest.taking import Outcome
    from duvet.store.protocol import Store
    from duvet.store.records import Run


class Asked(Struct, frozen=True):
    """What the command line says of a run."""

    profile: str
    dry_run: bool
    full: bool
    dummy: bool
    as_json: bool


def run_ingest(where: Mapping[str, Any], service_path: str | None, asked: Asked) -> None:
    """Take the project in, and say what has come of it."""
    from duvet.config.service.taking import service_taking
    from duvet.knowledge.ingest.profiles import require_profile
    from duvet.knowledge.ingest.taking import Wishes, take_in
    from duvet.knowledge.upkeep.places import own_files
    from duvet.terminal.above import taken_for_another
    from duvet.terminal.catalogues import read_catalogue
    from duvet.terminal.failures import report
    from duvet.terminal.keeping import with_store
    from duvet.terminal.options import open_project

    shown = settings()
    if asked.profile:
        require_profile(asked.profile)
    project = open_project(**where)
    inside = list(taken_for_another(os.getcwd(), "ingest"))
    named = where["config_path"] or shown.config_path
    wanted, kept = service_taking(project.tree, shown.environ, named, service_path)
    own = own_files(kept.path, kept.backups)
    wishes = Wishes(profile=asked.profile, dry_run=asked.dry_run, full=asked.full, dummy=asked.dummy)

    def take(store: Store | None) -> Outcome:
        return take_in(project, store, wanted, wishes, catalogue=lambda: read_catalogue(where), own=own)

    outcome = with_store(kept.path, take, project.progress, full=asked.full, dry_run=asked.dry_run)
    report([*inside, *outcome.problems])
    if asked.as_json:
        pour(_as_json(outcome))
    elif outcome.run.dry_run:
        pour(_lines(_would(outcome)).encode(errors="replace"))
    if not shown.quiet:
        about = *_summary(outcome, wants_vectors=wanted.semantic is not False), *_without_symbols(wanted)
        say(_lines(about))


def _lines(words: Iterable[str]) -> str:
    return "".join(f"{visible(line)}\n" for line in words)


def _as_json(outcome: Outcome) -> bytes:
    from msgspec import json, to_builtins

    values = {**to_builtins(outcome.run), "added_files": outcome.added, "changed_files": outcome.changed}
    return json.format(json.encode(values)) + b"\n"


def _summary(outcome: Outcome, *, wants_vectors: bool) -> Iterator[str]:
    run = outcome.run
    name = "" if run.dry_run else f"run {run.run_id[:12]} of profile {run.profile}, "
    if not run.dry_run:
        yield f"holds {_held(run)}"
    yield (
        f"{len(outcome.added)} new, {len(outcome.changed)} changed, {len(run.removed)} removed; "
        f"{name}{run.duration_seconds:.2f} s"
    )
    if wants_vectors and not run.dry_run and not outcome.vectors:
        yield "without vectors: pip install 'duvet-cli[semantic]' brings search by meaning"


def _without_symbols(wanted: IngestRule) -> Iterator[str]:
    from duvet.knowledge.ingest.languages import finds_symbols

    ##= man/spec/knowledge.md#files
    ##% Where the extra `symbols` is not installed, and nobody has said that there are to be none, `duvet ingest` MUST name it.
    if wanted.symbols is None and not finds_symbols(None):
        yield "without symbols: pip install 'duvet-cli[symbols]' brings filters by what code declares"


def _would(outcome: Outcome) -> Iterator[str]:
    """The files that a run would change, a line each, and what there would be then."""
    gone = [f"{one.path} -> {one.renamed_to}" if one.renamed_to else one.path for one in outcome.run.removed]
    for verb, paths in (("add", outcome.added), ("read again", outcome.changed), ("forget", gone)):
        yield from (f"would {verb} {path}" for path in paths)
    yield f"would hold {_held(outcome.run)}"


def _held(run: Run) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in run.artifact_counts.items())
    return (
        f"{plural(sum(run.artifact_counts.values()), 'file')} ({kinds or 'none'}) in {plural(run.chunk_count, 'piece')}"
    )
