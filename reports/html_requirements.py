"""The list of requirements below the text of their section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duvet.queries.reasons import shortfall
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places, SectionPlace
from duvet.reports.html_references import References
from duvet.reports.html_states import CITED, LOOKS
from duvet.reports.html_text import escaped
from duvet.reports.not_applicable import why
from duvet.text import plural, shortened

if TYPE_CHECKING:
    from duvet.reports.html_notes import NotesView


_WORDS = 56
"""The text is above the list."""


class Items:
    """Writes what is below the text of sections."""

    def __init__(self, page: Page, places: Places, references: References, notes: NotesView | None = None) -> None:
        self.cards = page.catalogue.requirements
        self.excuses = page.catalogue.excuses
        self.places = places
        self.references = references
        self.notes = notes

    def of(self, section: SectionPlace) -> str:
        """The requirements of a section, and what else is cited there."""
        written = ""
        if section.requirements:
            written = f"<ul class=requirements>\n{''.join(map(self._requirement, section.requirements))}</ul>\n"
        return f"{written}{self._others(section)}" if section.others else written

    def _requirement(self, index: int) -> str:
        ##= man/spec/page.md#requirements
        ##% Each requirement MUST be listed below its section with its state, its level and the number of its citations of
        ##% each kind.
        card = self.cards[index]
        look = LOOKS[card.state]
        anchor, link = self.places.requirements[index]
        level = f" {card.level.name}" if card.level else ""
        words = escaped(shortened(card.text, _WORDS))
        begun = f'<li id="{anchor}" class={look.mark}><a href="{link}">{look.badge}</a>{level} {words}'
        held = self._lacks(index) + (self.notes.explained(index) if self.notes else "")
        if not card.citations:
            return f"{begun}<noscript>{held}</noscript>\n" if held else f"{begun}\n"
        ##= man/spec/page.md#size
        ##% The number of elements that a browser makes at first MUST NOT depend on the number of citations.
        counts, lists = self.references.counts(card.citations), self.references.lists(card.citations)
        return f"{begun} {counts}<noscript>{held}{lists}</noscript>\n"

    def _lacks(self, index: int) -> str:
        if index in self.excuses:
            return f"<p class=lacks>{escaped(why(self.excuses[index]))}</p>"
        ##= man/spec/page.md#references
        ##% What a state does not tell MUST be said: that tests or code refer to a part only, or that an exception has no
        ##% reason.
        card = self.cards[index]
        words = shortfall(card.state, [self.references.citations[number].kind for number in card.citations])
        return f"<p class=lacks>{words}</p>" if words else ""

    def _others(self, section: SectionPlace) -> str:
        anchor, link = section.cited
        counts = f"{plural(len(section.others), 'reference')} to text that is no requirement"
        return (
            f'<ul class=cited><li id="{anchor}" class={CITED.mark}><a href="{link}">{CITED.badge}</a> {counts}'
            f"<noscript>{self.references.lists(section.others)}</noscript>\n</ul>\n"
        )
