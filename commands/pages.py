"""`duvet pages`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from duvet.console import command, problems, streams
from duvet.console.options import TEXT_TYPE, add_detail_format, add_list_format, add_trace_options
from duvet.console.project import cached_query, load_catalogue, load_page_rules, open_cache, open_project_quietly
from duvet.knowledge.pages import catalogue
from duvet.knowledge.pages.files import find_page_files
from duvet.knowledge.pages.page import decode_page_body, make_page_filter
from duvet.project.findings import PageFindings
from duvet.reports.detail import make_page_blocks
from duvet.reports.tables import Column, Listing
from duvet.text import format_count

if TYPE_CHECKING:
    from duvet.project.project import Project

_COLUMNS = (
    Column("slug", lambda row: row.slug),
    Column("created", lambda row: row.created[:10]),
    Column("tags", lambda row: ", ".join(row.tags)),
    Column("file", lambda row: row.path),
    Column("title", lambda row: row.title, wraps=True),
)

_NO_PAGES = (
    "no pages: duvet looks for Markdown files in `docs` that are not specifications, or for the files that `[[pages]]` in "
    "the configuration selects"
)


@click.group(cls=command.SubcommandGroup, default="list")
def pages() -> None:
    """Pages are Markdown notes: the files in `docs`, or the files that `[[pages]]` in the configuration selects. They
    link to each other as [[slug]], [[slug|label]] or [[slug#heading]], and to requirements as [[SPEC#SECTION]] or
    [[req:ID]]. The front matter of a page may set `slug`, `title`, `created`, `tags` and `aliases`.

    Without a COMMAND, `duvet pages` lists the pages.

    \b
    Examples:
      duvet pages
      duvet pages show decisions/0001-cache
      duvet pages check --format github
    """


@pages.command("list")
@click.option("--tag", default="", metavar="TAG", help="Only pages with this tag or a tag below it.")
@click.option("--folder", default="", metavar="FOLDER", help="Only pages whose slug is in this folder.")
@click.option("--since", default="", metavar="DATE", help="Only pages created on or after this date.")
@add_list_format
@add_trace_options
def list_pages(format: str | None, tag: str, folder: str, since: str, **options: Any) -> None:
    """List the pages, newest first.

    \b
    Examples:
      duvet pages list
      duvet pages list --tag kettle --since 2026-01-01
      duvet pages list --format json
    """
    wanted = make_page_filter(tag, folder, since)
    store = _load_pages(options)[1]
    found = list(filter(wanted, store.pages))
    streams.print_list(Listing(_COLUMNS, [catalogue.make_page_row(page) for page in found]), format)
    streams.print_remark(format_count(len(found), "page") if store.pages else _NO_PAGES)


@pages.command("show")
@click.argument("slug", type=TEXT_TYPE)
@add_detail_format
@add_trace_options
def show_page(slug: str, format: str, **options: Any) -> None:
    """Show a page, its links, and the requirements it names.

    duvet lists the links to and from the page, and the code that cites each requirement.

    \b
    Examples:
      duvet pages show decisions/0001-cache
      duvet pages show decisions/0001-cache --format markdown
    """
    project, store = _load_pages(options)
    collection = catalogue.PageCollection(store, load_catalogue(options))
    page = collection.require(slug)
    detail = catalogue.make_page_detail(collection, page, decode_page_body(project.tree.read(page.path), page.path))
    streams.print_detail(detail, make_page_blocks(detail), format)


@pages.command("check")
@problems.add_problem_format
@add_trace_options
def check(format: str | None, output: str | None, **options: Any) -> None:
    """Check links, slugs and front matter.

    Exits with 1 if it finds a problem, such as a broken link, two pages with the same slug, or an unreadable page.
    For a folder of notes without a project, use `duvet -v mcp --pages FOLDER --check`.

    \b
    Examples:
      duvet pages check
      duvet pages check --format github
    """
    rules = load_page_rules(options)
    findings = cached_query("page-problems", PageFindings, options, catalogue.find_page_problems, rules)
    written = problems.make_problem_output(format, output).write(findings.problems)
    outcome = format_count(len(findings.problems), "problem") if findings.problems else "no problems"
    pages, links = format_count(findings.pages, "page"), format_count(findings.links, "link")
    checked = f"checked {pages} with {links}: {outcome}"
    streams.print_remark(checked if findings.pages or findings.problems else _NO_PAGES)
    ##= man/spec/pages.md#checks
    ##% `duvet pages check` MUST exit with 1 if it finds a broken link, a duplicate slug or an unreadable page.
    raise Exit(streams.OK if written and not findings.problems else streams.FAILED)


def _load_pages(options: Mapping[str, Any]) -> tuple[Project, catalogue.PageStore]:
    project = open_project_quietly(open_cache(), options, load_page_rules(options))
    return project, catalogue.load_pages(project, find_page_files(project))
