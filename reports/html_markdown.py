"""Markdown as HTML that can do no harm: no tags of its author, no scripts, nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from duvet.reports.html_text import attribute, escaped

if TYPE_CHECKING:
    from pyromark import Markdown

Leads = Callable[[str], str]
"""Where a link to a file leads on the page, escaped; nothing where it leads nowhere."""

NOWHERE = "nowhere:"
"""What is written as a link to this is none; its title tells what was meant."""
_HEAD_END = "</tr></thead>\n<tbody>\n"
_PIECES = {
    "Paragraph": ("<p>", "</p>"),
    "Item": ("<li>", "</li>"),
    "Emphasis": ("<em>", "</em>"),
    "Strong": ("<strong>", "</strong>"),
    "HtmlBlock": ("<p>", "</p>\n"),
    "TableHead": ("<thead><tr>", _HEAD_END),
    "TableRow": ("<tr>", "</tr>\n"),
}
_CELL, _HEAD_CELL = ("<td>", "</td>"), ('<th scope="col">', "</th>")
_BREAKS = {"SoftBreak": "\n", "HardBreak": "<br>\n", "Rule": "<hr>\n"}
_SHIFT = 3
"""Titles of pages are headings of level 3."""
_LOWEST = 6
_SAFE = ("#", "https://", "http://", "mailto:")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def markdown_html(text: str, leads: Leads = lambda _: "") -> str:
    """The text as HTML."""
    return "".join(_written(_parser().events(text), leads))


@cache
def _parser() -> Markdown:
    from pyromark import Markdown, Options

    return Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_TASKLISTS)


def _written(events: Any, leads: Leads) -> Iterator[str]:
    ends: list[str] = []
    html: list[str] | None = None
    for event in events:
        if isinstance(event, str):
            yield _BREAKS.get(event, "")
            continue
        ((kind, value),) = event.items()
        if kind == "Html" and html is not None:
            html.append(value)
        elif value == "HtmlBlock":
            # A comment may go over several lines, each of which is told alone.
            yield _tagged("".join(html or ()))
            html = [] if kind == "Start" else None
        elif kind == "Start":
            begin, end = _cell(ends) if value == "TableCell" else _tags(value, leads)
            ends.append(end)
            yield begin
        elif kind == "End":
            yield ends.pop()
        else:
            yield _said(kind, value)


def _said(kind: str, value: Any) -> str:
    if kind == "Code":
        return f"<code>{escaped(value)}</code>"
    if kind == "TaskListMarker":
        return "\u2611 " if value else "\u2610 "
    ##= man/spec/pages.md#report
    ##% Tags in a page MUST be shown as text, and links that lead neither into the report nor to the web MUST NOT
    ##% be links.
    return escaped(_COMMENT.sub("", value) if kind == "InlineHtml" else value)


def _tagged(html: str) -> str:
    """What stands among tags, as text."""
    ##= man/spec/pages.md#report
    ##% Comments in a page MUST NOT be shown.
    shown = _COMMENT.sub("", html)
    begin, end = _PIECES["HtmlBlock"]
    return f"{begin}{escaped(shown)}{end}" if shown.strip() else ""


def _cell(ends: list[str]) -> tuple[str, str]:
    return _HEAD_CELL if ends[-1] == _HEAD_END else _CELL


def _tags(tag: Any, leads: Leads) -> tuple[str, str]:
    """What a piece begins and ends with."""
    if isinstance(tag, str):
        return _PIECES.get(tag, ("", ""))
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
        case "Table":
            ##= man/spec/pages.md#report
            ##% Tables and lists of tasks in a page MUST be shown as such.
            return "<table>\n", "</tbody></table>\n"
        case "Link":
            return _link(value, leads)
    return "", ""


def _link(link: Any, leads: Leads) -> tuple[str, str]:
    goal = link["dest_url"]
    if goal == NOWHERE:
        ##= man/spec/pages.md#report
        ##% A link with words of its own that leads nowhere MUST be shown as none, with its words and with what it names.
        return f'<span title="{attribute(link["title"])}">', "</span>"
    href = attribute(goal) if goal.startswith(_SAFE) else leads(goal)
    return (f'<a href="{href}">', "</a>") if href else ("", "")
