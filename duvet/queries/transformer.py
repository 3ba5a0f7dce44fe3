"""Embeddings of sentences by the transformer all-MiniLM-L6-v2, joined with those of single words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from blake3 import blake3
from msgspec import DecodeError, msgpack

from duvet.queries.vectors import WordLlama, np, pack_rows, unpack_rows

_RECIPE = 1  # To be increased whenever the computation of vectors changes.
_MAX_TOKENS = 256
_WIDTH = 384
_SHARE = 0.75  # The share of the sentence in a cosine; the words have the rest.
_DIGEST_BYTES = 16


class MiniLm:
    """An embedder of sentences. `sentences` has the rows of the texts so far, by digest, so that callers can store them."""

    def __init__(self, model: Path, tokenizer: Path, words: WordLlama) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = [one.name for one in self._session.get_inputs()]
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.no_padding()
        self._model = model
        self.words = words
        self.width = _WIDTH + words.width
        self.sentences: dict[bytes, bytes] = {}

    @cached_property
    def _version(self) -> str:
        return f"MiniLM {blake3().update_mmap(self._model).hexdigest()} {_RECIPE}"

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
        """Return the row of a text; one text at a time, so that it does not depend on others."""
        key = blake3(f"{self._version}\0{text}".encode(errors="replace")).digest(_DIGEST_BYTES)
        row = self.sentences.get(key)
        if row is None:
            ids = np.asarray([self._tokenizer.encode(text).ids], np.int64)
            given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            (hidden, *_) = self._session.run(None, {name: given[name] for name in self._inputs})
            mean = hidden[0].mean(axis=0)
            row = self.sentences[key] = pack_rows((mean / np.linalg.norm(mean))[None])
        return row


class MiniLmSpace:
    """Joins the vector of a sentence with the mean of its words; a text without words has no direction."""

    def __init__(self, model: MiniLm, words: Any) -> None:
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
