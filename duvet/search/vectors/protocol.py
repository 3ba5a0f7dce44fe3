"""What makes vectors of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Space(Protocol):
    """A corpus in which texts can be compared: vectors of one space, and only those, tell how near texts are."""

    @property
    def data(self) -> bytes:
        """All that has to be kept to have it again."""

    @property
    def width(self) -> int:
        """How many numbers a vector has."""

    def rows(self, texts: Sequence[str]) -> bytes:
        """A row for each text, in their order (see duvet.search.vectors.rows)."""

    def query(self, text: str) -> bytes:
        """The vector of a question: that many little-endian float32 of length 1, or of zeros where it tells nothing."""


class Rows(Protocol):
    """Vectors that are kept, and can be searched."""

    def __len__(self) -> int: ...

    def best(self, query: bytes, limit: int, allowed: Sequence[int] | None = None) -> Sequence[tuple[int, float]]:
        """The numbers of the nearest ones, each with its cosine, the nearest first; None is all."""


class Embedder(Protocol):
    """A model."""

    @property
    def name(self) -> str:
        """Another one whenever it would make other vectors."""

    @property
    def width(self) -> int:
        """How many numbers a vector has."""

    def fitted(self, texts: Sequence[str]) -> Space:
        """The space of a corpus; the same texts in the same order give the same one."""

    def space(self, data: bytes) -> Space | None:
        """The one that this model has made before; None where another has, or nobody."""
