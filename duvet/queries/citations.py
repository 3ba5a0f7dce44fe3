"""Annotations with what stands around them, and links."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from duvet.model import Kind
from duvet.queries.catalogue import Catalogue, CitationCard
from duvet.queries.details import Citation, CitationDetail, FileDetail
from duvet.queries.links import blob, issue
from duvet.queries.places import Files
from duvet.queries.rows import requirement_row
from duvet.queries.snippets import snippet

_ORDER = (Kind.CITATION, Kind.TEST, Kind.IMPLICATION, Kind.EXCEPTION, Kind.TODO)


class Citations:
    """The annotations of a catalogue, each with so many lines of code around it; each file is read once."""

    def __init__(self, catalogue: Catalogue, files: Files, around: int) -> None:
        self.catalogue = catalogue
        self.around = around
        self._text = lru_cache(maxsize=None)(files.text)

    def by_type(self, numbers: Iterable[int]) -> tuple[Citation, ...]:
        """These annotations by their type, and by their place in each."""
        ordered = sorted(set(numbers), key=lambda number: (_ORDER.index(self._card(number).kind), number))
        return tuple(Citation(**self._fields(number)) for number in ordered)

    def detail(self, number: int) -> CitationDetail:
        """An annotation with its requirements."""
        cards = [self.catalogue.requirements[index] for index in self._card(number).requirements]
        rows = tuple(requirement_row(self.catalogue, card) for card in cards)
        return CitationDetail(**self._fields(number), requirements=rows)

    def file(self, numbers: Iterable[int]) -> FileDetail:
        """Annotations of one file, in its order."""
        ordered = sorted(numbers, key=lambda number: (self._card(number).line, number))
        first = self._card(ordered[0])
        return FileDetail(
            file_path=first.path, url=self._blob(first), citations=tuple(self.detail(number) for number in ordered)
        )

    def _card(self, number: int) -> CitationCard:
        return self.catalogue.citations[number]

    def _blob(self, card: CitationCard) -> str | None:
        return blob(card.blob_link or self.catalogue.blob_link, card.path) or None

    def _fields(self, number: int) -> dict[str, Any]:
        card = self._card(number)
        catalogue = self.catalogue
        specification = catalogue.specifications[card.specification] if card.is_valid else None
        found = snippet(self._text(card.path), card, self.around)
        source = self._blob(card)
        ##= man/spec/show.md#details
        ##% A citation MUST be shown with what is wrong with it.
        return {
            "id": card.id,
            "full_path": self._full_path(card),
            "file_path": card.path,
            "line_number": card.line,
            "type": card.kind.name.lower(),
            "target": card.target,
            "specification": specification.id if specification else None,
            "section": card.section or None,
            "section_title": specification.titles.get(card.section) if specification else None,
            "quote": card.quote,
            "reason": card.reason or None,
            "feature": card.feature or None,
            "tracking_issue": card.tracking_issue or None,
            "valid": card.is_valid,
            "error": None if card.is_valid else card.remark or None,
            "warning": card.remark or None if card.is_valid else None,
            "comment_text": found.comment,
            "context_start": found.start,
            "context_lines": found.lines,
            "url": f"{source}#L{card.line}" if source else None,
            "issue_url": issue(catalogue.issue_link, card.tracking_issue) or None if card.tracking_issue else None,
        }

    def _full_path(self, card: CitationCard) -> str | None:
        if not card.requirements:
            return None
        requirement = self.catalogue.requirements[card.requirements[0]]
        return f"{self.catalogue.full_path_of(requirement)}/citations/{card.id}"
