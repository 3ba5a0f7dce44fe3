"""The table of all requirements, a line of HTML each."""

from __future__ import annotations

from markupsafe import Markup

from duvet.model import Annotation, Kind
from duvet.reports.html_filters import level_name
from duvet.reports.html_names import Names
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places
from duvet.reports.html_references import References
from duvet.reports.html_states import LOOKS
from duvet.reports.html_text import escaped
from duvet.text import one_line


def requirement_rows(page: Page, places: Places, references: References, names: Names) -> Markup:
    """The requirements, those that are furthest from done first, then those that bind most."""
    ##= man/spec/page.md#requirements
    ##% All requirements MUST be listed in one table, those furthest from done first, and of these the most binding
    ##% first.
    cards = page.catalogue.requirements
    written: list[str] = []
    for index in sorted(range(len(cards)), key=lambda index: (cards[index].state, -cards[index].level)):
        card = cards[index]
        look = LOOKS[card.state]
        cited = [references.citations[number] for number in card.citations]
        kinds = [one.kind for one in cited]
        written.append(
            f'<tr class={look.mark}><td><a href="{places.requirements[index].link}">{look.badge}</a>'
            f"<td>{level_name(card.level)}<td>{names.section(card.specification, card.section)}"
            f"<td>{escaped(card.text)}<td class=n>{kinds.count(Kind.CITATION) + kinds.count(Kind.IMPLICATION)}"
            f"<td class=n>{kinds.count(Kind.TEST)}<td>{_notes(cited)}\n"
        )
    return Markup("".join(written))


def _notes(annotations: list[Annotation]) -> str:
    found: dict[str, None] = {}
    for one in annotations:
        if one.feature or one.tracking_issue or one.tags:
            named = [("f", one.feature), ("i", one.tracking_issue), *[("t", tag) for tag in one.tags]]
            found.update((f"<i class={kind}>{escaped(one_line(name))}</i>", None) for kind, name in named if name)
    return " ".join(found)
