"""Sections as rows, and their text."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent

from duvet.model import Section
from duvet.queries.catalogue import SpecificationCard
from duvet.queries.details import SectionRow
from duvet.queries.numbers import numbers
from duvet.trace.totals import Counted


def row_of(specification: SpecificationCard, id: str, requirements: Iterable[Counted]) -> SectionRow:
    """The row of a section with these requirements."""
    return SectionRow(
        id=id,
        title=specification.titles[id],
        full_path=specification.section_path(id),
        numbers=numbers(requirements),
    )


def section_text(section: Section) -> str:
    """The text of a section without its title and the indentation that all of it has; no page begins or ends in it."""
    ##= man/spec/show.md#details
    ##% The text of a section MUST be shown without the headers and footers of pages.
    return dedent("\n".join(section.lines)).strip("\n")
