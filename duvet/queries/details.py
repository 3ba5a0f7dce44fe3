"""Details of a requirement, section, specification, file or citation, with its code, links and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from duvet.model import Kind, Specification
from duvet.queries import records
from duvet.queries.gaps import explain_state
from duvet.queries.references import RequirementRef, ResolvedReference, SectionRef, SpecRef
from duvet.trace.catalogue import Catalogue, CitationCard, NotApplicable, RequirementCard, SpecificationCard, State
from duvet.trace.locations import ProjectFiles, find_last_line, read_comment
from duvet.trace.records import Total, compute_level_totals


class CitationWithCode(Struct, frozen=True, kw_only=True):
    id: str  # `file:line`.
    full_path: str | None  # The path of its resource, below the first requirement that it refers to.
    file_path: str
    line_number: int
    type: str
    target: str
    specification: str | None
    section: str | None
    section_title: str | None
    quote: str
    reason: str | None
    feature: str | None
    tracking_issue: str | None
    valid: bool
    error: str | None
    warning: str | None
    comment_text: str  # The lines of the comment without indentation.
    context_start: int  # The number of the first line.
    context_lines: tuple[str, ...]
    url: str | None
    issue_url: str | None


class CitationDetail(CitationWithCode, frozen=True, kw_only=True):
    requirements: tuple[records.RequirementRow, ...]


class FileDetail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="file"):
    file_path: str
    url: str | None
    citations: tuple[CitationDetail, ...]


class RequirementDetail(records.RequirementRow, frozen=True, kw_only=True, tag_field="kind", tag="requirement"):
    id: str  # The BLAKE3 of its text in hex.
    specification_name: str
    status_reason: str
    not_implemented: tuple[str, ...]  # The words that need code.
    not_tested: tuple[str, ...]  # The words that need tests.
    excuse: NotApplicable | None  # Present if the configuration makes the requirement not applicable.
    url: str | None  # The URL of its section.
    places: tuple[records.RequirementRow, ...]
    citations: tuple[CitationWithCode, ...]
    neighbours: tuple[records.RequirementRow, ...]  # The requirements right before and after it in its section.
    cited_together: tuple[records.RequirementRow, ...]  # Other requirements of the same citations.


class RequirementCounts(Struct, frozen=True, kw_only=True):
    requirements: int
    uncited: int
    to_do: int
    in_progress: int
    needs_code: int
    needs_tests: int
    excepted: int
    done: int
    not_applicable: int
    applicable: int  # Without those that are excepted or not applicable.
    percent: int | None  # The share of applicable requirements that are done.


class LevelCounts(RequirementCounts, frozen=True, kw_only=True):
    level: str | None


class SectionRow(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    full_path: str
    numbers: RequirementCounts


class SectionDetail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="section"):
    id: str
    title: str
    content: str
    full_path: str
    specification: str
    specification_name: str
    target: str
    file_path: str
    line_number: int
    url: str | None
    numbers: RequirementCounts
    requirements: tuple[records.RequirementRow, ...]
    citations: tuple[CitationWithCode, ...]  # The citations of its title, and of sentences that are not requirements.


class SpecificationDetail(Struct, frozen=True, kw_only=True, tag_field="kind", tag="specification"):
    id: str
    name: str
    url: str
    description: str
    full_path: str
    target: str  # The part of its targets before `#`.
    file_path: str
    numbers: RequirementCounts
    levels: tuple[LevelCounts, ...]
    sections: tuple[SectionRow, ...]


Detail = RequirementDetail | SectionDetail | SpecificationDetail | FileDetail


def count_requirements(found: Iterable[RequirementCard]) -> RequirementCounts:
    return RequirementCounts(**_make_fields(compute_level_totals(found)[-1]))


def count_by_level(found: Iterable[RequirementCard]) -> tuple[LevelCounts, ...]:
    levels = [(total.level, total) for total in compute_level_totals(found) if total.level is not None]
    return tuple(LevelCounts(level=records.format_level(level), **_make_fields(total)) for level, total in levels)


def _make_fields(total: Total) -> dict[str, Any]:
    by_state = {state.name.lower(): count for state, count in zip(State, total.counts, strict=True)}
    return {**by_state, **{name: getattr(total, name) for name in ("requirements", "applicable", "percent")}}


_ORDER = (Kind.CITATION, Kind.TEST, Kind.IMPLICATION, Kind.EXCEPTION, Kind.TODO)


class CitationReader:
    def __init__(self, catalogue: Catalogue, files: ProjectFiles, around: int) -> None:
        self.catalogue = catalogue
        self.around = around
        self._text = lru_cache(maxsize=None)(files.text)

    def by_type(self, numbers: Iterable[int]) -> tuple[CitationWithCode, ...]:
        cards = self.catalogue.citations
        ordered = sorted(set(numbers), key=lambda number: (_ORDER.index(cards[number].kind), number))
        return tuple(CitationWithCode(**self._make_fields(cards[number])) for number in ordered)

    def detail(self, number: int) -> CitationDetail:
        card = self.catalogue.citations[number]
        rows = records.make_requirement_rows(self.catalogue, card.requirements)
        return CitationDetail(**self._make_fields(card), requirements=rows)

    def file(self, numbers: Iterable[int]) -> FileDetail:
        cards = self.catalogue.citations
        ordered = sorted(numbers, key=lambda number: (cards[number].line, number))
        first, citations = cards[ordered[0]], tuple(map(self.detail, ordered))
        return FileDetail(file_path=first.path, url=self._make_url(first), citations=citations)

    def _make_url(self, card: CitationCard) -> str | None:
        return records.make_blob_url(card.blob_link or self.catalogue.blob_link, card.path) or None

    def _make_fields(self, card: CitationCard) -> dict[str, Any]:
        catalogue = self.catalogue
        specification = catalogue.specifications[card.specification] if card.is_valid else None
        text, url = self._text(card.path), self._make_url(card)
        start, last = max(card.line - self.around, 1), find_last_line(text, card.line, card.span[1])
        full_path = None
        if card.requirements:
            requirement = catalogue.requirements[card.requirements[0]]
            full_path = f"{catalogue.full_path_of(requirement)}/citations/{card.id}"
        ##= man/spec/show.md#details
        ##% `duvet show` MUST show a citation with its place, its problems and the code around it.
        return {
            "id": card.id,
            "full_path": full_path,
            "file_path": card.path,
            "line_number": card.line,
            "type": card.kind.name.lower(),
            "target": card.target,
            "specification": specification.id if specification else None,
            "section": specification.section_names.get(card.section) if specification and card.section else None,
            "section_title": specification.titles.get(card.section) if specification else None,
            "quote": card.quote,
            "reason": card.reason or None,
            "feature": card.feature or None,
            "tracking_issue": card.tracking_issue or None,
            "valid": card.is_valid,
            "error": None if card.is_valid else card.remark or None,
            "warning": card.remark or None if card.is_valid else None,
            "comment_text": read_comment(text, card.line, card.span[1]),
            "context_start": start,
            "context_lines": text.lines[start - 1 : last + self.around],
            "url": f"{url}#L{card.line}" if url else None,
            "issue_url": (card.tracking_issue and records.make_issue_url(catalogue.issue_link, card.tracking_issue))
            or None,
        }


_NEIGHBOURS = 2


def make_detail(
    citations: CitationReader, load: Callable[[SpecificationCard], Specification], reference: ResolvedReference
) -> Detail:
    match reference:
        case RequirementRef(indexes):
            return _make_requirement(citations, indexes)
        case SectionRef(specification, section):
            loaded = load(citations.catalogue.specifications[specification])
            return _make_section(citations, loaded, specification, section)
        case SpecRef(specification):
            return _make_specification(citations.catalogue, specification)
    return citations.file(reference.indexes)


def _make_requirement(citations: CitationReader, indexes: Sequence[int]) -> RequirementDetail:
    catalogue = citations.catalogue
    requirements = catalogue.requirements
    ##= man/spec/show.md#details
    ##% For a requirement that occurs in several places, duvet MUST show the worst of its states and list all places.
    worst = min(indexes, key=lambda index: requirements[index].state)
    card = requirements[worst]
    specification = catalogue.specifications[card.specification]
    around = range(max(worst - _NEIGHBOURS, 0), min(worst + _NEIGHBOURS + 1, len(requirements)))
    section = catalogue.stated[card.specification, card.section]
    neighbours = [index for index in around if index != worst and index in section]
    cited = [number for index in indexes for number in requirements[index].citations]
    together = {index for number in cited for index in catalogue.citations[number].requirements}
    ##= man/spec/show.md#details
    ##% If annotations cover only some words of a requirement, `duvet show` and the HTML report MUST show the words that
    ##% need code and those that need tests.
    not_implemented, not_tested = catalogue.missing.get(worst) or (
        (card.text,) if card.state <= State.TO_DO or card.state is state else ()
        for state in (State.NEEDS_CODE, State.NEEDS_TESTS)
    )
    ##= man/spec/show.md#details
    ##% `duvet show` MUST show a requirement with its state, the reason for this state, and its citations grouped by
    ##% type.
    return RequirementDetail(
        **records.make_row_fields(catalogue, card),
        id=card.id,
        specification_name=specification.name,
        status_reason=explain_state(card.state, [catalogue.citations[number] for number in card.citations]),
        not_implemented=not_implemented,
        not_tested=not_tested,
        excuse=catalogue.excuses.get(worst),
        url=records.make_published_url(specification.url, card.section) or None,
        places=records.make_requirement_rows(catalogue, indexes),
        citations=citations.by_type(cited),
        neighbours=records.make_requirement_rows(catalogue, neighbours),
        cited_together=records.make_requirement_rows(catalogue, sorted(together.difference(indexes))),
    )


def _make_section(citations: CitationReader, loaded: Specification, index: int, id: str) -> SectionDetail:
    catalogue = citations.catalogue
    specification = catalogue.specifications[index]
    indexes = catalogue.stated.get((index, id), ())
    section = loaded.sections[loaded.by_id[id]]
    others = [
        number
        for number, card in enumerate(catalogue.citations)
        if (card.specification, card.section) == (index, id) and not card.requirements
    ]
    return SectionDetail(
        id=specification.section_names[id],
        title=section.breadcrumb,
        content=records.format_section_text(section),
        full_path=specification.section_path(id),
        specification=specification.id,
        specification_name=specification.name,
        target=specification.section_target(id),
        file_path=specification.path,
        line_number=loaded.data.count(b"\n", 0, section.heading[0]) + 1,
        url=records.make_published_url(specification.url, id) or None,
        numbers=count_requirements(catalogue.requirements[number] for number in indexes),
        requirements=records.make_requirement_rows(catalogue, indexes),
        citations=citations.by_type(others),
    )


def _make_specification(catalogue: Catalogue, index: int) -> SpecificationDetail:
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
        sections=tuple(
            SectionRow(
                id=specification.section_names[id],
                title=specification.titles[id],
                full_path=specification.section_path(id),
                numbers=count_requirements(own),
            )
            for id, own in by_section.items()
        ),
    )
