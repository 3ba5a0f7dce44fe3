"""The page for people: one file that needs neither a network nor a script to be read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from duvet.queries.links import fragment
from duvet.reports.html_articles import Articles
from duvet.reports.html_header import header_view
from duvet.reports.html_json import island, settings
from duvet.reports.html_names import Names
from duvet.reports.html_overview import overview_view
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places, places_of
from duvet.reports.html_problems import problem_view
from duvet.reports.html_references import References
from duvet.reports.html_rows import requirement_rows
from duvet.reports.html_shell import shell
from duvet.reports.html_sources import Sources
from duvet.reports.html_states import CITED
from duvet.templates import environment
from duvet.trace.totals import Total, totals

if TYPE_CHECKING:
    from duvet.reports.html_notes import NotesView

_MOST_PROBLEMS = 400
"""So many are part of the page before they are asked for."""

# HTML can't carry these characters at all, whatever is done to escape them.
_FORBIDDEN = bytes([*range(9), 11, 12, *range(14, 32), 127])
_ALLOWED = bytes.maketrans(_FORBIDDEN, b"?" * len(_FORBIDDEN))
_FORBIDDEN_BEYOND_ASCII = re.compile(
    rb"\xc2[\x80-\x9f]|\xef(?:\xb7[\x90-\xaf]|\xbf[\xbe\xbf])|[\xf0-\xf4][\x8f\x9f\xaf\xbf]\xbf[\xbe\xbf]"
)
_FORBIDDEN_BEGINNINGS = (0xC2, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4)
"""Most text has none of these bytes, and looking for one is quick."""


def render(page: Page, out: BinaryIO) -> None:
    """Write the page, piece by piece."""
    out.writelines(map(_encoded, environment().get_template("page/page.html.j2").generate(_shown(page))))


def _encoded(piece: str) -> bytes:
    ##= man/spec/page.md#size
    ##% The page MUST be valid HTML, whatever is in it.
    data = piece.encode(errors="replace").translate(_ALLOWED)
    if any(byte in data for byte in _FORBIDDEN_BEGINNINGS):
        return _FORBIDDEN_BEYOND_ASCII.sub(b"?", data)
    return data


def _shown(page: Page) -> dict[str, object]:
    counted = totals(page.finished.requirements)
    sums = {total.specification.id: total for total in counted if total.specification and total.level is None}
    references, places, names = References(page), places_of(page), Names(page)
    notes = None if page.notes is None else _notes_view(page, places)
    return {
        **shell(),
        "page": page,
        "header": header_view(page),
        "overview": overview_view(page, counted, places, names),
        "links": {id: fragment(anchor) for id, anchor in places.specifications.items()},
        "cited": CITED,
        "problems": [problem_view(problem, references) for problem in page.problems],
        "problems_are_later": len(page.problems) > _MOST_PROBLEMS,
        "articles": Articles(page, places, references, sums, notes).written,
        "rows": requirement_rows(page, places, references, names),
        "files": Sources(page, places, references, names).lines(),
        "settings": settings(page),
        "others": _without_requirements(page, sums),
        "notes": None if notes is None else notes.view(),
        "notes_id": places.notes_view,
        "json": None if page.embedded is None else island(page.embedded),
    }


def _notes_view(page: Page, places: Places) -> NotesView:
    from duvet.reports.html_notes import NotesView

    return NotesView(page, places)


def _without_requirements(page: Page, sums: dict[str, Total]) -> list[tuple[str, str]]:
    cited = (coverage.specification for coverage in page.finished.trace.coverages)
    return [(one.id, one.name) for one in cited if one.id not in sums]
