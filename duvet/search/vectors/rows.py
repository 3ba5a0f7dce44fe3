"""How vectors are kept: as many bytes as a vector is wide, and what these have to be multiplied with."""

from __future__ import annotations

from struct import pack

SCALE = 4
"""Bytes of a little-endian float32."""
MOST = 127
"""What a number of a row is at most."""


def row_size(width: int) -> int:
    """The bytes of one row."""
    return width + SCALE


def row(numbers: bytes) -> bytes:
    """A row of length 1 in the direction of these signed bytes."""
    length = sum((number - 256 if number > MOST else number) ** 2 for number in numbers) ** 0.5
    return numbers + pack("<f", 1 / length if length else 0.0)
