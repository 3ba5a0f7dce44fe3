"""The articles of the page, one for each specification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec import Struct

from duvet.model import Specification
from duvet.queries.links import published
from duvet.reports.html_names import title_of
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places, SectionPlace
from duvet.reports.html_references import References
from duvet.reports.html_sections import Sections
from duvet.trace.records import Coverage
from duvet.trace.states import Status
from duvet.trace.totals import Total

if TYPE_CHECKING:
    from duvet.reports.html_notes import NotesView


_MOST_ELEMENTS = 12_000
"""So many the articles have at first; what is more a browser makes when it is asked for."""
_MOST_IN_ALL = 19_000
"""With what is around the articles."""
_HEAD = 10
"""So many an article has at the most without its sections."""


class Content(Struct, frozen=True):
    """A section with requirements."""

    link: Markup
    title: str
    open: int
    requirements: int


class Article(Struct, frozen=True):
    """A specification and its sections."""

    anchor: str
    specification: Specification
    link: str
    total: Total | None
    contents: list[Content]
    left_out: int
    """So many sections are not shown."""
    sections: Markup
    is_later: bool
    """Whether it is no part of the page before it is asked for."""


class Articles:
    """Writes the articles one after another, for they are most of the page."""

    def __init__(
        self,
        page: Page,
        places: Places,
        references: References,
        sums: dict[str, Total],
        notes: NotesView | None = None,
    ) -> None:
        self.page = page
        self.places = places
        self.sections = Sections(page, places, references, notes)
        self.sums = sums
        self.room = _MOST_ELEMENTS

    def written(self, around: int) -> Iterator[Article]:
        """The specifications in the order of reports, those without requirements last, on a page with other elements."""
        self.room = min(_MOST_ELEMENTS, _MOST_IN_ALL - around)
        coverages = self.page.finished.trace.coverages
        for number in sorted(
            range(len(coverages)), key=lambda number: coverages[number].specification.id not in self.sums
        ):
            yield self._article(coverages[number], number)

    def _article(self, coverage: Coverage, number: int) -> Article:
        specification = coverage.specification
        found = [(specification.by_id[id], place) for id, place in self.places.sections[number].items()]
        contents = [self._content(specification, index, place) for index, place in found if place.requirements]
        elements = _HEAD + 3 * len(contents)
        written: list[str] = []
        for index, place in found:
            text, size = self.sections.written(coverage, index, place)
            written.append(text)
            elements += size
        ##= man/spec/page.md#size
        ##% A browser MUST NOT have to make more than 20,000 elements at first, however many requirements and problems
        ##% there are.
        is_later = elements > self.room
        if not is_later:
            self.room -= elements
        return Article(
            self.places.specifications[specification.id],
            specification,
            published(specification.url),
            self.sums.get(specification.id),
            contents,
            len(specification.sections) - len(found),
            Markup(_held("".join(written)) if is_later else "".join(written)),
            is_later,
        )

    def _content(self, specification: Specification, index: int, place: SectionPlace) -> Content:
        cards = self.page.catalogue.requirements
        gaps = sum(cards[number].status is not Status.DONE for number in place.requirements)
        return Content(Markup(place.spot.link), title_of(specification, index), gaps, len(place.requirements))


def _held(text: str) -> str:
    """What is in an element that keeps all of it as text, where there can't be another one."""
    ##= man/spec/page.md#size
    ##% Nothing of the page MUST be out of reach without scripts.
    return text.replace("<noscript>", "<div class=refs>").replace("</noscript>", "</div>")
