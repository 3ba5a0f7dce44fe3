"""Embeddings from the package `wordllama`, and exact nearest-neighbour search with numpy."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blake3 import blake3
from msgspec import DecodeError, Struct, json, msgpack

from duvet.queries import embeddings
from duvet.store.records import VectorSegment
from duvet.tree.recorder import digest_content

if TYPE_CHECKING:
    from duvet.trace.catalogue import Catalogue
    from duvet.tree.cache import Cache

__all__ = ["np"]

_THREADS = "OPENBLAS_NUM_THREADS"


# Limit numpy to one thread, unless the user set a number. OpenBLAS reads the variable once, when it is loaded; child
# processes are unaffected.
_HAS_LIMIT = _THREADS in os.environ
os.environ.setdefault(_THREADS, "1")
try:
    import numpy as np
finally:
    if not _HAS_LIMIT:
        os.environ.pop(_THREADS, None)

_BLOCK = 4096  # Number of rows to compare at once, so that they fit into a processor's cache.


class Matrix:
    """The numbers of the vectors must ascend."""

    def __init__(self, width: int, segments: Iterable[VectorSegment]) -> None:
        numbers, rows = array("q"), bytearray()
        for segment in segments:
            if len(segment.rows) == len(segment.numbers) * embeddings.row_size(width):
                numbers.extend(segment.numbers)
                rows += segment.rows
        table = np.frombuffer(rows, np.dtype([("numbers", "i1", (width,)), ("scale", "<f4")]))
        # The vectors have length 1, so a larger scale comes from damaged data.
        is_valid = (table["scale"] >= 0) & (table["scale"] <= 1)
        self._numbers = np.frombuffer(numbers, np.int64)
        self._rows = table
        if not is_valid.all():
            self._numbers, self._rows = self._numbers[is_valid], table[is_valid]
        self._width = width

    def __len__(self) -> int:
        return len(self._numbers)

    def best(self, query: bytes, limit: int, allowed: Sequence[int] | None = None) -> list[tuple[int, float]]:
        chosen = None
        if allowed is not None:
            wanted = np.asarray(allowed, np.int64)
            places = np.searchsorted(self._numbers, wanted)
            chosen = places[np.take(self._numbers, places, mode="clip") == wanted]
        numbers = self._numbers if chosen is None else self._numbers[chosen]
        vector = np.frombuffer(query, "<f4")
        total = len(numbers)
        scores = np.empty(total, np.float32)
        block = np.empty((min(_BLOCK, total), self._width), np.float32)
        for at in range(0, total, _BLOCK):
            end = min(at + _BLOCK, total)
            rows = self._rows[at:end] if chosen is None else self._rows[chosen[at:end]]
            part = block[: end - at]
            part[...] = rows["numbers"]
            np.multiply(part @ vector, rows["scale"], out=scores[at:end])
        # A text without words has no vector, so its score is 0.
        near = np.flatnonzero(scores > 0)
        if len(near) > limit:
            least = np.partition(scores[near], -limit)[-limit]
            near = near[scores[near] >= least]
        order = np.lexsort((numbers[near], -scores[near]))[:limit]
        return [(int(numbers[at]), float(scores[at])) for at in near[order]]


def make_matrix(width: int, rows: bytes, count: int) -> Matrix:
    return Matrix(width, [VectorSegment(tuple(range(count)), rows)])


_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_START = "\N{LOWER ONE EIGHTH BLOCK}"  # The first character of tokens that begin a word.
_MAX_WORD_CHARACTERS = 64
_MAX_CACHED_WORDS = 50_000


class _Model(Struct):
    vocab: dict[str, int]


class _Tokenizer(Struct):
    model: _Model


class TextTokenizer:
    def __init__(self, path: Path) -> None:
        # The package `tokenizers` takes five times as long to read the file.
        self._numbers = json.decode(path.read_bytes(), type=_Tokenizer).model.vocab
        self._cached: dict[str, tuple[int, ...]] = {}

    def of(self, text: str) -> list[int]:
        cached, found = self._cached, list[int]()
        for word in _WORD.findall(text):
            tokens = cached.get(word)
            if tokens is None:
                if len(cached) >= _MAX_CACHED_WORDS:
                    cached.clear()
                parts = _PART.findall(word[:_MAX_WORD_CHARACTERS])
                tokens = cached[word] = tuple(number for part in parts for number in self.of_word(part.lower()))
            found += tokens
        return found

    def of_word(self, word: str) -> tuple[int, ...]:
        numbers, parts = self._numbers, [_START, *word]
        while len(parts) > 1:
            pairs = [left + right for left, right in pairwise(parts)]
            known = [(numbers[pair], at) for at, pair in enumerate(pairs) if pair in numbers]
            if not known:
                break
            _, at = min(known)
            parts[at : at + 2] = [pairs[at]]
        found: list[int] = []
        for part in parts:
            # A part without a token has those of its bytes.
            found += [numbers[part]] if part in numbers else [numbers[f"<0x{byte:02X}>"] for byte in part.encode()]
        return tuple(found)


_VERSION = re.compile(r"^__version__ = .*'(.+)'$", re.MULTILINE)
_RECIPE = 1  # To be increased whenever the computation of vectors changes.
_BATCH = 256
_SAMPLE = 10_000  # Maximum number of a corpus's texts from which word weights are computed.
_MAX_WEIGHT, _ROUNDING = 64, 1e-3
_SAMPLES, _SAMPLE_BYTES = 64, 1024
_MIN_CORPUS = 512  # A smaller corpus has no common direction.


class _StoredSpace(Struct, frozen=True):
    name: str
    weights: bytes  # The weight of each token, as float16.
    common: bytes  # The direction that all texts share, as float32.


def digest_samples(*files: Path) -> str:
    """Return a digest of samples from all over the files, because reading a whole model is slow."""
    digest = blake3()
    for path in files:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            digest.update(size.to_bytes(8))
            for sample in range(_SAMPLES):
                file.seek(size * sample // _SAMPLES)
                digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


class WordLlama:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.sentences = None
        self.tokens = TextTokenizer(folder / embeddings.TOKENIZER_PATH)
        path = folder / embeddings.WEIGHTS_PATH
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.decode(file.read(size), type=dict[str, Any])
        (tensor,) = (one for name, one in header.items() if name != "__metadata__")
        at = 8 + size + tensor["data_offsets"][0]
        self.vectors = np.asarray(np.memmap(path, "<f2", "r", at, tuple(tensor["shape"])))
        self.width = self.vectors.shape[1]

    @cached_property
    def name(self) -> str:
        found = _VERSION.search((self._folder / embeddings.VERSION_PATH).read_text(encoding="utf-8"))
        digest = digest_samples(self._folder / embeddings.WEIGHTS_PATH, self._folder / embeddings.TOKENIZER_PATH)
        return f"wordllama {found[1] if found else ''} {digest} {_RECIPE}"

    def fitted(self, texts: Sequence[str]) -> WordLlamaSpace:
        sample = texts[:: len(texts) // _SAMPLE + 1]
        # The fewer texts contain a token, the higher is its weight.
        counts = np.zeros(len(self.vectors), np.float32)
        for text in sample:
            counts[[*{*self.tokens.of(text)}]] += 1
        weights = np.log((len(sample) + 1) / (counts + 0.5)).astype("<f2")
        space = WordLlamaSpace(self, weights, np.zeros(self.width, np.float32))
        if len(sample) < _MIN_CORPUS:
            return space
        # The first principal component of the texts.
        covariance = sum(vectors.T @ vectors for vectors in space.directions(sample))
        _, components = np.linalg.eigh(covariance)
        return WordLlamaSpace(self, weights, components[:, -1].astype("<f4"))

    def space(self, data: bytes) -> WordLlamaSpace | None:
        try:
            stored = msgpack.decode(data, type=_StoredSpace)
        except (DecodeError, ValueError):
            return None
        if (stored.name, len(stored.weights), len(stored.common)) != (self.name, 2 * len(self.vectors), 4 * self.width):
            return None
        weights, common = np.frombuffer(stored.weights, "<f2"), np.frombuffer(stored.common, "<f4")
        # Larger numbers come from damaged data.
        if not ((np.abs(weights) <= _MAX_WEIGHT).all() and (np.abs(common) <= 1 + _ROUNDING).all()):
            return None
        return WordLlamaSpace(self, weights, common)


class WordLlamaSpace:
    share = embeddings.STATIC_SHARE

    def __init__(self, model: WordLlama, weights: Any, common: Any) -> None:
        self.weights = weights
        self.width = model.width
        self._model = model
        self._common = common

    @cached_property
    def data(self) -> bytes:
        return msgpack.encode(_StoredSpace(self._model.name, self.weights.tobytes(), self._common.tobytes()))

    def rows(self, texts: Sequence[str]) -> bytes:
        return b"".join(map(pack_rows, self.directions(texts)))

    def query(self, text: str) -> bytes:
        (vector,) = self.directions([text])
        data: bytes = vector.astype("<f4").tobytes()
        return data

    def directions(self, texts: Sequence[str]) -> Iterator[Any]:
        for at in range(0, len(texts), _BATCH):
            batch = texts[at : at + _BATCH]
            tokens = [self._model.tokens.of(text) for text in batch]
            numbers = np.concatenate([np.asarray(one, np.int32) for one in tokens])
            used, places = np.unique(numbers, return_inverse=True)
            rows = np.repeat(np.arange(len(batch)), [len(one) for one in tokens])
            counts = np.bincount(rows * len(used) + places, minlength=len(batch) * len(used))
            vectors = self._model.vectors[used].astype(np.float32) * self.weights[used].astype(np.float32)[:, None]
            means = _normalize(counts.reshape(len(batch), len(used)).astype(np.float32) @ vectors)
            yield _normalize(means - np.outer(means @ self._common, self._common))


def _normalize(vectors: Any) -> Any:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 1e-4)


def pack_rows(vectors: Any) -> bytes:
    scales = np.abs(vectors).max(axis=1, initial=0.0) / embeddings.MAX_COMPONENT
    numbers = np.divide(vectors, scales[:, None], out=np.zeros_like(vectors), where=scales[:, None] > 0)
    width = vectors.shape[1]
    packed = np.empty((len(vectors), width + embeddings.VECTOR_SCALE), np.uint8)
    packed[:, :width] = np.rint(numbers).astype(np.int8).view(np.uint8)
    packed[:, width:] = scales.astype("<f4").view(np.uint8).reshape(-1, embeddings.VECTOR_SCALE)
    data: bytes = packed.tobytes()
    return data


def unpack_rows(rows: bytes, width: int) -> Any:
    table = np.frombuffer(rows, np.dtype([("numbers", "i1", (width,)), ("scale", "<f4")]))
    return table["numbers"] * table["scale"][:, None]


class _CachedVectors(Struct, array_like=True):
    space: bytes
    rows: bytes
    sentences: dict[bytes, bytes] = {}


class RequirementVectors:
    def __init__(self, catalogue: Catalogue, memory: Cache, embedder: embeddings.Embedder) -> None:
        titles = [one.titles for one in catalogue.specifications]
        self._texts = [
            f"{titles[card.specification].get(card.section, '')}\n{card.text}".strip()
            for card in catalogue.requirements
        ]
        self._embedder = embedder
        key = (embedder.name, digest_content(msgpack.encode(self._texts)))
        self._cached = memory.compute("vectors", _CachedVectors, key, lambda: self._compute(memory))

        # A damaged cache has no space; then use the space of the same texts, to which its rows belong.
        self._space = embedder.space(self._cached.space) or embedder.fitted(self._texts)
        self.share = self._space.share

    def _compute(self, memory: Cache) -> _CachedVectors:
        last = memory.load_last("vectors", _CachedVectors)
        known = self._embedder.sentences
        if known is not None and last is not None:
            known.update(last.sentences)
        space, count = self._embedder.fitted(self._texts), len(self._texts)
        return _CachedVectors(space.data, space.rows(self._texts), dict([*(known or {}).items()][-2 * count :]))

    def find_nearest(self, query: str, limit: int, allowed: Sequence[int] | None) -> list[tuple[int, float]]:
        return self._matrix.best(self._space.query(query), limit, allowed)

    @cached_property
    def _matrix(self) -> Matrix:
        return make_matrix(self._space.width, self._cached.rows, len(self._texts))
