"""Embeddings from the weights of the `wordllama` package, with its tokenizer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from blake3 import blake3
from msgspec import DecodeError, Struct, json, msgpack

from duvet.queries.embeddings import MAX_COMPONENT, TOKENIZER_PATH, VECTOR_SCALE, VERSION_PATH, WEIGHTS_PATH
from duvet.queries.vector_matrix import np

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_START = "\N{LOWER ONE EIGHTH BLOCK}"
"""What a token that begins a word begins with."""
_LONGEST = 64
"""So many characters of a word count."""
_KEPT = 50_000
"""So many words are known by heart."""


class _Model(Struct):
    vocab: dict[str, int]


class _Tokenizer(Struct):
    model: _Model


class TextTokenizer:
    """The words of texts in pieces that a model knows, found as SentencePiece does: the oldest pair is joined first."""

    def __init__(self, path: Path) -> None:
        # The package `tokenizers` reads the same file in five times the time.
        self._numbers = json.decode(path.read_bytes(), type=_Tokenizer).model.vocab
        self._known: dict[str, tuple[int, ...]] = {}

    def of(self, text: str) -> list[int]:
        """The numbers of its tokens; names are taken apart where a capital begins, and case doesn't count."""
        known, found = self._known, list[int]()
        for word in _WORD.findall(text):
            tokens = known.get(word)
            found += self._learnt(word) if tokens is None else tokens
        return found

    def of_word(self, word: str) -> tuple[int, ...]:
        """The numbers of a single word, as it is written."""
        numbers, parts = self._numbers, [_START, *word]
        while len(parts) > 1:
            pairs = [left + right for left, right in pairwise(parts)]
            known = [(numbers[pair], at) for at, pair in enumerate(pairs) if pair in numbers]
            if not known:
                break
            _, at = min(known)
            parts[at : at + 2] = [pairs[at]]
        return tuple(number for part in parts for number in self._spelt(part))

    def _spelt(self, part: str) -> Sequence[int]:
        """The number of a piece, or those of its bytes."""
        number = self._numbers.get(part)
        return [self._numbers[f"<0x{byte:02X}>"] for byte in part.encode()] if number is None else [number]

    def _learnt(self, word: str) -> tuple[int, ...]:
        if len(self._known) >= _KEPT:
            self._known.clear()
        parts = _PART.findall(word[:_LONGEST])
        tokens = tuple(number for part in parts for number in self.of_word(part.lower()))
        self._known[word] = tokens
        return tokens


_VERSION = re.compile(r"^__version__ = .*'(.+)'$", re.MULTILINE)
_RECIPE = 1
"""How vectors of texts are made of those of words; another number whenever that changes."""
_BATCH = 256
"""So many texts are calculated at once."""
_SAMPLE = 10_000
"""So many texts of a corpus tell how common its words are."""
_MOST_TELLING, _ROUNDING = 64, 1e-3
_FEW = 512
"""A smaller corpus has no direction of its own."""


class _Kept(Struct, frozen=True):
    """What is kept of a space."""

    name: str
    weights: bytes
    """How much each token tells, as float16."""
    common: bytes
    """The direction that all texts have in common, as float32."""


class _Tensor(Struct):
    dtype: str
    shape: tuple[int, int]
    data_offsets: tuple[int, int]


class WordLlama:
    """A vector for each of 32,000 tokens."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.tokens = TextTokenizer(folder / TOKENIZER_PATH)
        self.vectors = _matrix(folder / WEIGHTS_PATH)
        self.width = self.vectors.shape[1]

    @cached_property
    def name(self) -> str:
        found = _VERSION.search((self._folder / VERSION_PATH).read_text(encoding="utf-8"))
        digest = blake3()
        for file in (WEIGHTS_PATH, TOKENIZER_PATH):
            digest.update_mmap(self._folder / file)
        return f"wordllama {found[1] if found else ''} {digest.hexdigest()} {_RECIPE}"

    def fitted(self, texts: Sequence[str]) -> WordLlamaSpace:
        sample = texts[:: len(texts) // _SAMPLE + 1]
        flat = WordLlamaSpace(self, _informing(self, sample), np.zeros(self.width, np.float32))
        if len(sample) < _FEW:
            return flat
        return WordLlamaSpace(self, flat.weights, _common(flat, sample))

    def space(self, data: bytes) -> WordLlamaSpace | None:
        try:
            kept = msgpack.decode(data, type=_Kept)
        except (DecodeError, ValueError):
            return None
        ##= man/spec/knowledge.md#vectors
        ##% duvet MUST NOT compare vectors of different models, versions or corpora.
        if (kept.name, len(kept.weights), len(kept.common)) != (self.name, 2 * len(self.vectors), 4 * self.width):
            return None
        weights, common = np.frombuffer(kept.weights, "<f2"), np.frombuffer(kept.common, "<f4")
        # What was overwritten is no space of anybody's; no word tells as much as that.
        if not ((np.abs(weights) <= _MOST_TELLING).all() and (np.abs(common) <= 1 + _ROUNDING).all()):
            return None
        return WordLlamaSpace(self, weights, common)


class WordLlamaSpace:
    """The mean of the words of a text, of which each counts the more the rarer it is, without what all texts share."""

    def __init__(self, model: WordLlama, weights: Any, common: Any) -> None:
        self.weights = weights
        self.width = model.width
        self._model = model
        self._common = common

    @cached_property
    def data(self) -> bytes:
        return msgpack.encode(_Kept(self._model.name, self.weights.tobytes(), self._common.tobytes()))

    def rows(self, texts: Sequence[str]) -> bytes:
        return b"".join(map(_packed, self.directions(texts)))

    def query(self, text: str) -> bytes:
        (found,) = self.directions([text])
        data: bytes = found.astype("<f4").tobytes()
        return data

    def directions(self, texts: Sequence[str]) -> Iterator[Any]:
        """The vectors of batches of texts."""
        for at in range(0, len(texts), _BATCH):
            means = _unit(self._sums(texts[at : at + _BATCH]))
            yield _unit(means - np.outer(means @ self._common, self._common))

    def _sums(self, texts: Sequence[str]) -> Any:
        tokens = [self._model.tokens.of(text) for text in texts]
        numbers = np.concatenate([np.asarray(one, np.int32) for one in tokens])
        used, places = np.unique(numbers, return_inverse=True)
        rows = np.repeat(np.arange(len(texts)), [len(one) for one in tokens])
        counts = np.bincount(rows * len(used) + places, minlength=len(texts) * len(used))
        told = self._model.vectors[used].astype(np.float32) * self.weights[used].astype(np.float32)[:, None]
        return counts.reshape(len(texts), len(used)).astype(np.float32) @ told


def _matrix(path: Path) -> Any:
    """The numbers of the only tensor of a file of safetensors, which stay on the disk until they are used."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.decode(file.read(size), type=dict[str, Any])
    (tensor,) = (json.decode(json.encode(one), type=_Tensor) for name, one in header.items() if name != "__metadata__")
    at = 8 + size + tensor.data_offsets[0]
    return np.asarray(np.memmap(path, "<f2", "r", at, tensor.shape))


def _informing(model: WordLlama, texts: Sequence[str]) -> Any:
    """How much each token tells: the fewer texts it stands in, the more."""
    standing = np.zeros(len(model.vectors), np.float32)
    for text in texts:
        standing[[*{*model.tokens.of(text)}]] += 1
    return np.log((len(texts) + 1) / (standing + 0.5)).astype("<f2")


def _common(flat: WordLlamaSpace, texts: Sequence[str]) -> Any:
    """The first principal component of the texts."""
    spread = sum(vectors.T @ vectors for vectors in flat.directions(texts))
    _, vectors = np.linalg.eigh(spread)
    return vectors[:, -1].astype("<f4")


def _unit(vectors: Any) -> Any:
    """Each of length 1, or 0 where nothing is left of it."""
    ##= man/spec/knowledge.md#vectors
    ##% A search by vectors MUST find the nearest chunks of all, and nothing by or for a text without words.
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 1e-4)


def _packed(vectors: Any) -> bytes:
    """Rows, in the form in which they are kept."""
    scales = np.abs(vectors).max(axis=1, initial=0.0) / MAX_COMPONENT
    numbers = np.divide(vectors, scales[:, None], out=np.zeros_like(vectors), where=scales[:, None] > 0)
    width = vectors.shape[1]
    packed = np.empty((len(vectors), width + VECTOR_SCALE), np.uint8)
    packed[:, :width] = np.rint(numbers).astype(np.int8).view(np.uint8)
    packed[:, width:] = scales.astype("<f4").view(np.uint8).reshape(-1, VECTOR_SCALE)
    data: bytes = packed.tobytes()
    return data
