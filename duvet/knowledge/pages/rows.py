"""Pages as people and programs get them."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from duvet.knowledge.pages.named import Requirement, requirements_of
from duvet.knowledge.pages.notes import Notes
from duvet.knowledge.pages.records import Page


class PageRow(Struct, frozen=True, kw_only=True):
    """A page in a list."""

    slug: str
    title: str
    path: str
    created: str
    """As `2026-05-31T12:00:00Z`; empty where nothing tells."""
    tags: tuple[str, ...]


class PageDetail(PageRow, frozen=True, kw_only=True):
    """All there is to say of one."""

    content: str
    outlinks: tuple[str, ...]
    backlinks: tuple[str, ...]
    requirements: tuple[Requirement, ...]


def page_row(page: Page) -> PageRow:
    """The row of a page."""
    return PageRow(slug=page.slug, title=page.title, path=page.path, created=shown_moment(page.created), tags=page.tags)


def page_detail(notes: Notes, page: Page, content: str) -> PageDetail:
    """A page with its text and what it is linked with."""
    return PageDetail(
        slug=page.slug,
        title=page.title,
        path=page.path,
        created=shown_moment(page.created),
        tags=page.tags,
        content=content,
        outlinks=notes.outlinks(page),
        backlinks=notes.backlinks(page),
        requirements=requirements_of(notes, page) or (),
    )


def shown_moment(seconds: float) -> str:
    """A moment as people write it; nothing for the one that stands for none, and for those that no calendar has."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""
