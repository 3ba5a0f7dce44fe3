"""Runs of `duvet pages`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.knowledge.pages.files import find_pages
from duvet.knowledge.pages.findings import PageFindings
from duvet.knowledge.pages.notes import Notes
from duvet.knowledge.pages.parsing import body_of
from duvet.knowledge.pages.rows import page_detail, page_row
from duvet.knowledge.pages.shelf import Shelf, shelf_of
from duvet.project import Project
from duvet.reports.listing import Column, Listing
from duvet.terminal.catalogues import read_catalogue
from duvet.terminal.exit_codes import FAILED, OK
from duvet.terminal.listings import look, pour_list
from duvet.terminal.notes import said_of_pages
from duvet.terminal.options import open_cache
from duvet.terminal.problem_formats import Answer, tell_problems
from duvet.terminal.questions import open_quietly, remembered
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say
from duvet.text import plural

_COLUMNS = (
    Column("slug", lambda row: row.slug),
    Column("created", lambda row: row.created[:10]),
    Column("tags", lambda row: ", ".join(row.tags)),
    Column("file", lambda row: row.path),
    Column("title", lambda row: row.title, wraps=True),
)


def list_pages(where: Mapping[str, Any], format: str | None) -> int:
    """Write the pages, the newest first; the exit code."""
    ##= man/spec/pages.md#command
    ##% `duvet pages` MUST list all pages, the newest first, and say how many there are.
    _, shelf = _read(where)
    pour_list(Listing(_COLUMNS, [page_row(page) for page in shelf.pages]), format)
    if not settings().quiet:
        say(f"{plural(len(shelf.pages), 'page')}\n")
    return OK


def show_page(where: Mapping[str, Any], slug: str, format: str) -> int:
    """Write a page; the exit code."""
    ##= man/spec/pages.md#command
    ##% `duvet pages show` MUST show a page with its text, its links in both directions, the requirements that it names
    ##% and the code that cites these.
    project, shelf = _read(where)
    notes = Notes(shelf, read_catalogue(where))
    page = notes.require(slug)
    detail = page_detail(notes, page, body_of(project.tree.read(page.path), page.path))
    if format == "json":
        from duvet.reports.json_document import document

        pour(document(detail))
        return OK
    from duvet.reports.show_page import blocks

    if format == "markdown":
        from duvet.reports import show_markdown

        pour(show_markdown.render(blocks(detail)))
        return OK
    from duvet.reports import show_text

    pour(show_text.render(blocks(detail), look()))
    return OK


def check_pages(where: Mapping[str, Any], answer: Answer) -> int:
    """Say what is wrong with pages; the exit code."""
    from duvet.knowledge.pages.problems import findings_of

    found = remembered("page-problems", PageFindings, where, findings_of, said_of_pages(where))
    written = tell_problems(found.problems, answer)
    if not settings().quiet:
        outcome = plural(len(found.problems), "problem") if found.problems else "no problems"
        say(f"checked {plural(found.pages, 'page')} with {plural(found.links, 'link')}: {outcome}\n")
    ##= man/spec/pages.md#command
    ##% `duvet pages check` MUST list links that lead nowhere, slugs that clash and pages that can't be read, and MUST exit
    ##% with 1 if there are any.
    return OK if written and not found.problems else FAILED


def _read(where: Mapping[str, Any]) -> tuple[Project, Shelf]:
    project = open_quietly(open_cache(settings()), where, said_of_pages(where))
    return project, shelf_of(project, find_pages(project))
