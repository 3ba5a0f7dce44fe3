"""Pages as resources: `duvet:///pages/{slug}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from duvet.errors import NotFoundError
from duvet.server.resources.templates import TEMPLATES, UriTemplate, match_values
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import PageRequest, ResultPage, make_result_page
from duvet.trace.locations import RESOURCE_SCHEME

if TYPE_CHECKING:
    from duvet.tools.packs import Registry
    from duvet.tools.pages import PageListRow

PAGE_MIME_TYPE = "text/markdown"
_PREFIX = f"{RESOURCE_SCHEME}/pages/"
PAGE_TEMPLATE = UriTemplate(f"{_PREFIX}{{slug}}", "page", "Page", "Text of a page, as Markdown")


def list_templates(registry: Registry) -> Sequence[UriTemplate]:
    """Return the templates of the resources that clients see."""
    return [PAGE_TEMPLATE] if registry.has_only_pages else TEMPLATES if registry.has_trace else []


def is_page_uri(uri: str) -> bool:
    return uri.startswith(_PREFIX)


def make_page_uri(slug: str) -> str:
    return _PREFIX + quote(slug)


def list_page_resources(context: ProjectSnapshot, cursor: str | None) -> tuple[list[PageListRow], ResultPage]:
    from duvet.tools.pages import PageListRow, load_page_collection

    request = PageRequest(("pages",), cursor, None, context.page_size)
    pages = context.read(load_page_collection).pages
    return make_result_page(
        pages, request, key=lambda page: page.slug, row=lambda page: PageListRow(page.slug, page.title)
    )


def read_page_resource(context: ProjectSnapshot, uri: str) -> str:
    from duvet.tools.pages import load_page_collection, read_page_body

    ##= man/spec/pages.md#folders-of-notes
    ##% The server MUST answer `resources/read` of `duvet:///pages/SLUG` with the text of the page.
    page = context.read(load_page_collection).require(unquote(uri.removeprefix(_PREFIX)))
    text = read_page_body(context, page)
    if text is None:
        raise NotFoundError(f"Page '{page.slug}' not found", hint="the page was just removed")
    return text


def have_pages_changed(before: ProjectSnapshot, after: ProjectSnapshot) -> bool:
    """Return True if the list of pages has changed since a client has read it."""
    from duvet.tools.pages import load_page_collection

    if not before.has_read(load_page_collection):
        return False
    old, new = ([(page.slug, page.title) for page in one.read(load_page_collection).pages] for one in (before, after))
    return old != new


def complete_slug(context: ProjectSnapshot, prefix: str) -> list[str]:
    from duvet.tools.pages import load_page_collection

    pages = context.read(load_page_collection)
    return list(match_values(((page.slug, page.title) for page in pages.pages), prefix))
