"""A few rows of little width, compared without numpy: stand-ins are for trying out what is installed, whatever that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import iter_unpack, unpack

from duvet.search.vectors.rows import row_size
from duvet.store.records import Segment


class Few:
    """Rows of one width, each with the number of what it belongs to."""

    def __init__(self, width: int, segments: Iterable[Segment]) -> None:
        self._width = width
        self._rows = [*self._read(segments)]

    def _read(self, segments: Iterable[Segment]) -> Iterator[tuple[int, Sequence[float]]]:
        for segment in segments:
            if len(segment.rows) == len(segment.numbers) * row_size(self._width):
                rows = iter_unpack(f"<{self._width}bf", segment.rows)
                for number, (*numbers, scale) in zip(segment.numbers, rows, strict=True):
                    # Of a vector of length 1 no number is larger; what was overwritten may be anything.
                    if 0 <= scale <= 1:
                        yield number, [one * scale for one in numbers]

    def __len__(self) -> int:
        return len(self._rows)

    def best(self, query: bytes, limit: int, allowed: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """The numbers that are nearest to a query, each with its cosine, the nearest first; None is all."""
        asked = unpack(f"<{self._width}f", query)
        among = None if allowed is None else frozenset(allowed)
        scores = (
            (number, sum(one * other for one, other in zip(row, asked, strict=True)))
            for number, row in self._rows
            if among is None or number in among
        )
        near = [(number, score) for number, score in scores if score > 0]
        return sorted(near, key=lambda one: (-one[1], one[0]))[:limit]
