"""Bytes to lines."""

from __future__ import annotations

import pytest

from duvet.server.stdio.handshake import LineSplitter


def cut(data: bytes, size: int, longest: int = 100) -> list[bytes | None]:
    """The lines of what arrives in pieces of that size."""
    lines = LineSplitter(longest)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return [line for piece in pieces for line in lines.feed(piece)] + list(lines.end())


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\nbc\n", [b"a", b"bc"]),
        (b"a\nbc", [b"a", b"bc"]),
        (b"a\r\n\r\n \t\n\nb\r\n", [b"a\r", b"b\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", [b"a", b"\xef\xbb\xbfb"]),
        (b"a\x00\xff\nb\n", [b"a\x00\xff", b"b"]),
        (b"x" * 100 + b"\n" + b"y" * 101 + b"\nz\n", [b"x" * 100, None, b"z"]),
        (b"x" * 1000 + b"\n\n" + b"y" * 1000, [None, None]),
        (b"", []),
    ],
)
def test_lines(data: bytes, expected: list[bytes | None], size: int) -> None:
    assert cut(data, size) == expected
