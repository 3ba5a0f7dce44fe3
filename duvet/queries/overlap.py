"""Finds annotations that quote the same text, and whether they cover another annotation's quote completely."""

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
from duvet.trace.records import Trace

_FEW = 100  # With more quotes than this, sorting the words of a section saves time.


class Covering(Struct, frozen=True):
    """The annotations in a pool that overlap with an annotation's quote."""

    id: int  # The annotation, which never covers itself.
    is_full: bool = False  # Whether they cover all of its bytes.
    groups: tuple[tuple[int, ...], ...] = ()  # The ids of annotations with equal quotes, each group in order.

    @property
    def ids(self) -> Iterator[int]:
        """The overlapping annotations in order."""
        return (id for id in merge(*self.groups) if id != self.id)

    @property
    def first(self) -> int | None:
        return next(self.ids, None)


class SectionText:
    """The normalised text of a section, and the places of quotes in it."""

    def __init__(self, section: Section) -> None:
        ##= man/spec/query.md#covered-text
        ##% `duvet query` MUST find quotes exactly, apart from white space: a quote with one wrong character is an error.
        self._text = SearchText(normalise(make_section_view(section).data.decode()).encode())
        self._known: dict[str, list[int]] = {}

    def find_all(self, quote: str) -> tuple[list[int], int]:
        """Return the starts of a quote without overlaps, and its length in bytes."""
        normal = normalise(quote).encode()
        if quote not in self._known:
            if len(self._known) == _FEW:
                self._text = OrderedText(self._text.data)
            self._known[quote] = starts = []
            end = 0
            for start in self._text.places(normal) if normal else ():
                if start >= end:
                    starts.append(start)
                    end = start + len(normal)
        return self._known[quote], len(normal)


class _Occurrences:
    """The places of a pool's quotes in one section, sorted by size to quickly find those around a place."""

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
        self._sizes: list[int] = []
        self._groups: list[tuple[int, ...]] = []
        self._by_magnitude: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for key, members in groups.items():
            for start in places[key]:
                self._by_magnitude[key[1].bit_length()].append((start, len(self._groups)))
            self._sizes.append(key[1])
            self._groups.append(tuple(sorted(members)))
        for sorted_places in self._by_magnitude.values():
            sorted_places.sort()

    def cover(self, id: int, start: int, end: int) -> Covering:
        """Return how the pool covers these bytes, which an annotation quotes."""
        best: dict[int, tuple[int, int, int]] = {}  # By group: overlap, distance and start of the best place, negated.
        for magnitude, places in self._by_magnitude.items():
            low = bisect_left(places, (start - (1 << magnitude), 0))
            for at in range(low, bisect_left(places, (end, 0))):
                place, group = places[at]
                overlap = min(end, place + self._sizes[group]) - max(start, place)
                if overlap > 0:
                    ranked = (-overlap, abs(place - start), place)
                    best[group] = min(best.get(group, ranked), ranked)
        alone = (id,)
        found = sorted((place, place + self._sizes[group], group) for group, (_, _, place) in best.items())
        reached, groups = start, []
        for low, high, group in found:
            if self._groups[group] != alone:
                groups.append(self._groups[group])
                if low <= reached:
                    reached = max(reached, high)
        return Covering(id, reached >= end, tuple(groups))


class UnfoundQuotesError(Exception):
    """Quotes do not occur literally in their sections."""

    def __init__(self, ids: Iterable[int]) -> None:
        super().__init__("Exactly matchable quote not found in section")
        self.ids = tuple(ids)
        """The annotations in order; an annotation that was compared several times is repeated."""


class QuotedSections:
    """The texts of the sections that annotations quote, and the comparisons that failed."""

    def __init__(self, trace: Trace) -> None:
        self.annotations = trace.annotations
        self._sections: dict[int, tuple[int, int]] = {}  # By annotation: its specification and section.
        self._coverages = trace.coverages
        for index, coverage in enumerate(trace.coverages):
            for match in coverage.matches:
                self._sections.update(dict.fromkeys(match.ids, (index, match.section)))
        self._texts: dict[tuple[int, int], SectionText] = {}
        self.unfound: list[tuple[int, ...]] = []
        """The annotations whose quotes were not found, for each comparison that failed."""

    def key(self, id: int) -> tuple[int, int]:
        """Return the key that identifies an annotation's section."""
        return self._sections[id]

    def text(self, key: tuple[int, int]) -> SectionText:
        if key not in self._texts:
            coverage, section = key
            self._texts[key] = SectionText(self._coverages[coverage].specification.sections[section])
        return self._texts[key]

    def check(self) -> None:
        """Raise UnfoundQuotesError if a comparison failed."""
        if self.unfound:
            raise UnfoundQuotesError(chain.from_iterable(self.unfound))


class AnnotationPool:
    """Annotations that cover text, by their targets as written."""

    def __init__(self, sections: QuotedSections, ids: Iterable[int]) -> None:
        self.sections = sections
        self._by_target: dict[str, list[int]] = defaultdict(list)
        for id in ids:
            self._by_target[sections.annotations[id].target].append(id)
        self._occurrences: dict[tuple[str, int, int], _Occurrences] = {}

    def cover(self, id: int) -> Covering | None:
        """Return how the pool covers an annotation; None if the annotation's own quote is not found."""
        annotation = self.sections.annotations[id]
        ##= man/spec/query.md#covered-text
        ##% `duvet query` MUST treat an annotation without a quote as completely covered.
        if not annotation.quote.strip(WHITESPACE):
            return Covering(id, is_full=True)
        section = self.sections.key(id)
        text = self.sections.text(section)
        starts, size = text.find_all(annotation.quote)
        if not starts:
            self.sections.unfound.append((id,))
            return None
        ##= man/spec/query.md#covered-text
        ##% `duvet query` MUST compare annotations only if their targets have the same spelling.
        key = (annotation.target, *section)
        if key not in self._occurrences:
            ids = self._by_target.get(annotation.target, ())
            self._occurrences[key] = _Occurrences(text, self.sections.annotations, ids)
        occurrences = self._occurrences[key]
        if occurrences.unfound:
            self.sections.unfound.append(occurrences.unfound)
        return occurrences.cover(id, starts[0], starts[0] + size)
