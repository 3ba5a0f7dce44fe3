"""From texts to the tokens of a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, json

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


class Tokens:
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
