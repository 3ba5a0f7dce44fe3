"""Annotations with the code around them and their links."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from duvet.model import Kind
from duvet.queries import records
from duvet.trace.catalogue import Catalogue, CitationCard
from duvet.trace.locations import ProjectFiles, make_snippet

_ORDER = (Kind.CITATION, Kind.TEST, Kind.IMPLICATION, Kind.EXCEPTION, Kind.TODO)


class CitationReader:
    """Reads annotations with the lines around them; each file is read once."""

    def __init__(self, catalogue: Catalogue, files: ProjectFiles, around: int) -> None:
        self.catalogue = catalogue
        self.around = around
        self._text = lru_cache(maxsize=None)(files.text)

    def by_type(self, numbers: Iterable[int]) -> tuple[records.CitationWithCode, ...]:
        ordered = sorted(set(numbers), key=lambda number: (_ORDER.index(self._find_card(number).kind), number))
        return tuple(records.CitationWithCode(**self._make_fields(number)) for number in ordered)

    def detail(self, number: int) -> records.CitationDetail:
        rows = records.make_requirement_rows(self.catalogue, self._find_card(number).requirements)
        return records.CitationDetail(**self._make_fields(number), requirements=rows)

    def file(self, numbers: Iterable[int]) -> records.FileDetail:
        ordered = sorted(numbers, key=lambda number: (self._find_card(number).line, number))
        first = self._find_card(ordered[0])
        return records.FileDetail(
            file_path=first.path, url=self._make_url(first), citations=tuple(self.detail(number) for number in ordered)
        )

    def _find_card(self, number: int) -> CitationCard:
        return self.catalogue.citations[number]

    def _make_url(self, card: CitationCard) -> str | None:
        return records.make_blob_url(card.blob_link or self.catalogue.blob_link, card.path) or None

    def _make_fields(self, number: int) -> dict[str, Any]:
        card = self._find_card(number)
        catalogue = self.catalogue
        specification = catalogue.specifications[card.specification] if card.is_valid else None
        snippet = make_snippet(self._text(card.path), card, self.around)
        url = self._make_url(card)
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
            "comment_text": snippet.comment,
            "context_start": snippet.start,
            "context_lines": snippet.lines,
            "url": f"{url}#L{card.line}" if url else None,
            "issue_url": records.make_issue_url(catalogue.issue_link, card.tracking_issue) or None
            if card.tracking_issue
            else None,
        }
