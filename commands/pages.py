"""`duvet pages`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import file_option
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.output import print_detail, print_list
from duvet.console.problems import ProblemOutput, make_problem_output
from duvet.console.project import cached_query, load_catalogue, load_page_rules, open_cache, open_project_quietly
from duvet.console.streams import FAILED, OK, print_remark
from duvet.knowledge.pages import catalogue
from duvet.knowledge.pages.files import find_page_files
from duvet.knowledge.pages.page import decode_page_body
from duvet.project.findings import PageFindings
from duvet.reports.detail import make_page_blocks
from duvet.reports.tables import Column, Listing
from duvet.text import format_count

_LIST = ("table", "plain", "json", "jsonl", "csv", "markdown")
_SHOW = ("text", "json", "markdown")
_CHECK = ("text", "json", "sarif", "github", "junit")
_FORMATS = {"list": _LIST, "show": _SHOW, "check": _CHECK}
_COLUMNS = (
    Column("slug", lambda row: row.slug),
    Column("created", lambda row: row.created[:10]),
    Column("tags", lambda row: ", ".join(row.tags)),
    Column("file", lambda row: row.path),
    Column("title", lambda row: row.title, wraps=True),
)


@click.command(cls=Subcommand)
@click.argument("action", type=click.Choice([*_FORMATS]), default="list", metavar="[list|show|check]")
@click.argument("slug", type=TEXT_TYPE, required=False, metavar="[SLUG]")
@click.option(
    "--format",
    type=click.Choice([*dict.fromkeys((*_LIST, *_SHOW, *_CHECK))]),
    help="How to write it: lists as table, plain, json, jsonl, csv or markdown, a page as text, json or markdown, "
    "problems as text, json, sarif, github or junit.",
)
@file_option("--output", help="With check, where to write problems [default: text to standard error, else `-`].")
@add_trace_options
@click.pass_context
def pages(
    ctx: click.Context, /, action: str, slug: str | None, format: str | None, output: str | None, **options: Any
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
        ctx.exit(_check_pages(options, make_problem_output(format, output)))
    project = open_project_quietly(open_cache(), options, load_page_rules(options))
    store = catalogue.load_pages(project, find_page_files(project))
    if slug is not None:
        ##= man/spec/pages.md#tools
        ##% `get_page` and `duvet pages show` MUST show the requirements that a page names, and the code that cites them.
        collection = catalogue.PageCollection(store, load_catalogue(options))
        page = collection.require(slug)
        detail = catalogue.make_page_detail(collection, page, decode_page_body(project.tree.read(page.path), page.path))
        print_detail(detail, make_page_blocks(detail), format or "text")
        return
    ##= man/spec/pages.md#tools
    ##% `list_pages` and `duvet pages` MUST list all pages, newest first.
    print_list(Listing(_COLUMNS, [catalogue.make_page_row(page) for page in store.pages]), format)
    print_remark(format_count(len(store.pages), "page"))


def _check_pages(options: Mapping[str, Any], output: ProblemOutput) -> int:
    findings = cached_query(
        "page-problems", PageFindings, options, catalogue.find_page_problems, load_page_rules(options)
    )
    written = output.write(findings.problems)
    outcome = format_count(len(findings.problems), "problem") if findings.problems else "no problems"
    pages, links = format_count(findings.pages, "page"), format_count(findings.links, "link")
    print_remark(f"checked {pages} with {links}: {outcome}")
    ##= man/spec/pages.md#checks
    ##% `duvet validate` MUST report the problems of pages, and `duvet pages check` MUST exit with 1 for broken links,
    ##% duplicate slugs and unreadable pages.
    return OK if written and not findings.problems else FAILED
