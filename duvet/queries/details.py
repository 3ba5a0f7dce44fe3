"""Details of one requirement, section, specification, file or citation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from duvet.model import Specification
from duvet.queries.citations import CitationReader
from duvet.queries.records import (
    Detail,
    RequirementDetail,
    RequirementRow,
    SectionDetail,
    SpecificationDetail,
    count_by_level,
    count_requirements,
    format_section_text,
    make_published_url,
    make_requirement_row,
    make_row_fields,
    make_section_row,
)
from duvet.queries.references import FileRef, RequirementRef, ResolvedReference, SectionRef, SpecRef
from duvet.trace.catalogue import Catalogue, RequirementCard, SpecificationCard

_NEIGHBOURS = 2


class DetailMaterial(Struct, frozen=True):
    """What details are made of."""

    catalogue: Catalogue
    citations: CitationReader
    load: Callable[[SpecificationCard], Specification]
    """Loads a specification, for its text."""


def make_detail(material: DetailMaterial, found: ResolvedReference) -> Detail:
    """The details of what a reference means."""
    match found:
        case RequirementRef(indexes):
            return _requirement(material, indexes)
        case SectionRef(specification, section):
            return _section(material, specification, section)
        case SpecRef(specification):
            return _specification(material.catalogue, specification)
        case FileRef(_, indexes):
            return material.citations.file(indexes)
    return material.citations.file(found.indexes)


def _requirement(material: DetailMaterial, indexes: Sequence[int]) -> RequirementDetail:
    catalogue = material.catalogue
    ##= man/spec/show.md#details
    ##% For a requirement that occurs in several places, duvet MUST show the worst status and list all places.
    worst = min(indexes, key=lambda index: catalogue.requirements[index].state)
    card = catalogue.requirements[worst]
    specification = catalogue.specification_of(card)
    cited = [number for index in indexes for number in catalogue.requirements[index].citations]
    ##= man/spec/show.md#details
    ##% `duvet show` MUST show a requirement with the reason for its status and its citations by type, and a citation
    ##% with its place, its problems and the code around it.
    return RequirementDetail(
        **make_row_fields(catalogue, card),
        id=card.id,
        specification_name=specification.name,
        status_reason=card.state.meaning,
        excuse=catalogue.excuses.get(worst),
        url=make_published_url(specification.url, card.section) or None,
        places=_rows(catalogue, indexes),
        citations=material.citations.by_type(cited),
        neighbours=_rows(catalogue, _neighbours(catalogue, worst)),
        cited_together=_rows(catalogue, _cited_together(catalogue, indexes, cited)),
    )


def _rows(catalogue: Catalogue, indexes: Iterable[int]) -> tuple[RequirementRow, ...]:
    return tuple(make_requirement_row(catalogue, catalogue.requirements[index]) for index in indexes)


def _neighbours(catalogue: Catalogue, index: int) -> list[int]:
    card = catalogue.requirements[index]
    around = range(max(index - _NEIGHBOURS, 0), min(index + _NEIGHBOURS + 1, len(catalogue.requirements)))
    return [near for near in around if near != index and _spot(catalogue.requirements[near]) == _spot(card)]


def _spot(card: RequirementCard) -> tuple[int, str]:
    return (card.specification, card.section)


def _cited_together(catalogue: Catalogue, indexes: Sequence[int], cited: Iterable[int]) -> list[int]:
    found = {index for number in cited for index in catalogue.citations[number].requirements}
    return sorted(found.difference(indexes))


def _section(material: DetailMaterial, index: int, id: str) -> SectionDetail:
    catalogue = material.catalogue
    specification = catalogue.specifications[index]
    cards = [card for card in catalogue.requirements if _spot(card) == (index, id)]
    loaded = material.load(specification)
    section = loaded.sections[loaded.by_id[id]]
    others = [
        number
        for number, card in enumerate(catalogue.citations)
        if (card.specification, card.section) == (index, id) and not card.requirements
    ]
    return SectionDetail(
        id=id,
        title=section.title,
        content=format_section_text(section),
        full_path=specification.section_path(id),
        specification=specification.id,
        specification_name=specification.name,
        target=f"{specification.locator}#{id}",
        file_path=specification.path,
        line_number=loaded.data.count(b"\n", 0, section.heading[0]) + 1,
        url=make_published_url(specification.url, id) or None,
        numbers=count_requirements(cards),
        requirements=tuple(make_requirement_row(catalogue, card) for card in cards),
        citations=material.citations.by_type(others),
    )


def _specification(catalogue: Catalogue, index: int) -> SpecificationDetail:
    specification = catalogue.specifications[index]
    cards = [card for card in catalogue.requirements if card.specification == index]
    by_section: dict[str, list[RequirementCard]] = {section.id: [] for section in specification.sections}
    for card in cards:
        by_section[card.section].append(card)
    return SpecificationDetail(
        id=specification.id,
        name=specification.name,
        url=specification.url,
        description=specification.description,
        full_path=specification.full_path,
        target=specification.locator,
        file_path=specification.path,
        numbers=count_requirements(cards),
        levels=count_by_level(cards),
        sections=tuple(make_section_row(specification, id, found) for id, found in by_section.items()),
    )
