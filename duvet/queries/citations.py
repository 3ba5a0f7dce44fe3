"""Annotations with the code around them and their links, and the source files for new citations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from duvet.config.settings import SourceRule
from duvet.model import Kind
from duvet.queries import records
from duvet.sources.editor import CommentPair, find_comment_pair
from duvet.trace.catalogue import Catalogue, CitationCard
from duvet.trace.locations import ProjectFiles, make_snippet

CharacterSpan = tuple[int, int]
SourceReader = Callable[[str], str | None]  # Returns the text of a file, or None if it must not be shown.

_ORDER = (Kind.CITATION, Kind.TEST, Kind.IMPLICATION, Kind.EXCEPTION, Kind.TODO)
_MAX_LINE = 160
_COMMENT_ENDS = frozenset(("", "*", "/*", "*/", "(*", "*)", "<!--", "-->"))
"""The first and last lines of block comments, which are not code."""
_MAX_COMMENT_ENDS = 8


class CitationReader:
    """Reads annotations with the lines around them, and each file only once."""

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
        ##% `duvet show` MUST show a requirement with the reason for its status, and its citations grouped by type.
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


def read_code_below(
    annotations: Iterable[tuple[int, str, CharacterSpan]], read: SourceReader, max_lines: int
) -> dict[int, str]:
    """Return up to `max_lines` lines of code after each annotation; each file is read once."""
    if not max_lines:
        return {}
    by_path: dict[str, list[tuple[CharacterSpan, int]]] = {}
    for number, path, span in annotations:
        by_path.setdefault(path, []).append((span, number))
    found: dict[int, str] = {}
    for path, own in by_path.items():
        text = read(path)
        if text is not None:
            ordered = sorted(own)
            snippets: dict[int, str] = {}
            code, end = "", len(text)
            for (start, stop), number in reversed(ordered):
                after = text.find("\n", max(stop - 1, 0)) + 1 or len(text)
                ##= man/spec/page.md#requirements-and-citations
                ##% The report MUST show the code below each citation, up to the next annotation and at most
                ##% `snippet-lines` lines.
                code = _cut_code(text, after, end, max_lines) or code
                if code:
                    snippets[number] = code
                end = text.rfind("\n", 0, start) + 1
            found.update(snippets)
    return found


def _cut_code(text: str, start: int, end: int, max_lines: int) -> str:
    """Return the first lines of code between two offsets, without the rest of surrounding comments."""
    stop = min(end, start + (max_lines + _MAX_COMMENT_ENDS) * _MAX_LINE)
    part = text[start:stop] if stop == end else f"{text[start:stop]}…"
    lines = part.split("\n", max_lines + _MAX_COMMENT_ENDS)
    first, last = 0, min(len(lines), max_lines + _MAX_COMMENT_ENDS)
    while first < last and lines[first].strip() in _COMMENT_ENDS:
        first += 1
    last = min(last, first + max_lines)
    while last > first and lines[last - 1].strip() in _COMMENT_ENDS:
        last -= 1
    return "\n".join(_dedent(lines[first:last])) if first < last else ""


def _dedent(lines: Sequence[str]) -> list[str]:
    """Remove the common indentation, and shorten long lines; the first line must not be blank."""
    plain = [line.rstrip() for line in lines]
    common = plain[0][: len(plain[0]) - len(plain[0].lstrip(" \t"))]
    for line in plain:
        while line and not line.startswith(common):
            common = common[:-1]
    plain = [line[len(common) :] for line in plain]
    return [line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE - 1]}…" for line in plain]


class CommentStyle(Struct, frozen=True, kw_only=True):
    label: str  # The patterns of the sources.
    meta: str
    content: str
    first: str = ""  # The delimiters of a comment, if its lines need them.
    last: str = ""
    kind: Kind = Kind.CITATION  # The type of an annotation that doesn't name one.


def list_comment_styles(rules: Iterable[SourceRule]) -> tuple[CommentStyle, ...]:
    found: dict[tuple[str, str, CommentPair, Kind], dict[str, None]] = {}
    for rule in rules:
        for pattern in rule.patterns:
            ##= man/spec/page.md#working-with-the-report
            ##% A citation that the user copies from the report MUST cite the same requirement, as a comment in the
            ##% style of the source file or as TOML.
            pair = find_comment_pair(pattern, rule.meta) or CommentPair("", "")
            found.setdefault((rule.meta, rule.content, pair, rule.kind), {})[pattern] = None
    return tuple(
        CommentStyle(label=", ".join(patterns), meta=meta, content=content, first=pair.first, last=pair.last, kind=kind)
        for (meta, content, pair, kind), patterns in found.items()
    )
