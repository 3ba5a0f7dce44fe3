"""The page for people: one file that needs neither a network nor a script to be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from markupsafe import Markup
from msgspec import Struct

from duvet.model import Problem
from duvet.queries.links import fragment
from duvet.reports.html_header import header_view
from duvet.reports.html_overview import overview_view
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places
from duvet.reports.html_references import References
from duvet.reports.html_rows import requirement_rows
from duvet.reports.html_shell import shell
from duvet.reports.html_states import CITED
from duvet.reports.html_views import specification_views
from duvet.templates import environment
from duvet.trace.finished import Finished
from duvet.trace.totals import Total, totals

_BUFFERED = 500
"""The pieces of the page that are written at once."""

# HTML can't carry these characters at all, whatever is done to escape them.
_FORBIDDEN = bytes([*range(9), 11, 12, *range(14, 32), 127])
_ALLOWED = bytes.maketrans(_FORBIDDEN, b"?" * len(_FORBIDDEN))


class ProblemView(Struct, frozen=True):
    """A problem with its places linked."""

    problem: Problem
    place: Markup
    notes: tuple[tuple[Markup, str], ...]


def render(page: Page, out: BinaryIO) -> None:
    """Write the page, piece by piece."""
    stream = environment().get_template("page/page.html.j2").stream(_shown(page), json=_embedded(page))
    stream.enable_buffering(_BUFFERED)
    out.writelines(piece.encode(errors="replace").translate(_ALLOWED) for piece in stream)


def _embedded(page: Page) -> Markup | None:
    if page.embedded is None:
        return None
    return Markup(page.embedded.replace(b"<", rb"\u003c").decode(errors="replace"))


def _shown(page: Page) -> dict[str, object]:
    report, problems = page.finished, page.problems
    counted = totals(report.requirements)
    references = References(report)
    places = Places(report, page.catalogue)
    names = [coverage.specification.id for coverage in report.trace.coverages]
    links = {id: fragment(name) for id, name in zip(names, places.specifications, strict=True)}
    return {
        **shell(),
        "page": page,
        "header": header_view(page),
        "overview": overview_view(page, counted, places),
        "links": links,
        "cited": CITED,
        "problems": [_problem(problem, references) for problem in problems],
        "specifications": specification_views(page, places, references),
        "rows": requirement_rows(page.catalogue, places),
        "files": Markup(),
        "settings": Markup("{}"),
        "others": _without_requirements(report, counted),
    }


def _without_requirements(report: Finished, counted: Iterable[Total]) -> list[tuple[str, str]]:
    stating = {total.specification.id for total in counted if total.specification is not None}
    specifications = (coverage.specification for coverage in report.trace.coverages)
    return [(one.id, one.name) for one in specifications if one.id not in stating]


def _problem(problem: Problem, references: References) -> ProblemView:
    path = problem.path
    notes = ((references.place(path, note.place), note.label) for note in problem.notes)
    return ProblemView(problem, references.place(path, problem.place) if path else Markup(), tuple(notes))
