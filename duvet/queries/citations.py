"""Annotations with their surrounding code and links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from duvet.config.settings import SourceRule
from duvet.model import Kind
from duvet.queries.records import (
    CitationDetail,
    CitationWithCode,
    FileDetail,
    make_blob_url,
    make_issue_url,
    make_requirement_row,
)
from duvet.sources.editor import CommentPair, find_comment_pair
from duvet.trace.catalogue import Catalogue, CitationCard
from duvet.trace.locations import ProjectFiles, make_snippet

_ORDER = (Kind.CITATION, Kind.TEST, Kind.IMPLICATION, Kind.EXCEPTION, Kind.TODO)


class CitationReader:
    """The annotations of a catalogue, each with so many lines of code around it; each file is read once."""

    def __init__(self, catalogue: Catalogue, files: ProjectFiles, around: int) -> None:
        self.catalogue = catalogue
        self.around = around
        self._text = lru_cache(maxsize=None)(files.text)

    def by_type(self, numbers: Iterable[int]) -> tuple[CitationWithCode, ...]:
        """These annotations by their type, and by their place in each."""
        ordered = sorted(set(numbers), key=lambda number: (_ORDER.index(self._card(number).kind), number))
        return tuple(CitationWithCode(**self._fields(number)) for number in ordered)

    def detail(self, number: int) -> CitationDetail:
        """An annotation with its requirements."""
        cards = [self.catalogue.requirements[index] for index in self._card(number).requirements]
        rows = tuple(make_requirement_row(self.catalogue, card) for card in cards)
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
        return make_blob_url(card.blob_link or self.catalogue.blob_link, card.path) or None

    def _fields(self, number: int) -> dict[str, Any]:
        card = self._card(number)
        catalogue = self.catalogue
        specification = catalogue.specifications[card.specification] if card.is_valid else None
        found = make_snippet(self._text(card.path), card, self.around)
        source = self._blob(card)
        ##= man/spec/show.md#details
        ##% `duvet show` MUST show a requirement with the reason for its status and its citations by type, and a
        ##% citation with its place, its problems and the code around it.
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
            "issue_url": make_issue_url(catalogue.issue_link, card.tracking_issue) or None
            if card.tracking_issue
            else None,
        }

    def _full_path(self, card: CitationCard) -> str | None:
        if not card.requirements:
            return None
        requirement = self.catalogue.requirements[card.requirements[0]]
        return f"{self.catalogue.full_path_of(requirement)}/citations/{card.id}"


CharacterSpan = tuple[int, int]
"""The characters of an annotation in its file."""
SourceReader = Callable[[str], str | None]
"""The text of a file, or None where it is not to be shown."""

_LONGEST = 160
_INDENT = " \t"
_NOTHING = frozenset(("", "*", "/*", "*/", "(*", "*)", "<!--", "-->"))
"""What is left of a comment around annotations."""
_MOST_NOTHING = 8
"""So many lines of that are passed over."""


def read_code_below(
    annotations: Iterable[tuple[int, str, CharacterSpan]], read: SourceReader, most: int
) -> dict[int, str]:
    """The first lines after annotations, which are given by number, path and span; each file is read once."""
    if not most:
        return {}
    by_path: dict[str, list[tuple[CharacterSpan, int]]] = {}
    for number, path, span in annotations:
        by_path.setdefault(path, []).append((span, number))
    found: dict[int, str] = {}
    for path, own in by_path.items():
        text = read(path)
        if text is not None:
            found.update(_below(text, sorted(own), most))
    return found


def _below(text: str, own: Sequence[tuple[CharacterSpan, int]], most: int) -> Mapping[int, str]:
    """The code after the annotations of one file, which are in its order."""
    found: dict[int, str] = {}
    code, end = "", len(text)
    for (start, stop), number in reversed(own):
        after = text.find("\n", max(stop - 1, 0)) + 1 or len(text)
        ##= man/spec/page.md#requirements-and-citations
        ##% The report MUST show the code below each citation, up to the next annotation and no more lines than
        ##% `snippet-lines` says.
        code = _shown(text, after, end, most) or code
        if code:
            found[number] = code
        end = text.rfind("\n", 0, start) + 1
    return found


def _shown(text: str, start: int, end: int, most: int) -> str:
    """The first lines of code between two places; nothing where there is none."""
    stop = min(end, start + (most + _MOST_NOTHING) * _LONGEST)
    shown = text[start:stop] if stop == end else f"{text[start:stop]}…"
    lines = shown.split("\n", most + _MOST_NOTHING)
    first, last = 0, min(len(lines), most + _MOST_NOTHING)
    while first < last and lines[first].strip() in _NOTHING:
        first += 1
    last = min(last, first + most)
    while last > first and lines[last - 1].strip() in _NOTHING:
        last -= 1
    return "\n".join(_dedented(lines[first:last])) if first < last else ""


def _dedented(lines: Sequence[str]) -> list[str]:
    """The lines less the indent that all of them have, none of them too long; the first one is not blank."""
    plain = [line.rstrip() for line in lines]
    if plain[0][0] in _INDENT:
        indent = _indent(plain)
        plain = [line[indent:] for line in plain]
    if len(max(plain, key=len)) > _LONGEST:
        plain = [line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in plain]
    return plain


def _indent(lines: Sequence[str]) -> int:
    """How much white space all lines begin with that hold anything."""
    first = lines[0]
    common = first[: len(first) - len(first.lstrip(_INDENT))]
    for line in lines:
        while line and not line.startswith(common):
            common = common[:-1]
    return len(common)


class CommentStyle(Struct, frozen=True, kw_only=True):
    """How comments of some sources are written."""

    label: str
    """Which sources."""
    meta: str
    content: str
    first: str = ""
    """What begins a comment, where the lines are none by themselves."""
    last: str = ""
    kind: Kind = Kind.CITATION
    """What a comment is that does not say its type."""


_NO_PAIR = CommentPair("", "")


def list_comment_styles(rules: Iterable[SourceRule]) -> tuple[CommentStyle, ...]:
    """The styles of these sources, each with the patterns of its files."""
    found: dict[tuple[str, str, CommentPair, Kind], dict[str, None]] = {}
    for rule in rules:
        for pattern in rule.patterns:
            ##= man/spec/page.md#working-with-the-report
            ##% A citation that the report copies, as a comment or as TOML, MUST be an annotation of the same
            ##% requirement in the comment style of the source.
            pair = find_comment_pair(pattern, rule.meta) or _NO_PAIR
            found.setdefault((rule.meta, rule.content, pair, rule.kind), {})[pattern] = None
    return tuple(
        CommentStyle(label=", ".join(patterns), meta=meta, content=content, first=pair.first, last=pair.last, kind=kind)
        for (meta, content, pair, kind), patterns in found.items()
    )
