"""The sections of an article: their text, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duvet.queries.links import published
from duvet.reports.html_marks import Marking, Owner
from duvet.reports.html_names import title_of
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places, SectionPlace
from duvet.reports.html_references import References
from duvet.reports.html_requirements import Items
from duvet.reports.html_text import attribute, escaped
from duvet.trace.records import Coverage

if TYPE_CHECKING:
    from duvet.reports.html_notes import NotesView


class Sections:
    """Writes sections."""

    def __init__(self, page: Page, places: Places, references: References, notes: NotesView | None = None) -> None:
        self.stated = page.finished.requirements
        self.places = places
        self.items = Items(page, places, references, notes)

    def written(self, coverage: Coverage, index: int, place: SectionPlace) -> tuple[str, int]:
        """A section, and how many elements it has at the most."""
        section = coverage.specification.sections[index]
        marking = Marking(section, self._owners(place))
        text = marking.text(coverage.sections.get(index, {}))
        out = published(coverage.specification.url, section.id)
        anchor, link = place.spot
        real_id = "" if place.name.endswith(f"/{section.id}") else f' data-id="{attribute(section.id)}"'
        height = len(section.lines) + 2 * len(place.requirements)
        outside = f' <a class=out href="{attribute(out)}">published</a>' if out else ""
        shown = f"<pre>{text}</pre>\n" if text else ""
        written = (
            f'<section class=part id="{anchor}"{real_id} style="--lines:{height}">\n'
            f'<h3><a href="{link}">{escaped(title_of(coverage.specification, index))}</a>{outside}</h3>\n'
            f"{shown}{self.items.of(place)}</section>\n"
        )
        return written, marking.marks + _elements(place)

    def _owners(self, place: SectionPlace) -> dict[int, Owner]:
        """The requirements by the ids of the annotations that state them."""
        owners: dict[int, Owner] = {}
        for number in place.requirements:
            requirement = self.stated[number]
            anchor, link = self.places.requirements[number]
            owner = Owner(requirement.state, link, anchor.rpartition("/")[2])
            owners.update(dict.fromkeys(requirement.ids, owner))
        return owners


def _elements(place: SectionPlace) -> int:
    """So many elements a section has at the most, without the marks in its text."""
    return 6 + 4 * len(place.requirements) + (4 if place.others else 0)
