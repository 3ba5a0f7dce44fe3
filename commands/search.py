"""`duvet search`"""

from __future__ import annotations

import os
from typing import Any

import click
from click.exceptions import Exit
from msgspec.structs import replace

from duvet.console import command, filters, project, streams
from duvet.console.options import add_limit_option, add_list_format, add_trace_options
from duvet.errors import QueryError
from duvet.queries.records import describe_error_notice, require_requirements
from duvet.queries.search import SearchQuery, describe_answer, search_requirements
from duvet.reports import tables
from duvet.reports.cells import escape_cell
from duvet.trace.locations import ProjectFiles
from duvet.tree.cache import Cache
from duvet.tree.files import DiskTree

_COLUMNS = (*tables.REQUIREMENT_COLUMNS, replace(tables.TEXT_COLUMN, marks=lambda row: row.marks))


@click.command(cls=command.Subcommand)
@click.argument("words", type=command.ReferenceType(), metavar="QUERY...", nargs=-1, required=True)
@filters.add_spec_option
@filters.add_section_option
@filters.add_level_option
@filters.add_status_option
@filters.add_kind_option
@click.option("--raw", is_flag=True, help="Read QUERY as an SQLite FTS5 expression: AND, OR, NOT, NEAR(…), prefix*.")
@click.option("--semantic", is_flag=True, help="Also search by meaning.")
@add_limit_option(20)
@add_list_format
@add_trace_options
def search(words: tuple[str, ...], raw: bool, semantic: bool, limit: int, format: str | None, **options: Any) -> None:
    """The search covers requirement texts, section titles and specification names.
    Each result contains every word in any form (wait, waits, waiting). If no requirement contains every word, the
    results contain some of the words. Put phrases in double quotes.

    QUERY can also be the first digits of a requirement id, a name such as FR-001, a file, FILE:LINE, a specification, a
    section or SPEC#SECTION. The requirements that it names come first.

    --semantic also finds requirements with the same meaning in other words. It runs on your machine and needs
    pip install 'duvet-cli[semantic]'.

    In JSON, `score` says how well a requirement matches (null if QUERY only names it), and `marks` contains the offsets
    of the matching words. In plain and Markdown lists, these words are between `**`. Exits with 1 if nothing is found.

    \b
    Examples:
      duvet search retry token
      duvet search '"connection error"' --level must --status uncited
      duvet search src/server.rs:3
      duvet search --semantic "how long may a client wait"
      duvet search --raw 'title : validation NOT text : token' --format json
    """
    choice, options = filters.split_filter(options)
    if raw and semantic:
        raise click.UsageError("--raw and --semantic can't be used together")
    query = SearchQuery(" ".join(words), choice, raw, limit)
    embedder = None
    if semantic:
        from duvet.config.service import load_service_ingest
        from duvet.queries.embeddings import find_embedder

        user = command.current_settings()
        rule, _ = load_service_ingest(DiskTree(), user.environ, user.config_path, folder=user.folder)
        embedder = find_embedder(rule.model, required=True)
    catalogue = require_requirements(project.load_catalogue(options))
    files = ProjectFiles(DiskTree(), os.getcwd().replace(os.sep, "/"))
    try:
        answer = search_requirements(catalogue, query, project.open_cache() or Cache(), files, embedder)
    except QueryError as error:
        raise streams.make_usage_error(error.message, error.hint) from error
    streams.print_list(tables.Listing(_COLUMNS, answer.rows), format)
    for remark in (describe_error_notice(catalogue), *describe_answer(answer)):
        streams.print_remark(remark)
    if len(answer.rows) < answer.total:
        streams.print_remark(f"{len(answer.rows)} of {answer.total} shown; use --limit 0 to show all")
    if not answer.rows:
        from duvet.queries.references import suggest_similar

        hint = escape_cell(suggest_similar(catalogue, query.query, files))
        streams.print_remark(f"nothing found; {hint}" if hint else "nothing found")
        raise Exit(streams.FAILED)
