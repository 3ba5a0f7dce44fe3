"""Vectors that say nothing but whether two texts are the same, for trying out all the rest."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

from blake3 import blake3

from duvet.search.vectors.rows import row

NAME = "dummy 1"
WIDTH = 8


class DummySpace:
    """The same for each corpus."""

    data = NAME.encode()
    width = WIDTH

    def rows(self, texts: Sequence[str]) -> bytes:
        return b"".join(row(_numbers(text)) for text in texts)

    def query(self, text: str) -> bytes:
        numbers = memoryview(_numbers(text)).cast("b").tolist()
        length = sum(number * number for number in numbers) ** 0.5 or 1.0
        return pack(f"<{WIDTH}f", *(number / length for number in numbers))


class Dummy:
    """Needs nothing that isn't there."""

    name = NAME
    width = WIDTH

    def fitted(self, texts: Sequence[str]) -> DummySpace:
        return DummySpace()

    def space(self, data: bytes) -> DummySpace | None:
        return DummySpace() if data == DummySpace.data else None


def _numbers(text: str) -> bytes:
    return blake3(text.encode(errors="replace")).digest(WIDTH)
