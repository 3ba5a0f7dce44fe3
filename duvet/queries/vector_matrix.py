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
    """Set the number of threads while numpy loads, unless the user has set it; child processes don't inherit it."""
    if _THREADS in os.environ:
        yield
        return
    # OpenBLAS reads it once, when it is loaded.
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        os.environ.pop(_THREADS, None)


with _one_thread():
    import numpy as np


_BLOCK = 4096
"""Rows to compare at once, which fit into the cache of a processor."""


class Matrix:
    """Searchable vectors of one width, with the numbers that they belong to."""

    def __init__(self, width: int, segments: Iterable[VectorSegment]) -> None:
        numbers, rows = array("q"), bytearray()
        for segment in segments:
            if len(segment.rows) == len(segment.numbers) * row_size(width):
                numbers.extend(segment.numbers)
                rows += segment.rows
        table = np.frombuffer(rows, np.dtype([("numbers", "i1", (width,)), ("scale", "<f4")]))
        # A larger scale comes from damaged data: the vectors have length 1.
        is_valid = (table["scale"] >= 0) & (table["scale"] <= 1)
        self._numbers = np.frombuffer(numbers, np.int64)
        self._rows = table
        if not is_valid.all():
            self._numbers, self._rows = self._numbers[is_valid], table[is_valid]
        self._width = width

    def __len__(self) -> int:
        return len(self._numbers)

    def best(self, query: bytes, limit: int, allowed: Sequence[int] | None = None) -> list[tuple[int, float]]:
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
