"""The articles of the page, one for each specification."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup
from msgspec import Struct

from duvet.model import Specification
from duvet.queries.links import published
from duvet.reports.html_marks import Marking, Owner
from duvet.reports.html_names import title_of
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places, SectionPlace
from duvet.reports.html_references import References
from duvet.reports.html_requirements import Items
from duvet.reports.html_text import attribute, escaped
from duvet.trace.records import Coverage
from duvet.trace.states import Status
from duvet.trace.totals import Total

_MOST_ELEMENTS = 12_000
"""So many the articles have at the start; what is more a browser shows when it is asked for."""
_MOST_IN_ALL = 19_000
_HEAD = 10


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
    sections: Markup
    is_later: bool
    """Whether it is no part of the page before it is asked for."""


class Articles:
    """Writes the articles one after another, for they are most of the page."""

    def __init__(self, page: Page, places: Places, references: References, sums: dict[str, Total]) -> None:
        self.page = page
        self.places = places
        self.items = Items(page, places, references)
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
            text, marks = self._section(coverage, index, place)
            written.append(text)
            elements += marks + _elements(place)
        is_later = elements > self.room
        if not is_later:
            self.room -= elements
        return Article(
            self.places.specifications[number],
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

    def _section(self, coverage: Coverage, index: int, place: SectionPlace) -> tuple[str, int]:
        """A section, and how many marks are in its text."""
        section = coverage.specification.sections[index]
        marking = Marking(section, self._owners(place))
        text = marking.text(coverage.sections.get(index, {}))
        anchor, link = place.spot
        out = published(coverage.specification.url, section.id)
        begun = (
            f'<section class=part id="{anchor}"{_real_id(place, section.id)} '
            f'style="--lines:{len(section.lines) + 2 * len(place.requirements)}">\n'
            f'<h3><a href="{link}">{escaped(title_of(coverage.specification, index))}</a>'
        )
        outside = f' <a class=out href="{attribute(out)}">published</a>' if out else ""
        shown = f"<pre>{text}</pre>\n" if text else ""
        return f"{begun}{outside}</h3>\n{shown}{self.items.of(place)}</section>\n", marking.marks

    def _owners(self, place: SectionPlace) -> dict[int, Owner]:
        owners: dict[int, Owner] = {}
        for number in place.requirements:
            requirement = self.page.finished.requirements[number]
            anchor, link = self.places.requirements[number]
            owner = Owner(requirement.state, link, anchor.rpartition("/")[2])
            owners.update(dict.fromkeys(requirement.ids, owner))
        return owners


def _real_id(place: SectionPlace, id: str) -> str:
    return "" if place.name.endswith(f"/{id}") else f' data-id="{attribute(id)}"'


def _elements(place: SectionPlace) -> int:
    """So many elements a section has at the most, without the marks in its text."""
    return 6 + 4 * len(place.requirements) + (4 if place.others else 0)


def _held(text: str) -> str:
    """What is in an element that keeps all of it as text, where there can't be another one."""
    return text.replace("<noscript>", "<div class=refs>").replace("</noscript>", "</div>")
