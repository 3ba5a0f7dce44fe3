"""What the template shows of specifications, made one section after another as the page is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from markupsafe import Markup
from msgspec import Struct

from duvet.model import Format, Specification
from duvet.queries.links import fragment, published
from duvet.reports.html_marks import Owner, marked
from duvet.reports.html_references import Groups, References
from duvet.reports.html_states import LOOKS
from duvet.trace.finished import Finished
from duvet.trace.records import Coverage
from duvet.trace.requirements import Requirement

_ID_DIGITS = 12


class RequirementView(NamedTuple):
    """A requirement in the list below its section; a tuple, which Jinja takes apart at once."""

    anchor: str
    mark: str
    badge: str
    level: str
    text: str
    remarks: Markup | None
    references: Groups


class SectionView(Struct, frozen=True):
    """A section, its text marked, and what refers to it."""

    anchor: str
    href: str
    title: str
    link: str
    height: int
    text: Markup
    requirements: list[RequirementView]
    others: Groups
    """What refers to text that is no requirement."""


class SpecificationView(Struct, frozen=True):
    """A specification and its sections."""

    specification: Specification
    link: str
    contents: list[tuple[str, str, int]]
    """The links, titles and numbers of requirements of the sections that have any."""
    sections: Iterator[SectionView]
    left_out: int


class _Anchors:
    """Names for places on the page, no two of them alike."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._counts = dict.fromkeys(taken, 1)

    def new(self, wanted: str) -> str:
        """The name wanted, with a number where it is taken."""
        name = wanted
        while name in self._counts:
            self._counts[name] += 1
            name = f"{name}-{self._counts[name]}"
        self._counts[name] = 1
        return name


class _Page(Struct, frozen=True):
    """What all parts of the page share."""

    references: References
    anchors: _Anchors


Stated = dict[int, list[Requirement]]
"""The requirements of a specification by the index of their section."""


def specification_views(report: Finished, references: References) -> Iterator[SpecificationView]:
    """The specifications in the order of reports, those without requirements last."""
    page = _Page(references, _Anchors(coverage.specification.id for coverage in report.trace.coverages))
    stated: dict[str, Stated] = {}
    for requirement in report.requirements:
        sections = stated.setdefault(requirement.specification.id, {})
        sections.setdefault(requirement.matches[0].section, []).append(requirement)
    for coverage in sorted(report.trace.coverages, key=lambda one: one.specification.id not in stated):
        yield _specification(coverage, stated.get(coverage.specification.id, {}), page)


def _specification(coverage: Coverage, stated: Stated, page: _Page) -> SpecificationView:
    specification = coverage.specification
    # Much of what is cited here and there is a large standard: without requirements, only what is cited is shown.
    shown = range(len(specification.sections)) if stated else sorted(coverage.sections)
    names = {index: page.anchors.new(_section_anchor(specification, index)) for index in shown}
    return SpecificationView(
        specification,
        published(specification.url),
        [(fragment(names[index]), title_of(specification, index), len(stated[index])) for index in sorted(stated)],
        _sections(coverage, names, stated, page),
        len(specification.sections) - len(names),
    )


def _section_anchor(specification: Specification, index: int) -> str:
    # An id that is written in Markdown may have white space in it, and an anchor may not.
    return f"{specification.id}/{'-'.join(specification.sections[index].id.split())}"


def title_of(specification: Specification, index: int) -> str:
    """The section's title with its number, which the titles of IETF text lack."""
    section = specification.sections[index]
    kind, _, number = section.id.partition("-")
    if specification.format is not Format.IETF or kind not in ("section", "appendix"):
        return section.title or section.id
    return f"{'Appendix ' if kind == 'appendix' else ''}{number}. {section.title}".rstrip()


def _sections(coverage: Coverage, names: dict[int, str], stated: Stated, page: _Page) -> Iterator[SectionView]:
    others = _others(coverage, stated)
    for index, anchor in names.items():
        section = coverage.specification.sections[index]
        owners: dict[int, Owner] = {}
        views: list[RequirementView] = []
        for requirement in stated.get(index, ()):
            name = page.anchors.new(f"r-{requirement.id[:_ID_DIGITS]}")
            owners.update(dict.fromkeys(requirement.ids, Owner(requirement.state, name)))
            views.append(_requirement(requirement, name, page.references))
        yield SectionView(
            anchor,
            fragment(anchor),
            title_of(coverage.specification, index),
            published(coverage.specification.url, section.id),
            len(section.lines) + 3 * len(views),
            Markup(marked(section, coverage.sections.get(index, {}), owners)),
            views,
            page.references.groups(others.get(index, ())),
        )


def _requirement(requirement: Requirement, anchor: str, references: References) -> RequirementView:
    look = LOOKS[requirement.state]
    return RequirementView(
        anchor,
        look.mark,
        look.badge,
        requirement.level.name if requirement.level else "",
        requirement.text,
        references.remarks(requirement.ids),
        references.groups(requirement.related),
    )


def _others(coverage: Coverage, stated: Stated) -> dict[int, list[int]]:
    """By the index of a section, what refers to it and to no requirement."""
    known = {id for found in stated.values() for one in found for ids in (one.ids, one.related) for id in ids}
    found: dict[int, list[int]] = {}
    for match in coverage.matches:
        ids = [id for id in match.ids if id not in known]
        if ids:
            found.setdefault(match.section, []).extend(ids)
    return {index: sorted(ids) for index, ids in found.items()}
