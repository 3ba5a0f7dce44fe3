"""`duvet ingest`"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext, suppress
from typing import Any, TypeVar

import click
from msgspec import json, to_builtins

from duvet.config.service import load_service_ingest
from duvet.config.service_tables import SearchModel
from duvet.console import command, problems, streams
from duvet.console.options import TEXT_TYPE, add_service_option, add_trace_options
from duvet.console.project import load_catalogue, open_project
from duvet.knowledge.ingest.chunks import wants_symbols
from duvet.knowledge.ingest.run import IngestOutcome, ingest_project
from duvet.reports.cells import escape_cell
from duvet.store import database, location, records, sqlite
from duvet.text import format_count

Result = TypeVar("Result")


@click.command(cls=command.Subcommand)
@click.option(
    "--profile", type=TEXT_TYPE, metavar="NAME", help="Name of this run [default: `ingest.profile`, else local]."
)
@click.option("--dry-run", is_flag=True, help="Show the changes without making them.")
@click.option("--full", is_flag=True, help="Index unchanged files too, and replace a damaged index.")
@click.option("--dummy-embeddings", is_flag=True, help="Use dummy vectors instead of an embedding model, for tests.")
@click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Format of the result; json writes it to standard output [default: text].",
)
@add_service_option
@add_trace_options
def ingest(
    profile: str | None,
    dry_run: bool,
    full: bool,
    dummy_embeddings: bool,
    format: str,
    service_path: str | None,
    **options: Any,
) -> None:
    """duvet indexes code, tests, documents, specifications, requirements and citations, for the tools of the pack
    `knowledge`. It reads only files that have changed. The index is in .duvet/knowledge. You can delete it at any time
    and rebuild it, but the feedback in the same folder can't be rebuilt.

    The `ingest` table of the service configuration sets which files duvet indexes, and whether it indexes symbols and
    computes vectors. duvet skips files that git ignores. It also skips secrets such as .env and dependencies such as
    node_modules, unless `ingest.include` names their exact path.

    \b
    Examples:
      duvet ingest
      duvet ingest --dry-run
      duvet ingest --profile nightly --full --format json
      duvet call km-search --query "retry after a timeout"
    \f

    Each source folder is a subsystem of the project. `subsystems.yaml` can define more, with `description`,
    `criticality`, `owner`, `domain`, `tags`, `paths` and `depends_on`; see duvet.config(5).
    """
    settings = command.current_settings()
    if profile:
        location.require_profile(profile)
    # As for `duvet report`, steps are shown on a terminal only, or with `-v`.
    project = open_project(is_quiet=not (settings.verbose or sys.stderr.isatty()), **options)
    config_path = options["config_path"] or settings.config_path
    rule, paths = load_service_ingest(project.tree, settings.environ, config_path, service_path, settings.folder)
    own = location.find_store_paths(location.KnowledgeSettings("", rule, paths)).own
    request = location.IngestOptions(profile=profile or "", dry_run=dry_run, full=full, dummy=dummy_embeddings)

    def run(store: sqlite.Store | None) -> IngestOutcome:
        return ingest_project(project, store, rule, request, catalogue=lambda: load_catalogue(options), own=own)

    outcome = _run_with_store(paths.path, run, full=full, dry_run=dry_run)
    problems.print_problems(outcome.problems)
    if format == "json":
        record = {**to_builtins(outcome.run), "added_files": outcome.added, "changed_files": outcome.changed}
        streams.write_stdout(json.format(json.encode(record)) + b"\n")
    elif dry_run:
        removed = [f"{one.path} -> {one.renamed_to}" if one.renamed_to else one.path for one in outcome.run.removed]
        changes = (("add", outcome.added), ("update", outcome.changed), ("remove", removed))
        lines = [f"would {verb} {path}" for verb, paths in changes for path in paths]
        lines.append(f"would index {_describe_contents(outcome.run)}")
        streams.write_stdout("".join(f"{escape_cell(line)}\n" for line in lines).encode(errors="replace"))
    wants_vectors = rule.semantic is not False and rule.model is not SearchModel.NONE
    for line in _summarise(outcome, wants_vectors=wants_vectors):
        streams.print_remark(escape_cell(line))
    if rule.symbols is None and not wants_symbols(None):
        streams.print_remark("symbols are off: `pip install 'duvet-cli[symbols]'` adds filters by function and class")


def _summarise(outcome: IngestOutcome, *, wants_vectors: bool) -> Iterator[str]:
    run = outcome.run
    name = "" if run.dry_run else f"run {run.run_id[:12]} of profile {run.profile}, "
    if not run.dry_run:
        yield f"indexed {_describe_contents(run)}"
    changes = f"{len(outcome.added)} new, {len(outcome.changed)} changed, {len(run.removed)} removed"
    yield f"{changes}; {name}{run.duration_seconds:.2f} s"
    if wants_vectors and not run.dry_run and not outcome.vectors:
        yield "vectors are off: `pip install 'duvet-cli[semantic]'` adds search by meaning"


def _describe_contents(run: records.IngestRun) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in run.artifact_counts.items())
    files = format_count(sum(run.artifact_counts.values()), "file")
    return f"{files}{f' ({kinds})' if kinds else ''} in {format_count(run.chunk_count, 'chunk')}"


def _run_with_store(path: str, run: Callable[[sqlite.Store | None], Result], *, full: bool, dry_run: bool) -> Result:
    store = None
    try:
        with suppress(database.StoreMissingError, database.StoreOutdatedError):
            store = location.open_store(path, create=not dry_run)
        with closing(store) if store else nullcontext():
            if store and full:
                store.check()
            return run(store)
    except database.StoreDamagedError as error:
        if not location.can_be_replaced(path):
            raise
        if not full:
            error.hint = "run `duvet ingest --full` to rebuild it from the project's files"
            raise
    if dry_run:
        return run(None)
    from duvet.knowledge.backup import make_scratch_folder

    streams.print_remark(f"replacing the damaged index {escape_cell(path)}")
    with make_scratch_folder(os.path.dirname(path)) as folder:
        new = os.path.join(folder, os.path.basename(path))
        with closing(location.open_store(new, create=True)) as store:
            result = run(store)
        location.replace_store(path, new)
    return result
