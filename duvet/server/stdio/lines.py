"""Bytes to lines: messages are one a line."""

from __future__ import annotations

from collections.abc import Iterator

LONGEST = 4 * 1024 * 1024
"""Bytes of a line that is read."""
_MARK = b"\xef\xbb\xbf"


class Lines:
    """Cuts what arrives into lines, and holds no more of a line than may be read."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._held = bytearray()
        self._skips = False
        """Whether what comes is the rest of a line that is too long."""
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that are whole now, and None for one that is too long, once."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            yield from self._add(end)
            yield from self._line()
            self._skips = False
        yield from self._add(rest)

    def end(self) -> Iterator[bytes]:
        """The last line, which nothing ends."""
        yield from self._line()

    def _add(self, part: bytes) -> Iterator[None]:
        if self._skips:
            return
        self._held += part
        if len(self._held) > self._longest:
            self._held.clear()
            self._skips = True
            yield None

    def _line(self) -> Iterator[bytes]:
        line = bytes(self._held)
        self._held.clear()
        if not self._begun:
            # Some shells put it before what they pipe.
            line = line.removeprefix(_MARK)
            self._begun = True
        if line.strip():
            yield line
