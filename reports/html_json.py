"""JSON within the page, where no character may end the element that holds it."""

from __future__ import annotations

import re

import msgspec
from markupsafe import Markup

from duvet.queries.links import web
from duvet.reports.html_page import Page

_UNSAFE = re.compile(r"[<>&\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufffe\uffff]")


def island(data: bytes) -> Markup:
    """The same JSON with what means something in HTML, or cannot be there, written as escapes."""
    text = data.decode(errors="replace")
    return Markup(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def settings(page: Page) -> Markup:
    """What the scripts need to know."""
    styles = [
        {
            "label": one.label,
            "meta": one.meta,
            "content": one.content,
            "first": one.first,
            "last": one.last,
            "kind": one.kind.name.lower(),
        }
        for one in page.comments
    ]
    return island(msgspec.json.encode({"issueLink": web(page.finished.issue_link) or None, "styles": styles}))
