"""`duvet pages`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_files
from duvet.console.lists import detect_table_look, print_list
from duvet.console.options import (
    TEXT_TYPE,
    add_trace_options,
    cached_query,
    load_catalogue,
    open_cache,
    open_project_quietly,
)
from duvet.console.page_rules import load_page_rules
from duvet.console.problems import ProblemOutput, make_problem_output, output_problems
from duvet.console.settings import current_settings
from duvet.console.streams import FAILED, OK, print_notice, write_stdout
from duvet.knowledge.pages.catalogue import (
    PageCollection,
    PageFindings,
    PageStore,
    find_page_problems,
    load_pages,
    make_page_detail,
    make_page_row,
)
from duvet.knowledge.pages.files import find_page_files
from duvet.knowledge.pages.page import decode_page_body
from duvet.project.project import Project
from duvet.reports.tables import Column, Listing, encode_json
from duvet.text import format_count

_LIST = ("table", "plain", "json", "jsonl", "csv", "markdown")
_SHOW = ("text", "json", "markdown")
_CHECK = ("text", "json", "sarif", "github", "junit")
_FORMATS = {"list": _LIST, "show": _SHOW, "check": _CHECK}


@click.command(cls=Subcommand)
@click.argument("action", type=click.Choice([*_FORMATS]), default="list", metavar="[list|show|check]")
@click.argument("slug", type=TEXT_TYPE, required=False, metavar="[SLUG]")
@click.option(
    "--format",
    "format",
    type=click.Choice([*dict.fromkeys((*_LIST, *_SHOW, *_CHECK))]),
    help="How to write it: lists as table, plain, json, jsonl, csv or markdown, a page as text, json or markdown, "
    "problems as text, json, sarif, github or junit.",
)
@click.option(
    "--output",
    metavar="FILE",
    shell_complete=complete_files,
    help="With check, where to write problems [default: text to standard error, else `-`].",
)
@add_trace_options
@click.pass_context
def pages(
    ctx: click.Context, /, action: str, slug: str | None, format: str | None, output: str | None, **where: Any
) -> None:
    """Pages are notes in Markdown: those in `docs`, or those that `[[pages]]` in the configuration names. They link to
    each other as [[slug]], [[slug|label]] or [[slug#heading]], and to requirements as [[SPEC#SECTION]] or [[req:ID]].
    Their front matter may say `slug`, `title`, `created` and `tags`.

    `list` lists them, the newest first; `show` shows one with its links in both directions, the requirements that it
    names and the code that cites these; `check` lists links that lead nowhere, slugs that clash and pages that can't be
    read, and exits with 1 if there are any.

    \b
    Examples:
      duvet pages
      duvet pages show decisions/0001-cache
      duvet pages check --format github
    """
    if (action == "show") != (slug is not None):
        raise click.UsageError("`show` takes the slug of a page" if slug is None else "only `show` takes a slug", ctx)
    if format is not None and format not in _FORMATS[action]:
        raise click.UsageError(f"`{action}` writes {', '.join(_FORMATS[action])}", ctx)
    if output is not None and action != "check":
        raise click.UsageError("--output goes with `check`", ctx)
    if action == "check":
        ctx.exit(check_pages(where, make_problem_output(format, output)))
    if slug is not None:
        ctx.exit(show_page(where, slug, format or "text"))
    ctx.exit(list_pages(where, format))


_COLUMNS = (
    Column("slug", lambda row: row.slug),
    Column("created", lambda row: row.created[:10]),
    Column("tags", lambda row: ", ".join(row.tags)),
    Column("file", lambda row: row.path),
    Column("title", lambda row: row.title, wraps=True),
)


def list_pages(where: Mapping[str, Any], format: str | None) -> int:
    """Write the pages, the newest first; the exit code."""
    ##= man/spec/pages.md#tools
    ##% `list_pages` and `duvet pages` MUST list all pages, the newest first.
    _, shelf = _read(where)
    print_list(Listing(_COLUMNS, [make_page_row(page) for page in shelf.pages]), format)
    if not current_settings().quiet:
        print_notice(f"{format_count(len(shelf.pages), 'page')}\n")
    return OK


def show_page(where: Mapping[str, Any], slug: str, format: str) -> int:
    """Write a page; the exit code."""
    ##= man/spec/pages.md#tools
    ##% `get_page` and `duvet pages show` MUST show the requirements that a page names, and the code that cites them.
    project, shelf = _read(where)
    notes = PageCollection(shelf, load_catalogue(where))
    page = notes.require(slug)
    detail = make_page_detail(notes, page, decode_page_body(project.tree.read(page.path), page.path))
    if format == "json":
        write_stdout(encode_json(detail))
        return OK
    from duvet.reports.detail import make_page_blocks

    if format == "markdown":
        from duvet.reports import detail as show_markdown

        write_stdout(show_markdown.render_blocks_markdown(make_page_blocks(detail)))
        return OK
    from duvet.reports import detail as show_text

    write_stdout(show_text.render_blocks_text(make_page_blocks(detail), detect_table_look()))
    return OK


def check_pages(where: Mapping[str, Any], answer: ProblemOutput) -> int:
    """Say what is wrong with pages; the exit code."""
    found = cached_query("page-problems", PageFindings, where, find_page_problems, load_page_rules(where))
    written = output_problems(found.problems, answer)
    if not current_settings().quiet:
        outcome = format_count(len(found.problems), "problem") if found.problems else "no problems"
        print_notice(
            f"checked {format_count(found.pages, 'page')} with {format_count(found.links, 'link')}: {outcome}\n"
        )
    ##= man/spec/pages.md#checks
    ##% `duvet validate` MUST report the problems of pages, and `duvet pages check` MUST exit with 1 for broken links,
    ##% duplicate slugs and unreadable pages.
    return OK if written and not found.problems else FAILED


def _read(where: Mapping[str, Any]) -> tuple[Project, PageStore]:
    project = open_project_quietly(open_cache(current_settings()), where, load_page_rules(where))
    return project, load_pages(project, find_page_files(project))
