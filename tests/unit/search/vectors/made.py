"""A small corpus, and its vectors."""

from __future__ import annotations

from struct import unpack

from duvet.queries.embeddings import Embedder, VectorSpace, find_embedder

TEXTS = (
    "A client MUST discard a packet that holds an empty token.",
    "The kettle is filled with fresh water and set on the stove.",
    "A certificate that has expired MUST be refused.",
    "Logs are rotated each night.",
    "",
    "--- *** ---",
)


def embedder() -> Embedder:
    found = find_embedder(True)
    assert found is not None
    return found


def unpacked(space: VectorSpace, rows: bytes) -> list[list[float]]:
    """The vectors of rows."""
    size = space.width + 4
    vectors = []
    for at in range(0, len(rows), size):
        *numbers, scale = unpack(f"<{space.width}bf", rows[at : at + size])
        vectors.append([number * scale for number in numbers])
    return vectors


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
