"""The vectors of a store, as they are after one run."""

from __future__ import annotations

from collections.abc import Sequence

from duvet.search.vectors.dummy import Dummy
from duvet.search.vectors.few import Few
from duvet.search.vectors.protocol import Embedder, Rows, Space
from duvet.store.protocol import Hits, Store
from duvet.store.records import SPACE

_STAND_INS = "the vectors are stand-ins that tell nothing of meaning"
_NO_VECTORS = "found by words alone: no vectors were made of what was taken in"


class Vectors:
    """What is near a query."""

    def __init__(self, space: Space, rows: Rows) -> None:
        self._space = space
        self._rows = rows

    def query(self, text: str) -> bytes:
        return self._space.query(text)

    def nearest(self, query: bytes, limit: int, allowed: Sequence[int] | None) -> Hits:
        """Pieces, each with its cosine, the nearest first."""
        return self._rows.best(query, limit, allowed)


def vectors_of(store: Store, embedder: Embedder | None) -> tuple[Vectors | None, str]:
    """The vectors, or None, and what is to be said about that."""
    ##= man/spec/knowledge.md#search
    ##% Where there are no vectors, or none that can be compared with, a search MUST find by words alone, and a warning MUST
    ##% say why.
    data = store.kept(SPACE)
    dummy = Dummy().space(data) if data else None
    if dummy is not None:
        ##= man/spec/knowledge.md#vectors
        ##% Vectors that stand in for those of a model MUST be made and compared without the extra `semantic`.
        return _compared(store, dummy, Few(dummy.width, store.segments()), _STAND_INS)
    if embedder is None:
        return None, "found by words alone: the extra `semantic` is not installed, or not wanted"
    if not data:
        return None, _NO_VECTORS
    space = embedder.space(data)
    if space is None:
        return None, "found by words alone: the vectors were made by another model; they have to be made again"
    from duvet.search.vectors.matrix import Matrix

    return _compared(store, space, Matrix(space.width, store.segments()))


def _compared(store: Store, space: Space, rows: Rows, about: str = "") -> tuple[Vectors | None, str]:
    if not len(rows):
        return None, _NO_VECTORS
    return Vectors(space, rows), about or ("" if len(rows) == store.chunk_total() else "some pieces have no vectors")
