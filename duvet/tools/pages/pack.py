"""The tools about pages."""

from __future__ import annotations

from duvet.tools.pages.ask import ASK
from duvet.tools.pages.get_connections import GET_CONNECTIONS
from duvet.tools.pages.get_page import GET_PAGE
from duvet.tools.pages.list_pages import LIST_PAGES
from duvet.tools.pages.search import SEARCH
from duvet.tools.tool import Pack

PAGES = Pack(
    "pages", (LIST_PAGES, GET_PAGE, SEARCH, ASK, GET_CONNECTIONS), "Notes that link to one another and to requirements"
)
