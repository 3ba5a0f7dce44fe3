"""The words of a text, as they are indexed and asked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

MOST_CHARACTERS = 2000
"""So many characters of a query count."""
MOST_WORDS = 64
"""So many words of a query count."""

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+")
_COMPOSED = re.compile(r"(?<![^\W_])[^\W_]++(?:_++[^\W_]++)++")


def words_of(text: str) -> list[str]:
    """Its words in lower case, in their order, each as often as it stands there."""
    return _WORD.findall(_composed(text).lower())


def asked_words(query: str) -> tuple[list[str], bool]:
    """The words of a query that count, each once, and whether there are more."""
    ##= man/spec/knowledge.md#store
    ##% Of a query the first 2,000 characters and 64 words MUST count, and no more.
    words = list(dict.fromkeys(words_of(query[:MOST_CHARACTERS])))
    return words[:MOST_WORDS], len(query) > MOST_CHARACTERS or len(words) > MOST_WORDS


def indexed(text: str) -> list[str]:
    """The words that the text is found by: its own, the parts of names such as `parseHeaderLine`, and names such as
    `parse_header_line` as one word."""
    ##= man/spec/knowledge.md#store
    ##% Words MUST be found in whatever form they stand in a piece or in its title, names such as `parseHeaderLine` by each
    ##% of their parts, too, and names such as `parse_header_line` also as the one word that these make.
    plain = _composed(text)
    names = _WORD.findall(plain)
    joined = [name.replace("_", "").lower() for name in _COMPOSED.findall(plain)] if "_" in plain else ()
    return [*map(str.lower, names), *parts_of(names), *joined]


def as_one(name: str) -> str:
    """What is left of a name, however its parts are joined: `parseheaderline`."""
    return "".join(words_of(name))


def parts_of(names: Iterable[str]) -> Iterator[str]:
    """What the names are composed of that have capitals inside, in lower case."""
    for name in names:
        if not name.islower() and _HUMP.search(name):
            for part in _PART.findall(name):
                yield part.lower()


def folded(text: str) -> str:
    """The text as names are compared: without case, and with one spelling for each character."""
    return text.lower() if text.isascii() else _composed(text).casefold()


def _composed(text: str) -> str:
    # A mark of its own would cut the word that it stands in.
    return text if text.isascii() else unicodedata.normalize("NFC", text)
