"""The vectors of a store, as they are after one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from duvet.search.vectors.dummy import Dummy
from duvet.search.vectors.protocol import Embedder, Space
from duvet.store.protocol import Hits, Store
from duvet.store.records import SPACE

if TYPE_CHECKING:
    from duvet.search.vectors.matrix import Matrix


class Vectors:
    """What is near a query."""

    def __init__(self, space: Space, matrix: Matrix) -> None:
        self._space = space
        self._matrix = matrix

    def query(self, text: str) -> bytes:
        return self._space.query(text)

    def nearest(self, query: bytes, limit: int, allowed: Sequence[int] | None) -> Hits:
        """Pieces, each with its cosine, the nearest first."""
        return self._matrix.best(query, limit, allowed)


def vectors_of(store: Store, embedder: Embedder | None) -> tuple[Vectors | None, str]:
    """The vectors, or None, and what is to be said about that."""
    ##= man/spec/knowledge.md#search
    ##% Where there are no vectors, or none that can be compared with, a search MUST find by words alone, and a warning MUST
    ##% say why.
    if embedder is None:
        return None, "found by words alone: the extra `semantic` is not installed, or not wanted"
    data = store.kept(SPACE)
    if not data:
        return None, "found by words alone: no vectors were made of what was taken in"
    space = embedder.space(data)
    dummy = None if space else Dummy().space(data)
    found = space or dummy
    if found is None:
        return None, "found by words alone: the vectors were made by another model; they have to be made again"
    from duvet.search.vectors.matrix import Matrix

    matrix = Matrix(found.width, store.segments())
    if not len(matrix):
        return None, "found by words alone: no vectors were made of what was taken in"
    if dummy:
        return Vectors(found, matrix), "the vectors are stand-ins that tell nothing of meaning"
    return Vectors(found, matrix), "" if len(matrix) == store.chunk_total() else "some pieces have no vectors"
