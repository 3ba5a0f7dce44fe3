"""What specifications and their sections are called on the page."""

from __future__ import annotations

from duvet.model import Format, Specification
from duvet.reports.html_page import Page
from duvet.reports.html_text import escaped
from duvet.text import one_line


class Names:
    """Names of sections with their specifications, made once for all that stand in them."""

    def __init__(self, page: Page) -> None:
        self._specifications = [coverage.specification for coverage in page.finished.trace.coverages]
        self._found: dict[tuple[int, str], str] = {}

    def section(self, specification: int, id: str) -> str:
        """`RFC 8446, 4.1.2`, escaped and on one line."""
        found = self._found.get((specification, id))
        if found is None:
            one = self._specifications[specification]
            words = number_of(one, id) or title_of(one, one.by_id[id])
            found = self._found[specification, id] = escaped(one_line(f"{one.name}, {words}"))
        return found


def title_of(specification: Specification, index: int) -> str:
    """The section's title with its number, which the titles of IETF text lack."""
    section = specification.sections[index]
    number = number_of(specification, section.id)
    return f"{number}. {section.title}".rstrip() if number else section.title or section.id


def number_of(specification: Specification, id: str) -> str:
    """The number of a section of IETF text: `4.1`, `Appendix A`."""
    kind, _, number = id.partition("-")
    if specification.format is not Format.IETF or kind not in ("section", "appendix"):
        return ""
    return f"Appendix {number}" if kind == "appendix" else number
