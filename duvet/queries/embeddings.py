"""Embedding models: the protocol, the installed model, and a dummy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from struct import iter_unpack, pack, unpack
from typing import Protocol

from blake3 import blake3

from duvet.errors import DuvetError
from duvet.store.records import VectorSegment


class VectorSpace(Protocol):
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


class VectorRows(Protocol):
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

    def fitted(self, texts: Sequence[str]) -> VectorSpace:
        """The space of a corpus; the same texts in the same order give the same one."""

    def space(self, data: bytes) -> VectorSpace | None:
        """The one that this model has made before; None where another has, or nobody."""


VECTOR_SCALE = 4
"""Bytes of a little-endian float32."""
MAX_COMPONENT = 127
"""What a number of a row is at most."""


def row_size(width: int) -> int:
    """The bytes of one row."""
    return width + VECTOR_SCALE


def make_vector_row(numbers: bytes) -> bytes:
    """A row of length 1 in the direction of these signed bytes."""
    length = sum((number - 256 if number > MAX_COMPONENT else number) ** 2 for number in numbers) ** 0.5
    return numbers + pack("<f", 1 / length if length else 0.0)


DUMMY_NAME = "dummy 1"
DUMMY_WIDTH = 8


class DummySpace:
    """The same for each corpus."""

    data = DUMMY_NAME.encode()
    width = DUMMY_WIDTH

    def rows(self, texts: Sequence[str]) -> bytes:
        return b"".join(make_vector_row(_numbers(text)) for text in texts)

    def query(self, text: str) -> bytes:
        numbers = memoryview(_numbers(text)).cast("b").tolist()
        length = sum(number * number for number in numbers) ** 0.5 or 1.0
        return pack(f"<{DUMMY_WIDTH}f", *(number / length for number in numbers))


class DummyEmbedder:
    """Needs nothing that isn't there."""

    name = DUMMY_NAME
    width = DUMMY_WIDTH

    def fitted(self, texts: Sequence[str]) -> DummySpace:
        return DummySpace()

    def space(self, data: bytes) -> DummySpace | None:
        return DummySpace() if data == DummySpace.data else None


def _numbers(text: str) -> bytes:
    return blake3(text.encode(errors="replace")).digest(DUMMY_WIDTH)


WEIGHTS_PATH = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER_PATH = Path("tokenizers", "l2_supercat_tokenizer_config.json")
VERSION_PATH = Path("_version.py")


def find_wordllama() -> Path | None:
    """Its folder, where all of it is there; nothing of it is imported, for that takes long."""
    found = find_spec("wordllama")
    for place in (found and found.submodule_search_locations) or ():
        if all((Path(place) / file).is_file() for file in (WEIGHTS_PATH, TOKENIZER_PATH, VERSION_PATH)):
            return Path(place)
    return None


def find_embedder(wanted: bool | None = None, dummy: bool = False) -> Embedder | None:
    """None where there is none or it isn't wanted; a DuvetError where it is, and isn't there."""
    if dummy:
        return DummyEmbedder()
    if wanted is False:
        return None
    ##= man/spec/knowledge.md#vectors
    ##% duvet MUST compute vectors with what is installed, without the network.
    folder = find_wordllama()
    if folder is not None and find_spec("numpy") is not None:
        from duvet.queries.wordllama import WordLlama

        return WordLlama(folder)
    if wanted:
        raise DuvetError(
            "search by meaning needs the extra `semantic`", hint="install it: pip install 'duvet-cli[semantic]'"
        )
    return None


class PurePythonMatrix:
    """Rows of one width, each with the number of what it belongs to."""

    def __init__(self, width: int, segments: Iterable[VectorSegment]) -> None:
        self._width = width
        self._rows = [*self._read(segments)]

    def _read(self, segments: Iterable[VectorSegment]) -> Iterator[tuple[int, Sequence[float]]]:
        for segment in segments:
            if len(segment.rows) == len(segment.numbers) * row_size(self._width):
                rows = iter_unpack(f"<{self._width}bf", segment.rows)
                for number, (*numbers, scale) in zip(segment.numbers, rows, strict=True):
                    # Of a vector of length 1 no number is larger; what was overwritten may be anything.
                    if 0 <= scale <= 1:
                        yield number, [one * scale for one in numbers]

    def __len__(self) -> int:
        return len(self._rows)

    def best(self, query: bytes, limit: int, allowed: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """The numbers that are nearest to a query, each with its cosine, the nearest first; None is all."""
        asked = unpack(f"<{self._width}f", query)
        among = None if allowed is None else frozenset(allowed)
        scores = (
            (number, sum(one * other for one, other in zip(row, asked, strict=True)))
            for number, row in self._rows
            if among is None or number in among
        )
        near = [(number, score) for number, score in scores if score > 0]
        return sorted(near, key=lambda one: (-one[1], one[0]))[:limit]
