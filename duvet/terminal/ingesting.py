"""One run of `duvet ingest`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.reports.cells import visible
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say
from duvet.text import plural

if TYPE_CHECKING:
    from duvet.knowledge.ingest.taking import Outcome
    from duvet.store.protocol import Store

_MOST_LISTED = 20


class Asked(Struct, frozen=True):
    """What the command line says of a run."""

    profile: str
    dry_run: bool
    full: bool
    dummy: bool
    as_json: bool


def run_ingest(where: Mapping[str, Any], asked: Asked) -> None:
    """Take the project in, and say what has come of it."""
    from duvet.config.service.taking import service_taking
    from duvet.knowledge.ingest.profiles import require_profile
    from duvet.knowledge.ingest.taking import Wishes, take_in
    from duvet.knowledge.upkeep.places import own_files
    from duvet.terminal.catalogues import read_catalogue
    from duvet.terminal.failures import report
    from duvet.terminal.options import open_project

    shown = settings()
    if asked.profile:
        require_profile(asked.profile)
    project = open_project(**where)
    named = where["config_path"] or shown.config_path
    wanted, kept = service_taking(project.tree, shown.environ, named)
    store = _store(kept.path, is_made=not asked.dry_run)
    own = own_files(kept.path, kept.backups)
    wishes = Wishes(profile=asked.profile, dry_run=asked.dry_run, full=asked.full, dummy=asked.dummy)
    try:
        outcome = take_in(project, store, wanted, wishes, catalogue=lambda: read_catalogue(where), own=own)
    finally:
        if store is not None:
            store.close()
    report(outcome.problems)
    if asked.as_json:
        pour(_as_json(outcome))
    if not shown.quiet:
        say("".join(f"{visible(line)}\n" for line in _summary(outcome)))


def _store(path: str, *, is_made: bool) -> Store | None:
    from duvet.store.errors import MissingError
    from duvet.store.opening import open_store

    try:
        return open_store(path, create=is_made)
    except MissingError:
        return None


def _as_json(outcome: Outcome) -> bytes:
    from msgspec import json, to_builtins

    values = {**to_builtins(outcome.run), "added_files": outcome.added, "changed_files": outcome.changed}
    return json.format(json.encode(values)) + b"\n"


def _summary(outcome: Outcome) -> Iterator[str]:
    run = outcome.run
    if run.dry_run:
        yield from _would(outcome)
    kinds = ", ".join(f"{count} {kind}" for kind, count in run.artifact_counts.items())
    files = plural(sum(run.artifact_counts.values()), "file")
    yield f"{'would hold' if run.dry_run else 'holds'} {files} ({kinds or 'none'}) in {plural(run.chunk_count, 'piece')}"
    yield (
        f"{len(outcome.added)} new, {len(outcome.changed)} changed, {len(run.removed)} removed; "
        f"run {run.run_id[:12]} of profile {run.profile}, {run.duration_seconds:.2f} s"
    )
    if not run.dry_run and not outcome.vectors:
        yield "without vectors: pip install 'duvet-cli[semantic]' brings search by meaning"


def _would(outcome: Outcome) -> Iterator[str]:
    """The files that a run would change, a line each."""
    gone = [f"{one.path} -> {one.renamed_to}" if one.renamed_to else one.path for one in outcome.run.removed]
    yield from _listed("add", outcome.added)
    yield from _listed("read again", outcome.changed)
    yield from _listed("forget", gone)


def _listed(verb: str, paths: Sequence[str]) -> Iterator[str]:
    yield from (f"would {verb} {path}" for path in paths[:_MOST_LISTED])
    if len(paths) > _MOST_LISTED:
        yield f"would {verb} {len(paths) - _MOST_LISTED} more"
