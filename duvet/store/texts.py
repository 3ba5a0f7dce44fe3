"""The texts of files, in little room."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from msgspec import DecodeError, Struct, msgpack

from duvet.store.database import Database
from duvet.store.faults import decoding
from duvet.store.values import raw

_SAMPLES, _SAMPLE, _EVERY = 16, 2048, 8
"""How many texts of how many characters tell how all others are likely to go on, and one of how many texts is taken."""
_MOST_TEXT = 1 << 28
"""Bytes that a text may have: a few that were made up could say that they are thousands of times as many."""
_TEXT = "SELECT data, (SELECT data FROM dictionary) FROM text WHERE artifact = ?"


class Text(Struct, frozen=True):
    """The text of a file, and the titles of its pieces, whose words stand in it mostly."""

    whole: str = ""
    titles: tuple[str, ...] = ()


class Texts:
    """Texts on their way into a store."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._dictionary = database.read_one(lambda row: raw(*row), "SELECT data FROM dictionary") or b""
        self._samples: list[str] = []
        self._count = 0

    def put(self, id: int, text: str, titles: Iterable[str]) -> None:
        """The text of a file, and the titles of its pieces."""
        if not self._dictionary:
            self._sample(text)
        # Files are small: much of what is in one stands in others.
        writer = zlib.compressobj(zdict=self._dictionary)
        data = msgpack.encode([_bytes(text), *map(_bytes, titles)])
        self.database.run("INSERT INTO text(artifact, data) VALUES (?, ?)", id, writer.compress(data) + writer.flush())

    def _sample(self, text: str) -> None:
        self._count += 1
        if self._count % _EVERY == 0:
            # Many files begin alike.
            start = max(0, len(text) - _SAMPLE) // 2
            self._samples.append(text[start : start + _SAMPLE])
        if len(self._samples) == _SAMPLES:
            self._dictionary = "".join(self._samples).encode(errors="surrogatepass")
            self.database.run("INSERT INTO dictionary(data) VALUES (?)", self._dictionary)


def text_of(database: Database, id: int) -> Text:
    """The text of a file; nothing where it has no pieces."""
    row = database.row(_TEXT, id)
    if row is None:
        return Text()
    with decoding(database.path):
        reader = zlib.decompressobj(zdict=raw(row[1] or b""))
        data = reader.decompress(raw(row[0]), _MOST_TEXT)
        if not reader.eof:
            raise zlib.error("a text is not whole")
        return _text(data)


def _text(data: bytes) -> Text:
    try:
        whole, *titles = msgpack.decode(data, type=tuple[bytes, ...])
    except (DecodeError, ValueError) as error:
        raise zlib.error("a text makes no sense") from error
    return Text(whole.decode(errors="surrogatepass"), tuple(one.decode(errors="surrogatepass") for one in titles))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
