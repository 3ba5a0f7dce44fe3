"""What the template shows of specifications, made one section after another as the page is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup
from msgspec import Struct

from duvet.model import Format, Specification
from duvet.queries.links import fragment, published
from duvet.reports.html_marks import Owner, marked
from duvet.reports.html_page import Page
from duvet.reports.html_places import Places
from duvet.reports.html_references import Groups, References
from duvet.reports.html_states import LOOKS
from duvet.trace.records import Coverage
from duvet.trace.requirements import Requirement


class RequirementView(NamedTuple):
    """A requirement in the list below its section; a tuple, which Jinja takes apart at once."""

    anchor: str
    href: str
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

    anchor: str
    specification: Specification
    link: str
    contents: list[tuple[str, str, int]]
    """The links, titles and numbers of requirements of the sections that have any."""
    sections: Iterator[SectionView]
    left_out: int


class _Shared(Struct, frozen=True):
    """What all parts of the page share."""

    page: Page
    places: Places
    references: References


Stated = dict[int, list[int]]
"""The requirements of a specification by the index of their section."""


def specification_views(page: Page, places: Places, references: References) -> Iterator[SpecificationView]:
    """The specifications in the order of reports, those without requirements last."""
    shared = _Shared(page, places, references)
    coverages = page.finished.trace.coverages
    stated: list[Stated] = [{} for _ in coverages]
    for index, card in enumerate(page.catalogue.requirements):
        section = page.finished.requirements[index].matches[0].section
        stated[card.specification].setdefault(section, []).append(index)
    for number in sorted(range(len(coverages)), key=lambda number: not stated[number]):
        yield _specification(number, stated[number], shared)


def _specification(number: int, stated: Stated, shared: _Shared) -> SpecificationView:
    coverage = shared.page.finished.trace.coverages[number]
    specification = coverage.specification
    # Much of what is cited here and there is a large standard: without requirements, only what is cited is shown.
    whole = stated or shared.page.whole_text
    shown = range(len(specification.sections)) if whole else sorted(coverage.sections)
    anchors = shared.places.sections[number]
    names = {index: anchors[specification.sections[index].id] for index in shown}
    return SpecificationView(
        shared.places.specifications[number],
        specification,
        published(specification.url),
        [(fragment(names[index]), title_of(specification, index), len(stated[index])) for index in sorted(stated)],
        _sections(coverage, names, stated, shared),
        len(specification.sections) - len(names),
    )


def title_of(specification: Specification, index: int) -> str:
    """The section's title with its number, which the titles of IETF text lack."""
    section = specification.sections[index]
    kind, _, number = section.id.partition("-")
    if specification.format is not Format.IETF or kind not in ("section", "appendix"):
        return section.title or section.id
    return f"{'Appendix ' if kind == 'appendix' else ''}{number}. {section.title}".rstrip()


def _sections(coverage: Coverage, names: dict[int, str], stated: Stated, shared: _Shared) -> Iterator[SectionView]:
    requirements = shared.page.finished.requirements
    others = _others(coverage, [requirements[index] for found in stated.values() for index in found])
    for section_index, anchor in names.items():
        section = coverage.specification.sections[section_index]
        owners: dict[int, Owner] = {}
        views: list[RequirementView] = []
        for index in stated.get(section_index, ()):
            requirement = requirements[index]
            owners.update(dict.fromkeys(requirement.ids, Owner(requirement.state, shared.places.requirements[index])))
            views.append(_requirement(requirement, index, shared))
        yield SectionView(
            anchor,
            fragment(anchor),
            title_of(coverage.specification, section_index),
            published(coverage.specification.url, section.id),
            len(section.lines) + 3 * len(views),
            Markup(marked(section, coverage.sections.get(section_index, {}), owners)),
            views,
            shared.references.groups(others.get(section_index, ())),
        )


def _requirement(requirement: Requirement, index: int, shared: _Shared) -> RequirementView:
    look = LOOKS[requirement.state]
    return RequirementView(
        shared.places.requirements[index],
        shared.places.links[index],
        look.mark,
        look.badge,
        requirement.level.name if requirement.level else "",
        requirement.text,
        shared.references.remarks(requirement.ids),
        shared.references.groups(requirement.related),
    )


def _others(coverage: Coverage, requirements: list[Requirement]) -> dict[int, list[int]]:
    """By the index of a section, what refers to it and to no requirement."""
    known = {id for one in requirements for ids in (one.ids, one.related) for id in ids}
    found: dict[int, list[int]] = {}
    for match in coverage.matches:
        ids = [id for id in match.ids if id not in known]
        if ids:
            found.setdefault(match.section, []).extend(ids)
    return {index: sorted(ids) for index, ids in found.items()}
