"""Finds annotations that quote the same text, and whether they cover another quote completely."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import chain

from msgspec import Struct

from duvet.model import Annotation, Section
from duvet.text import WHITESPACE, normalise
from duvet.trace.match import OrderedText, SearchText, make_section_view
from duvet.trace.records import Fit, Trace

Span = tuple[int, int, int]  # The first byte, the byte after the last one, and the index of a group.
_FEW = 100  # With more quotes than this, sorting the words of a section saves time.


class Covering(Struct, frozen=True):
    """The annotations of a pool that overlap another annotation's quote."""

    id: int  # The annotation, which never covers itself.
    is_full: bool = False  # Whether they cover all of its bytes.
    groups: tuple[tuple[int, ...], ...] = ()  # The ids of annotations with equal quotes, each group in order.

    @property
    def ids(self) -> Iterator[int]:
        return (id for id in merge(*self.groups) if id != self.id)

    @property
    def first(self) -> int | None:
        return next(self.ids, None)


class SectionText:
    def __init__(self, section: Section) -> None:
        self._text = SearchText(normalise(make_section_view(section).data.decode()).encode())
        self._known: dict[str, list[int]] = {}

    def find_all(self, quote: str) -> tuple[list[int], int]:
        """Return the byte offsets at which a quote occurs, without overlaps, and its normalised length in bytes."""
        normal = normalise(quote).encode()
        if quote not in self._known:
            if len(self._known) == _FEW:
                self._text = OrderedText(self._text.data)
            self._known[quote] = starts = []
            end = 0
            for start in self._text.find_places(normal) if normal else ():
                if start >= end:
                    starts.append(start)
                    end = start + len(normal)
        return self._known[quote], len(normal)


class _SpanIndex:
    def __init__(self, spans: Iterable[Span]) -> None:
        self._by_magnitude: dict[int, list[Span]] = defaultdict(list)
        for span in spans:
            self._by_magnitude[(span[1] - span[0]).bit_length()].append(span)
        for alike in self._by_magnitude.values():
            alike.sort()

    def overlapping(self, start: int, end: int) -> Iterator[Span]:
        for magnitude, spans in self._by_magnitude.items():
            low = bisect_left(spans, (start - (1 << magnitude), 0, 0))
            for at in range(low, bisect_left(spans, (end, 0, 0))):
                if spans[at][1] > start:
                    yield spans[at]


def _is_covered(start: int, end: int, spans: Iterable[Span]) -> bool:
    for low, high, _ in sorted(spans):
        if low > start:
            break
        start = max(start, high)
    return start >= end


class _Occurrences:
    def __init__(self, text: SectionText, annotations: tuple[Annotation, ...], ids: Iterable[int]) -> None:
        by_quote: dict[str, list[int]] = defaultdict(list)
        for id in ids:
            if annotations[id].quote:
                by_quote[annotations[id].quote].append(id)
        groups: dict[tuple[int, int], list[int]] = {}  # By the first place and the length.
        places: dict[tuple[int, int], list[int]] = {}
        unfound: list[int] = []
        for quote, alike in by_quote.items():
            starts, size = text.find_all(quote)
            if not starts:
                unfound += alike
                continue
            places[starts[0], size] = starts
            groups.setdefault((starts[0], size), []).extend(alike)
        self.unfound = tuple(sorted(unfound))
        self._groups = [tuple(sorted(members)) for members in groups.values()]
        self._spans = _SpanIndex(
            (start, start + key[1], group) for group, key in enumerate(groups) for start in places[key]
        )

    def cover(self, id: int, start: int, end: int) -> Covering:
        best: dict[int, tuple[tuple[int, int, int], Span]] = {}  # The best place of each group, smallest rank first.
        for span in self._spans.overlapping(start, end):
            overlap = min(end, span[1]) - max(start, span[0])
            ranked = ((-overlap, abs(span[0] - start), span[0]), span)
            best[span[2]] = min(best.get(span[2], ranked), ranked)
        found = sorted(span for _, span in best.values() if self._groups[span[2]] != (id,))
        return Covering(id, _is_covered(start, end, found), tuple([self._groups[span[2]] for span in found]))


class UnfoundQuotesError(Exception):
    def __init__(self, ids: Iterable[int]) -> None:
        super().__init__("Exactly matchable quote not found in section")
        self.ids = tuple(ids)  # The annotations in order; an annotation that was compared several times is repeated.


class QuotedSections:
    def __init__(self, trace: Trace) -> None:
        self.annotations = trace.annotations
        self.keys: dict[int, tuple[int, int]] = {}  # By annotation: its specification and section.
        self._coverages = trace.coverages
        for index, coverage in enumerate(trace.coverages):
            for match in coverage.matches:
                self.keys.update(dict.fromkeys(match.ids, (index, match.section)))
        self.matches = trace.match_of
        self._texts: dict[tuple[int, int], SectionText] = {}
        self.unfound: list[tuple[int, ...]] = []
        """For each failed comparison, the annotations whose quotes were not found."""

    def text(self, key: tuple[int, int]) -> SectionText:
        if key not in self._texts:
            coverage, section = key
            self._texts[key] = SectionText(self._coverages[coverage].specification.sections[section])
        return self._texts[key]

    def check(self) -> None:
        if self.unfound:
            raise UnfoundQuotesError(chain.from_iterable(self.unfound))


class WrittenPool:
    """Compares annotations as awslabs duvet does: by their targets as written, and by where their quotes occur."""

    def __init__(self, sections: QuotedSections, ids: Iterable[int]) -> None:
        self.sections = sections
        self.ids = tuple(ids)
        self._by_target: dict[str, list[int]] = defaultdict(list)
        for id in self.ids:
            self._by_target[sections.annotations[id].target].append(id)
        self._occurrences: dict[tuple[str, int, int], _Occurrences] = {}

    def cover(self, id: int) -> Covering | None:
        annotation = self.sections.annotations[id]
        if not annotation.quote.strip(WHITESPACE):
            return Covering(id, is_full=True)
        section = self.sections.keys[id]
        text = self.sections.text(section)
        starts, size = text.find_all(annotation.quote)
        if not starts:
            self.sections.unfound.append((id,))
            return None
        ##= man/spec/query.md#checks
        ##% With awslabs duvet's schema, `duvet query` MUST reach the same verdicts as awslabs duvet.
        key = (annotation.target, *section)
        if key not in self._occurrences:
            ids = self._by_target.get(annotation.target, ())
            self._occurrences[key] = _Occurrences(text, self.sections.annotations, ids)
        occurrences = self._occurrences[key]
        if occurrences.unfound:
            self.sections.unfound.append(occurrences.unfound)
        return occurrences.cover(id, starts[0], starts[0] + size)


class TracedPool:
    """Compares annotations as reports do: by the bytes of the specification that they cover."""

    def __init__(self, sections: QuotedSections, ids: Iterable[int]) -> None:
        ##= man/spec/query.md#checks
        ##% With duvet's own schema, `duvet query` MUST compare annotations by the text that they cite, even if their
        ##% targets or quotes are spelled differently.
        self.sections = sections
        alike: dict[int, list[int]] = defaultdict(list)  # By the first annotation with the same match.
        for id in ids:
            match = sections.matches[id]
            if match is not None and match.fit is not Fit.TITLE:
                alike[match.ids[0]].append(id)
        self._groups = [tuple(sorted(group)) for group in alike.values()]
        spans: dict[int, list[Span]] = defaultdict(list)  # By specification.
        for number, first in enumerate(alike):
            match = sections.matches[first]
            pieces = match.pieces if match else ()
            spans[sections.keys[first][0]] += [(one.start, one.end, number) for one in pieces if one.start < one.end]
        self._spans = {coverage: _SpanIndex(found) for coverage, found in spans.items()}

    def cover(self, id: int) -> Covering | None:
        match = self.sections.matches[id]
        if match is None or match.fit is Fit.TITLE:
            return Covering(id, is_full=True)
        spans = self._spans.get(self.sections.keys[id][0], _SpanIndex(()))
        groups: dict[int, None] = {}
        is_full = True
        for piece in match.pieces:
            found = [one for one in spans.overlapping(piece.start, piece.end) if self._groups[one[2]] != (id,)]
            groups.update(dict.fromkeys(group for _, _, group in found))
            is_full = is_full and _is_covered(piece.start, piece.end, found)
        return Covering(id, is_full, tuple([self._groups[group] for group in groups]))


AnnotationPool = WrittenPool | TracedPool
