"""Markdown as HTML that can do no harm: no tags of its author, no scripts, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from duvet.reports.html_text import attribute, escaped

if TYPE_CHECKING:
    from pyromark import Markdown

_PLAIN = {"Paragraph": "p", "Item": "li", "Emphasis": "em", "Strong": "strong"}
_BREAKS = {"SoftBreak": "\n", "HardBreak": "<br>\n", "Rule": "<hr>\n"}
_SHIFT = 3
"""Titles of pages are headings of level 3."""
_LOWEST = 6
_SAFE = ("#", "https://", "http://", "mailto:")


def markdown_html(text: str) -> str:
    """The text as HTML."""
    return "".join(_written(_parser().events(text)))


@cache
def _parser() -> Markdown:
    from pyromark import Markdown

    return Markdown()


def _written(events: Any) -> Iterator[str]:
    ends: list[str] = []
    for event in events:
        if isinstance(event, str):
            yield _BREAKS.get(event, "")
            continue
        ((kind, value),) = event.items()
        if kind == "Start":
            begin, end = _tags(value)
            ends.append(end)
            yield begin
        elif kind == "End":
            yield ends.pop()
        elif kind == "Code":
            yield f"<code>{escaped(value)}</code>"
        else:
            ##= man/spec/pages.md#report
            ##% Tags in a page MUST be shown as text, and links that lead neither into the report nor to the web MUST NOT
            ##% be links.
            yield escaped(value)


def _tags(tag: Any) -> tuple[str, str]:
    """What a piece begins and ends with."""
    if isinstance(tag, str):
        name = _PLAIN.get(tag)
        return (f"<{name}>", f"</{name}>") if name else ("<p>", "</p>\n") if tag == "HtmlBlock" else ("", "")
    ((kind, value),) = tag.items()
    match kind:
        case "Heading":
            level = min(int(value["level"][1:]) + _SHIFT, _LOWEST)
            return f"<h{level}>", f"</h{level}>\n"
        case "List":
            name = "ul" if value is None else "ol"
            begin = f' start="{value}"' if value not in (None, 1) else ""
            return f"<{name}{begin}>\n", f"</{name}>\n"
        case "CodeBlock":
            return "<pre>", "</pre>\n"
        case "BlockQuote":
            return "<blockquote>\n", "</blockquote>\n"
        case "Link" if value["dest_url"].startswith(_SAFE):
            return f'<a href="{attribute(value["dest_url"])}">', "</a>"
    return "", ""
