"""Pages in the HTML report, with Markdown rendered safely."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from markupsafe import Markup
from pyromark import Markdown, Options

from duvet.errors import MarkdownError
from duvet.knowledge.pages.catalogue import PageCollection, format_moment
from duvet.knowledge.pages.links import LinkSyntax, PageLink, rewrite_wikilinks
from duvet.knowledge.pages.page import Page as Note, PageReference
from duvet.queries.records import make_fragment_link
from duvet.reports.html.anchors import ReportData, ReportPlaces, escape_attribute, escape_html
from duvet.specs.markdown import MarkdownEvent, walk_markdown
from duvet.trace.catalogue import SHORT_ID_DIGITS

LinkLookup = Callable[[str], str]
"""Returns the escaped link within the report for a link to a file; empty without one."""

NOWHERE = "nowhere:"  # A placeholder target for links that become plain text with a tooltip.
_HEAD_END = "</tr></thead>\n<tbody>\n"
_PIECES = {
    "Paragraph": ("<p>", "</p>"),
    "Item": ("<li>", "</li>"),
    "Emphasis": ("<em>", "</em>"),
    "Strong": ("<strong>", "</strong>"),
    "TableHead": ("<thead><tr>", _HEAD_END),
    "TableRow": ("<tr>", "</tr>\n"),
}
_CELL, _HEAD_CELL = ("<td>", "</td>"), ('<th scope="col">', "</th>")
_BREAKS = {"SoftBreak": "\n", "HardBreak": "<br>\n", "Rule": "<hr>\n"}
_SHIFT = 3  # The heading level of page titles; headings in pages are below it.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def render_markdown(text: str, leads: LinkLookup = lambda _: "") -> str:
    parser = Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_TASKLISTS)
    try:
        return "".join(_render_events(walk_markdown(parser, text), leads))
    except MarkdownError:
        return f"<pre>{escape_html(text)}</pre>\n"


def _render_events(events: Iterable[MarkdownEvent], leads: LinkLookup) -> Iterator[str]:
    ends: list[str] = []
    html: list[str] | None = None
    for kind, tag, value, _, _ in events:
        if kind in _BREAKS:
            yield _BREAKS[kind]
        elif kind == "Html" and html is not None:
            html.append(value)
        elif tag == "HtmlBlock":
            # A comment may have several lines, and the parser reports each of them alone.
            shown = _COMMENT.sub("", "".join(html or ()))
            if shown.strip():
                yield f"<p>{escape_html(shown)}</p>\n"
            html = [] if kind == "Start" else None
        elif kind == "Start":
            if tag == "TableCell":
                begin, end = _HEAD_CELL if ends[-1] == _HEAD_END else _CELL
            else:
                begin, end = _filter_tags(tag, value, leads)
            ends.append(end)
            yield begin
        elif kind == "End":
            yield ends.pop()
        else:
            yield _render_inline(kind, value)


def _render_inline(kind: str, value: Any) -> str:
    if kind == "Code":
        return f"<code>{escape_html(value)}</code>"
    if kind == "TaskListMarker":
        return "\u2611 " if value else "\u2610 "
    ##= man/spec/pages.md#in-the-html-report
    ##% The HTML report MUST escape the HTML tags of a page. A page in the HTML report MUST NOT link to files outside
    ##% the report.
    return escape_html(_COMMENT.sub("", value) if kind == "InlineHtml" else value)


def _filter_tags(tag: str, value: Any, leads: LinkLookup) -> tuple[str, str]:
    match tag:
        case "Heading":
            level = min(int(value["level"][1:]) + _SHIFT, 6)
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
            return "<table>\n", "</tbody></table>\n"
        case "Link":
            goal = value["dest_url"]
            if goal == NOWHERE:
                return f'<span title="{escape_attribute(value["title"])}">', "</span>"
            href = escape_attribute(goal) if goal.startswith(("#", "https://", "http://", "mailto:")) else leads(goal)
            return (f'<a href="{href}">', "</a>") if href else ("", "")
    return _PIECES.get(tag, ("", ""))


_MOST_TEXT = 1_000_000  # Maximum number of characters of all pages; more would make the report slow to load.
_MOST_NAMED = 20


class PageWriter:
    def __init__(self, page: ReportData, places: ReportPlaces) -> None:
        assert page.notes is not None
        self.notes: PageCollection = page.notes
        self.texts = page.texts
        self.places = places
        self.catalogue = page.catalogue

    def view(self) -> Markup:
        room, written = _MOST_TEXT, []
        for note in self.notes.pages:
            text = self.texts.get(note.path)
            fits = text is not None and len(text) <= room
            room -= len(text) if fits and text is not None else 0
            written.append(self._write_article(note, text if fits else None))
        return Markup("".join(written))

    def explained(self, index: int) -> str:
        pages = self.notes.explaining.get(index, ())
        return f"<p class=explained>Explained in {self._write_links(pages)}</p>" if pages else ""

    def _write_article(self, note: Note, text: str | None) -> str:
        ##= man/spec/pages.md#in-the-html-report
        ##% The HTML report MUST show each page with its text, its outlinks and its backlinks, and list, for each
        ##% requirement, the pages that link to it.
        spot = self.places.notes[note.slug]
        facts = " · ".join(filter(None, (note.path, format_moment(note.created)[:10], ", ".join(note.content.tags))))
        if text is None:
            body = f"<p>The text is left out to keep this report small: see {escape_html(note.path)}.</p>\n"
        else:

            def find_link(goal: str) -> str:
                page = self.notes.find_target(note, PageLink(goal, LinkSyntax.MARKDOWN))
                return self.places.notes[page.slug].link if page else ""

            body = render_markdown(rewrite_wikilinks(text, partial(self._rewrite_wikilink, note)), find_link)
        outlinks = (self.notes.by_slug[slug] for slug in self.notes.outlinks(note) if slug in self.notes.by_slug)
        backlinks = (self.notes.by_slug[slug] for slug in self.notes.backlinks(note))
        indexes = {index: None for named in self.notes.requirements(note) for index in named.indexes}
        requirements = ", ".join(
            f'<a href="{self.places.requirements[one].link}">{self.catalogue.ids[one][:SHORT_ID_DIGITS]}</a>'
            for one in indexes
        )
        named = {
            "Links to": self._write_links(outlinks),
            "Linked from": self._write_links(backlinks),
            "Requirements": requirements,
        }
        ends = "".join(f"<p>{name}: {links}</p>\n" for name, links in named.items() if links)
        return (
            f'<article id="{spot.anchor}">\n<h3><a href="{spot.link}">{escape_html(note.title)}</a></h3>\n'
            f"<p>{escape_html(facts)}</p>\n{body}{ends}</article>\n"
        )

    def _rewrite_wikilink(self, note: Note, link: PageLink, label: str) -> str:
        words = _escape_markdown(label or link.written)
        if link.syntax is LinkSyntax.EXTERNAL:
            return f"[{words}](<{link.written}>)"
        page = self.notes.find_target(note, link)
        if page:
            return f"[{words}](<{self.places.notes[page.slug].link}>)"
        named = self.notes.find_reference(note, link)
        goal = self._find_target_link(named) if named else ""
        if goal:
            return f"[{words}](<{goal}>)"
        shown = f"\\[\\[{words}\\]\\]"
        return f'[{shown}](<{NOWHERE}> "{_escape_markdown(link.written)}")' if label else shown

    def _find_target_link(self, named: PageReference) -> str:
        if named.indexes:
            return self.places.requirements[named.indexes[0]].link
        if named.specification is None:
            return ""
        if named.section is not None:
            place = self.places.sections[named.specification].get(named.section)
            return place.spot.link if place else ""
        anchor = self.places.specifications.get(self.catalogue.specifications[named.specification].id)
        return escape_attribute(make_fragment_link(anchor)) if anchor else ""

    def _write_links(self, pages: Iterable[Note]) -> str:
        found = [f'<a href="{self.places.notes[one.slug].link}">{escape_html(one.title)}</a>' for one in pages]
        return ", ".join([*found[:_MOST_NAMED], *([f"{len(found) - _MOST_NAMED} more"] if found[_MOST_NAMED:] else [])])


def _escape_markdown(text: str) -> str:
    return "".join(f"\\{char}" if char in '\\`*_[]<>&!|"~' else char for char in text)
