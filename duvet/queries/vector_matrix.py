"""Exact nearest-neighbour search with numpy."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from duvet.queries.embeddings import row_size
from duvet.store.records import VectorSegment

__all__ = ["np"]

_THREADS = "OPENBLAS_NUM_THREADS"


@contextmanager
def _one_thread() -> Iterator[None]:
    """Somebody's own wish counts more, and programs that are started later are told nothing."""
    if _THREADS in os.environ:
        yield
        return
    # It is looked at once, when the library is loaded.
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        os.environ.pop(_THREADS, None)


with _one_thread():
    import numpy as np


_BLOCK = 4096
"""So many rows are compared at once: their numbers stay in the caches of a processor."""


class Matrix:
    """Rows of one width, each with the number of what it belongs to."""

    def __init__(self, width: int, segments: Iterable[VectorSegment]) -> None:
        numbers, rows = array("q"), bytearray()
        for segment in segments:
            if len(segment.rows) == len(segment.numbers) * row_size(width):
                numbers.extend(segment.numbers)
                rows += segment.rows
        known = np.frombuffer(rows, np.dtype([("numbers", "i1", (width,)), ("scale", "<f4")]))
        # Of a vector of length 1 no number is larger; what was overwritten may be anything.
        is_whole = (known["scale"] >= 0) & (known["scale"] <= 1)
        self._numbers = np.frombuffer(numbers, np.int64)
        self._rows = known
        if not is_whole.all():
            self._numbers, self._rows = self._numbers[is_whole], known[is_whole]
        self._width = width

    def __len__(self) -> int:
        return len(self._numbers)

    def best(self, query: bytes, limit: int, allowed: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """The numbers that are nearest to a query, each with its cosine, the nearest first; None is all."""
        chosen = None if allowed is None else np.flatnonzero(np.isin(self._numbers, np.asarray(allowed, np.int64)))
        numbers = self._numbers if chosen is None else self._numbers[chosen]
        scores = self._scores(np.frombuffer(query, "<f4"), chosen, len(numbers))
        ##= man/spec/knowledge.md#vectors
        ##% A search by vectors MUST find the nearest chunks of all, and nothing by or for a text without words.
        near = np.flatnonzero(scores > 0)
        if len(near) > limit:
            least = np.partition(scores[near], -limit)[-limit]
            near = near[scores[near] >= least]
        order = np.lexsort((numbers[near], -scores[near]))[:limit]
        return [(int(numbers[at]), float(scores[at])) for at in near[order]]

    def _scores(self, query: Any, chosen: Any, total: int) -> Any:
        scores = np.empty(total, np.float32)
        block = np.empty((min(_BLOCK, total), self._width), np.float32)
        for at in range(0, total, _BLOCK):
            end = min(at + _BLOCK, total)
            rows = self._rows[at:end] if chosen is None else self._rows[chosen[at:end]]
            part = block[: end - at]
            part[...] = rows["numbers"]
            np.multiply(part @ query, rows["scale"], out=scores[at:end])
        return scores
