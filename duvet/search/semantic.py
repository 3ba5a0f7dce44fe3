"""The requirements that are near a query in meaning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, msgpack

from duvet.cache.key import key
from duvet.cache.memory import Memory
from duvet.queries.catalogue import Catalogue
from duvet.search.vectors.protocol import Embedder, Space
from duvet.store.records import Segment
from duvet.tree.seen import digest

if TYPE_CHECKING:
    from duvet.search.vectors.matrix import Matrix


class _Kept(Struct, array_like=True):
    """What is kept between runs."""

    space: bytes
    rows: bytes


class Meanings:
    """The vectors of the requirements of a catalogue."""

    def __init__(self, catalogue: Catalogue, memory: Memory, embedder: Embedder) -> None:
        self._texts = _texts(catalogue)
        self._embedder = embedder
        how = key(embedder.name, digest(msgpack.encode(self._texts)))
        self._kept = memory.of_tree("vectors", _Kept, how, self._made)

    def _made(self) -> _Kept:
        space = self._embedder.fitted(self._texts)
        return _Kept(space.data, space.rows(self._texts))

    def nearest(self, query: str, limit: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        """So many of those that are allowed, each with its cosine, the nearest first; None is all."""
        return self._matrix.best(self._space.query(query), limit, allowed)

    @cached_property
    def _space(self) -> Space:
        # Where what was kept is not what it says, the rows are of a space like this.
        return self._embedder.space(self._kept.space) or self._embedder.fitted(self._texts)

    @cached_property
    def _matrix(self) -> Matrix:
        from duvet.search.vectors.matrix import Matrix

        width = self._space.width
        return Matrix(width, [Segment(tuple(range(len(self._texts))), self._kept.rows)])


def _texts(catalogue: Catalogue) -> list[str]:
    titles = [one.titles for one in catalogue.specifications]
    return [
        f"{titles[card.specification].get(card.section, '')}\n{card.text}".strip() for card in catalogue.requirements
    ]
