"""`duvet ingest`"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from duvet.console.command import Subcommand
from duvet.console.options import TEXT_TYPE, add_trace_options, load_catalogue, open_project, warn_of_parent_project
from duvet.console.service_options import add_service_option
from duvet.console.settings import current_settings
from duvet.console.streams import print_notice, write_stdout
from duvet.progress import Progress
from duvet.reports.cells import escape_cell
from duvet.store.errors import StoreDamagedError, StoreMissingError, StoreOutdatedError
from duvet.store.location import can_be_replaced, open_store, remove_store
from duvet.store.protocol import Store
from duvet.text import format_count

if TYPE_CHECKING:
    from duvet.config.settings import IngestRule
    from duvet.knowledge.ingest.run import IngestOutcome
    from duvet.store.records import IngestRun


@click.command(cls=Subcommand)
@click.option(
    "--profile",
    type=TEXT_TYPE,
    metavar="NAME",
    help="What to call this run [default: that of the configuration, or local].",
)
@click.option("--dry-run", is_flag=True, help="Tell what would change, and change nothing.")
@click.option("--full", is_flag=True, help="Read every file again, be it changed or not, and replace a damaged store.")
@click.option(
    "--dummy-embeddings", is_flag=True, help="Make vectors without a model: they mean nothing, and show that it works."
)
@click.option(
    "--format",
    "format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="With json, what has come of the run is written to standard output.",
)
@add_service_option
@add_trace_options
@click.pass_context
def ingest(
    ctx: click.Context,
    /,
    profile: str | None,
    dry_run: bool,
    full: bool,
    dummy_embeddings: bool,
    format: str,
    service_path: str | None,
    **where: Any,
) -> None:
    """Code, tests, documents, specifications, requirements and citations are kept in .duvet/knowledge, where the tools
    of the pack `knowledge` search them and tell how they hang together. Only files that have changed are read again.
    The store can be removed at any time; the feedback beside it is there once.

    Which files are taken in, and whether symbols and vectors are made of them, is said in `duvet.config.yaml` below
    `ingest`; what git ignores never is, and secrets such as .env and dependencies such as node_modules only where their
    very paths are named there. Subsystems are those of the folders of the sources, or of `subsystems.yaml`, where each
    may have `description`, `criticality`, `owner`, `domain`, `tags`, `paths` and `depends_on`, as duvet.config(5) says.

    \b
    Examples:
      duvet ingest
      duvet ingest --dry-run
      duvet ingest --profile nightly --full --format json
      duvet call km-search --query "retry after a timeout"
    """
    run_ingest(where, service_path, IngestRequest(profile or "", dry_run, full, dummy_embeddings, format == "json"))


class IngestRequest(Struct, frozen=True):
    """What the command line says of a run."""

    profile: str
    dry_run: bool
    full: bool
    dummy: bool
    as_json: bool


def run_ingest(where: Mapping[str, Any], service_path: str | None, asked: IngestRequest) -> None:
    """Take the project in, and say what has come of it."""
    from duvet.config.service import load_service_ingest
    from duvet.console.problems import print_problems
    from duvet.knowledge.ingest.run import ingest_project
    from duvet.knowledge.settings import IngestOptions, list_own_files, require_profile

    shown = current_settings()
    if asked.profile:
        require_profile(asked.profile)
    project = open_project(**where)
    inside = list(warn_of_parent_project(os.getcwd(), "ingest"))
    named = where["config_path"] or shown.config_path
    wanted, kept = load_service_ingest(project.tree, shown.environ, named, service_path)
    own = list_own_files(kept.path, kept.backups or "")
    wishes = IngestOptions(profile=asked.profile, dry_run=asked.dry_run, full=asked.full, dummy=asked.dummy)

    def take(store: Store | None) -> IngestOutcome:
        return ingest_project(project, store, wanted, wishes, catalogue=lambda: load_catalogue(where), own=own)

    outcome = run_with_store(kept.path, take, project.progress, full=asked.full, dry_run=asked.dry_run)
    print_problems([*inside, *outcome.problems])
    if asked.as_json:
        write_stdout(_as_json(outcome))
    elif outcome.run.dry_run:
        write_stdout(_lines(_would(outcome)).encode(errors="replace"))
    if not shown.quiet:
        about = *_summary(outcome, wants_vectors=wanted.semantic is not False), *_without_symbols(wanted)
        print_notice(_lines(about))


def _lines(words: Iterable[str]) -> str:
    return "".join(f"{escape_cell(line)}\n" for line in words)


def _as_json(outcome: IngestOutcome) -> bytes:
    from msgspec import json, to_builtins

    values = {**to_builtins(outcome.run), "added_files": outcome.added, "changed_files": outcome.changed}
    return json.format(json.encode(values)) + b"\n"


def _summary(outcome: IngestOutcome, *, wants_vectors: bool) -> Iterator[str]:
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
    from duvet.knowledge.ingest.symbols import wants_symbols

    ##= man/spec/knowledge.md#files
    ##% duvet MUST name the extra `symbols` or `semantic` when it is needed but not installed.
    if wanted.symbols is None and not wants_symbols(None):
        yield "without symbols: pip install 'duvet-cli[symbols]' brings filters by what code declares"


def _would(outcome: IngestOutcome) -> Iterator[str]:
    """The files that a run would change, a line each, and what there would be then."""
    gone = [f"{one.path} -> {one.renamed_to}" if one.renamed_to else one.path for one in outcome.run.removed]
    for verb, paths in (("add", outcome.added), ("read again", outcome.changed), ("forget", gone)):
        yield from (f"would {verb} {path}" for path in paths)
    yield f"would hold {_held(outcome.run)}"


def _held(run: IngestRun) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in run.artifact_counts.items())
    return f"{format_count(sum(run.artifact_counts.values()), 'file')} ({kinds or 'none'}) in {format_count(run.chunk_count, 'piece')}"


Result = TypeVar("Result")


def run_with_store(
    path: str, take: Callable[[Store | None], Result], progress: Progress, *, full: bool, dry_run: bool
) -> Result:
    """What comes of a run, which makes the store where there is none; one that is dry is then without."""
    try:
        return _once(path, take, dry_run=dry_run)
    except StoreDamagedError as error:
        if not can_be_replaced(path):
            raise
        if not full:
            error.hint = "`duvet ingest --full` replaces it: it holds nothing but what was taken in"
            raise
    if dry_run:
        return take(None)
    remove_store(path)
    progress.begin(f"Replacing {path}, which is damaged")
    return _once(path, take, dry_run=dry_run)


def _once(path: str, take: Callable[[Store | None], Result], *, dry_run: bool) -> Result:
    try:
        store = open_store(path, create=not dry_run)
    except (StoreMissingError, StoreOutdatedError):
        ##= man/spec/knowledge.md#storage
        ##% An ingest run MUST replace the index of an older version, and with `--full` a damaged one, but no other file
        ##% and not the index of a newer version.
        return take(None)
    try:
        return take(store)
    finally:
        store.close()
