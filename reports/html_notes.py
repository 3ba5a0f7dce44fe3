"""Pages as part of the report: what they say, what they link to, and what they explain."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from urllib.parse import unquote

from markupsafe import Markup

from duvet.knowledge.pages.markdown import rewritten
from duvet.knowledge.pages.notes import Notes
from duvet.knowledge.pages.records import Link
from duvet.knowledge.pages.records import Page as Note
from duvet.knowledge.pages.requirements import Named
from duvet.knowledge.pages.rows import shown_moment
from duvet.queries.catalogue import SHOWN
from duvet.queries.links import fragment
from duvet.reports.html_markdown import NOWHERE, markdown_html
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places
from duvet.reports.html_text import attribute, escaped

VIEW = "pages"
_MOST_TEXT = 1_000_000
"""So many characters of all pages are shown; what is more would make the report slow to load."""
_MOST_NAMED = 20


class NotesView:
    """Writes pages, and links to them."""

    def __init__(self, page: Page, places: Places) -> None:
        assert page.notes is not None
        self.notes: Notes = page.notes
        self.texts = page.texts
        self.places = places
        self.catalogue = page.catalogue
        self._by_path = {note.path: note for note in self.notes.pages}

    def view(self) -> Markup:
        """All pages, the newest first."""
        room, written = _MOST_TEXT, []
        for note in self.notes.pages:
            text = self.texts.get(note.path)
            fits = text is not None and len(text) <= room
            room -= len(text) if fits and text is not None else 0
            written.append(self._article(note, text if fits else None))
        return Markup("".join(written))

    def explained(self, index: int) -> str:
        """The pages that name a requirement."""
        ##= man/spec/pages.md#report
        ##% Of each requirement the report MUST name the pages that name it.
        pages = self.notes.explaining.get(index, ())
        return f"<p class=explained>Explained in {self._links(pages)}</p>" if pages else ""

    def _article(self, note: Note, text: str | None) -> str:
        ##= man/spec/pages.md#report
        ##% Where the project has pages, the report MUST show each with its title, its text, its links and what links to
        ##% it, unless they are too long together.
        spot = self.places.notes[note.slug]
        facts = " · ".join(filter(None, (note.path, shown_moment(note.created)[:10], ", ".join(note.tags))))
        body = f"<p>Its text stands in {escaped(note.path)}.</p>\n" if text is None else self._body(note, text)
        outlinks = (self.notes.by_slug[slug] for slug in self.notes.outlinks(note) if slug in self.notes.by_slug)
        backlinks = (self.notes.by_slug[slug] for slug in self.notes.backlinks(note))
        indexes = {index: None for named in self.notes.requirements(note) for index in named.indexes}
        return (
            f'<article id="{spot.anchor}">\n<h3><a href="{spot.link}">{escaped(note.title)}</a></h3>\n'
            f"<p>{escaped(facts)}</p>\n{body}"
            f"{_named('Links to', self._links(outlinks))}{_named('Linked from', self._links(backlinks))}"
            f"{_named('Requirements', self._requirements(indexes))}</article>\n"
        )

    def _body(self, note: Note, text: str) -> str:
        folder = posixpath.dirname(note.path)
        return markdown_html(rewritten(text, self._rewritten), lambda goal: self._leads(folder, goal))

    def _leads(self, folder: str, goal: str) -> str:
        ##= man/spec/pages.md#report
        ##% A link of Markdown to the file of a page MUST lead to that page.
        path = unquote(goal.partition("#")[0])
        note = self._by_path.get(posixpath.normpath(posixpath.join(folder, path))) if path else None
        return self.places.notes[note.slug].link if note else ""

    def _rewritten(self, target: str, heading: str, label: str) -> str:
        """A link as Markdown has them; as it was where it leads nowhere."""
        words = _plain(label or (f"{target}#{heading}" if heading else target))
        if target in self.notes.by_slug:
            return f"[{words}](<{self.places.notes[target].link}>)"
        link = Link(target, heading, 0, 0, 0)
        named = self.notes.references.meant(link)
        goal = self._goal(named) if named else ""
        if goal:
            return f"[{words}](<{goal}>)"
        shown = f"\\[\\[{words}\\]\\]"
        return f'[{shown}](<{NOWHERE}> "{_plain(link.written)}")' if label else shown

    def _goal(self, named: Named) -> str:
        """Where it is shown on the page; nothing where it isn't."""
        ##= man/spec/pages.md#report
        ##% A link to a specification or a section that the report shows MUST lead there.
        if named.indexes:
            return self.places.requirements[named.indexes[0]].link
        if named.specification is None:
            return ""
        if named.section is not None:
            place = self.places.sections[named.specification].get(named.section)
            return place.spot.link if place else ""
        anchor = self.places.specifications.get(self.catalogue.specifications[named.specification].id)
        return attribute(fragment(anchor)) if anchor else ""

    def _links(self, pages: Iterable[Note]) -> str:
        found = [f'<a href="{self.places.notes[one.slug].link}">{escaped(one.title)}</a>' for one in pages]
        return ", ".join([*found[:_MOST_NAMED], *([f"{len(found) - _MOST_NAMED} more"] if found[_MOST_NAMED:] else [])])

    def _requirements(self, indexes: Iterable[int]) -> str:
        return ", ".join(
            f'<a href="{self.places.requirements[one].link}">{self.catalogue.ids[one][:SHOWN]}</a>' for one in indexes
        )


def _named(name: str, links: str) -> str:
    return f"<p>{name}: {links}</p>\n" if links else ""


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(f"\\{char}" if char in '\\`*_[]<>&!|"~' else char for char in text)
