"""Where the web shows what a project speaks of: sources, issues and published specifications."""

from __future__ import annotations

import re
from urllib.parse import quote

# Sections can be linked to in the page of an RFC and not in its text.
_RFC_AS_TEXT = re.compile(r"\A(https://www\.rfc-editor\.org/rfc/rfc\d+)\.txt\Z")
_SAFE_IN_FRAGMENTS = "/!$&'()*+,;=:@?-._~"


def fragment(anchor: str) -> str:
    """The link to a place on the page."""
    return f"#{_quoted(anchor, _SAFE_IN_FRAGMENTS)}"


def web(url: str | None) -> str:
    """The URL, where it leads to the web; nothing where it could make a browser do something else."""
    ##= man/spec/trace.md#reports
    ##% The page MUST NOT link to anything but itself and the web.
    return url if url is not None and url.lower().startswith(("http://", "https://")) else ""


def blob(base: str | None, path: str) -> str:
    """Where a source can be read, without its line; nothing where that is not known."""
    found = web(base)
    return f"{found.rstrip('/')}/{_quoted(path)}" if found else ""


def issue(base: str | None, id: str) -> str:
    """Where an issue can be read: issues may be named by number or by URL."""
    found = web(base)
    return web(id) or (f"{found.rstrip('/')}/{_quoted(id.removeprefix('#'))}" if found else "")


def published(url: str, section: str | None = None) -> str:
    """Where a specification, or a section of it, can be read."""
    page = _RFC_AS_TEXT.sub(r"\1", web(url))
    if section is None or not page:
        return page
    return "" if page.endswith(".txt") else page + fragment(section)


def _quoted(text: str, safe: str = "/") -> str:
    # A name that is no text in UTF-8 leads nowhere, and does no harm.
    return quote(text, safe=safe, errors="replace")
