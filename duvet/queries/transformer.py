"""The transformer MiniLM, computed by numpy with the weights of its ONNX file."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from blake3 import blake3
from msgspec import DecodeError, msgpack

from duvet.queries.embeddings import TRANSFORMER_SHARE
from duvet.queries.vectors import WordLlama, WordLlamaSpace, digest_samples, np, pack_rows, unpack_rows

_RECIPE = 2  # To be increased whenever the computation of vectors changes.
_MAX_TOKENS = 256
_SHARE = 0.75  # The share of the sentence in a cosine; the words have the rest.
_DIGEST_BYTES = 16
_WIDTH, _LAYERS, _HEADS = 384, 6, 12
_EPSILON = 1e-12
_GRAPH, _TENSOR = 7, 5  # Fields of protocol buffers: the graph of a model, and a tensor of a graph.
_DIMENSION, _TYPE, _NAME, _DATA = 1, 2, 8, 9  # Fields of a tensor.
_TYPES = {1: "<f4", 3: "i1"}  # The types of tensors that MiniLM uses.
_MATRIX = re.compile(r"val_(\d+)_q")
_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
"""Coefficients of an approximation of the error function (Abramowitz and Stegun, 7.1.26)."""


class MiniLm:
    def __init__(self, model: Path, tokenizer: Path, words: WordLlama) -> None:
        from tokenizers import Tokenizer

        self._network = _Network(model)
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.no_padding()
        self._model = model
        self.words = words
        self.width = _WIDTH + words.width
        self.sentences: dict[bytes, bytes] = {}  # The row of each embedded text by its digest, for callers to store.

    @cached_property
    def _version(self) -> str:
        return f"MiniLM {digest_samples(self._model)} {_RECIPE}"

    @property
    def name(self) -> str:
        return f"{self._version} {self.words.name}"

    def fitted(self, texts: Sequence[str]) -> MiniLmSpace:
        return MiniLmSpace(self, self.words.fitted(texts))

    def space(self, data: bytes) -> MiniLmSpace | None:
        try:
            name, inner = msgpack.decode(data, type=tuple[str, bytes])
        except (DecodeError, ValueError):
            return None
        words = self.words.space(inner) if name == self.name else None
        return None if words is None else MiniLmSpace(self, words)

    def encode(self, text: str) -> bytes:
        """Return the row of a single text; in a batch, it would depend on the other texts."""
        key = blake3(f"{self._version}\0{text}".encode(errors="replace")).digest(_DIGEST_BYTES)
        row = self.sentences.get(key)
        if row is None:
            mean = self._network.compute(self._tokenizer.encode(text).ids).mean(axis=0)
            row = self.sentences[key] = pack_rows((mean / np.linalg.norm(mean))[None])
        return row


class _Network:
    """The encoder of BERT. Its matrices are signed bytes, scaled by column or, for embeddings, by row."""

    def __init__(self, path: Path) -> None:
        self._tensors = tensors = _read_tensors(path)
        # The matrices have only numbers as names, which ascend in the order of their use.
        numbers = sorted(int(match[1]) for match in map(_MATRIX.fullmatch, tensors) if match)
        scaled = [(tensors[f"val_{number}_q"], tensors[f"val_{number}_scale"]) for number in numbers]
        parts = ("self.query", "self.key", "self.value", "output.dense")
        names = [*(f"attention.{part}" for part in parts), "intermediate.dense", "output.dense"]
        self._matrices = {
            f"encoder.layer.{layer}.{name}": scaled[layer * len(names) + place]
            for layer in range(_LAYERS)
            for place, name in enumerate(names)
        }
        # Raises an exception if a tensor is missing or has another shape.
        self.compute([0])

    def compute(self, tokens: Sequence[int]) -> Any:
        count = len(tokens)
        # The bytes of one matrix at a time are converted to numbers, because all of them would take 42 MB.
        room = np.empty(_WIDTH * _WIDTH * 4, np.float32)

        def multiply(vectors: Any, name: str) -> Any:
            numbers, scale = self._matrices[name]
            matrix = room[: numbers.size].reshape(numbers.shape)
            matrix[...] = numbers
            return (vectors @ matrix) * scale + self._get(f"{name}.bias")

        def split(vectors: Any) -> Any:
            return vectors.reshape(count, _HEADS, -1).transpose(1, 0, 2)

        vectors = self._embed("word_embeddings", tokens) + self._embed("position_embeddings", range(count))
        vectors = self._normalize(vectors + self._get("embeddings.token_type_embeddings.weight")[0], "embeddings")
        for layer in (f"encoder.layer.{number}" for number in range(_LAYERS)):
            query, key, value = (
                split(multiply(vectors, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value")
            )
            weights = query @ key.transpose(0, 2, 1) * (_HEADS / _WIDTH) ** 0.5
            weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            seen = (weights @ value).transpose(1, 0, 2).reshape(count, _WIDTH)
            seen = multiply(seen, f"{layer}.attention.output.dense")
            vectors = self._normalize(vectors + seen, f"{layer}.attention.output")
            inner = _activate(multiply(vectors, f"{layer}.intermediate.dense"))
            vectors = self._normalize(vectors + multiply(inner, f"{layer}.output.dense"), f"{layer}.output")
        return vectors

    def _get(self, name: str) -> Any:
        return self._tensors[f"inner.{name}"]

    def _embed(self, name: str, numbers: Sequence[int]) -> Any:
        places = np.asarray(numbers)
        weights, scales = (self._get(f"embeddings.{name}.weight_{part}") for part in ("q", "scale"))
        return weights[places] * scales[places]

    def _normalize(self, vectors: Any, name: str) -> Any:
        vectors = vectors - vectors.mean(axis=-1, keepdims=True)
        vectors /= np.sqrt(np.square(vectors).mean(axis=-1, keepdims=True) + _EPSILON)
        return vectors * self._get(f"{name}.LayerNorm.weight") + self._get(f"{name}.LayerNorm.bias")


def _activate(numbers: Any) -> Any:
    size = np.abs(numbers) * 0.5**0.5
    part = 1 / (1 + 0.3275911 * size)
    total = np.zeros_like(part)
    for coefficient in _ERF:
        total += coefficient
        total *= part
    total *= np.exp(-np.square(size))
    return 0.5 * (numbers + np.abs(numbers) * (1 - total))


def _read_tensors(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    tensors = {}
    for graph in _read_fields(data, range(len(data)), _GRAPH):
        for tensor in _read_fields(data, graph, _TENSOR):
            kind = _TYPES.get(next(_read_fields(data, tensor, _TYPE), range(0)).start)
            name, content = (next(_read_fields(data, tensor, field), range(0)) for field in (_NAME, _DATA))
            if kind and content:
                shape = [dimension.start for dimension in _read_fields(data, tensor, _DIMENSION)]
                numbers = np.frombuffer(data, kind, len(content) // np.dtype(kind).itemsize, content.start)
                tensors[data[name.start : name.stop].decode()] = numbers.reshape(shape)
    return tensors


def _read_fields(data: mmap.mmap, within: range, wanted: int) -> Iterator[range]:
    at = within.start
    while at < within.stop:
        key, at = _read_number(data, at)
        size, at = _read_number(data, at)
        has_content = key & 7 == 2
        if key >> 3 == wanted:
            yield range(at, at + size) if has_content else range(size, size + 1)
        at += size if has_content else 0


def _read_number(data: mmap.mmap, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


class MiniLmSpace:
    """The vector of a text without words is zero."""

    share = TRANSFORMER_SHARE

    def __init__(self, model: MiniLm, words: WordLlamaSpace) -> None:
        self.width = model.width
        self._model = model
        self._words = words

    @cached_property
    def data(self) -> bytes:
        return msgpack.encode((self._model.name, self._words.data))

    def rows(self, texts: Sequence[str]) -> bytes:
        return pack_rows(self._directions(texts)) if texts else b""

    def query(self, text: str) -> bytes:
        data: bytes = self._directions([text]).astype("<f4").tobytes()
        return data

    def _directions(self, texts: Sequence[str]) -> Any:
        words = np.concatenate(list(self._words.directions(texts)))
        has_words = np.asarray([bool(self._model.words.tokens.of(text)) for text in texts])[:, None]
        rows = b"".join(
            self._model.encode(text) if any(has) else bytes(_WIDTH + 4)
            for text, has in zip(texts, has_words, strict=True)
        )
        return np.concatenate([unpack_rows(rows, _WIDTH) * _SHARE**0.5, words * (1 - _SHARE) ** 0.5], axis=1)
