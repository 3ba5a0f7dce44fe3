"""Splits, folds and stems words for the search indexes, and lists common words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import filterfalse, pairwise

MAX_QUERY_CHARACTERS = 2000  # Maximum number of characters to read of a query.
MAX_QUERY_WORDS = 64  # Maximum number of words to read of a query for chunks.

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+")
_COMPOSED = re.compile(r"(?<![^\W_])[^\W_]++(?:_++[^\W_]++)++")

# `not` is left out, too: a search for "must not" means it.
_COMMON = """
    a about after all also an and any are aren as at be because been before being between both but by can could couldn d
    did didn do does doesn doing don each for from had has hasn have haven having he her here how i if in into is isn it
    its itself just ll m me more most my no nor of off on once only or other our out over own re s same she so some such
    t than that the their them then there these they this those through to too under until up upon ve was wasn we were
    weren what when where whether which while who whom why will with within would wouldn you your
"""
STOP_WORDS = frozenset(_COMMON.split())


def compose(text: str) -> str:
    """Normalise text to NFC, because a separate combining mark would split its word."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold_name(text: str) -> str:
    return text.lower() if text.isascii() else compose(text).casefold()


def extract_words(text: str) -> list[str]:
    return _WORD.findall(compose(text).lower())


def extract_query_words(query: str) -> tuple[list[str], bool]:
    words = list(dict.fromkeys(extract_words(query[:MAX_QUERY_CHARACTERS])))
    return words[:MAX_QUERY_WORDS], len(query) > MAX_QUERY_CHARACTERS or len(words) > MAX_QUERY_WORDS


def extract_index_words(text: str) -> list[str]:
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST find words in any grammatical form, symbols by a part of their names, and files by path or
    ##% name.
    plain = compose(text)
    names = _WORD.findall(plain)
    joined = [name.replace("_", "").lower() for name in _COMPOSED.findall(plain)] if "_" in plain else ()
    return [
        *map(str.lower, names),
        *(part.lower() for name in names if not name.islower() and _HUMP.search(name) for part in _PART.findall(name)),
        *joined,
    ]


def join_name(name: str) -> str:
    return "".join(extract_words(name))


# Chinese, Japanese and Korean, which have no blanks between all words. Compiling it takes 1.5 ms, which few texts need.
_UNSPACED = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
_ACCENTS = r"[\u0300-\u036f]+"
_BLANKS = str.maketrans(dict.fromkeys(filterfalse(str.isalnum, map(chr, range(128))), " "))


def fold_text(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", re.sub(_ACCENTS, "", folded))


def split_words(text: str) -> list[str]:
    ##= man/spec/pages.md#search
    ##% `search` MUST find words regardless of case, accents, character width and grammatical form, and in text without
    ##% spaces between words.
    folded = fold_text(text)
    if folded.isascii():
        return folded.translate(_BLANKS).split()
    return _WORD.findall(
        re.sub(_UNSPACED, lambda run: f" {' '.join(map(''.join, pairwise(run[0]))) or run[0]} ", folded)
    )


def is_unspaced(word: str) -> bool:
    return not word.isascii() and re.fullmatch(_UNSPACED, word) is not None


_VERB_ENDING = re.compile(r"(?<=..)(?:ing|ed)\Z")
_WITHOUT_E = re.compile(r".*(?:at|i[sz])|[^aeiou][aeiouy][^aeiouwxy]")
_LONG_ENDING = re.compile(r"(?<=...)(?:ational|ation|ator)\Z|(?<=...)i([sz])ation\Z|(?<=....)(?:ness|ly)\Z")
# These endings need two syllables before them: `corner` and `mission` are no forms of `corn` and `miss`.
_SHORT_ENDING = re.compile(r"([^aeiouy]*(?:[aeiouy]+[^aeiouy]+){2,}?)(?:e?ment|ion|er|or|al|ive|ate|i[sz]e)")
_LEAST_STEM, _MOST_STEM = 4, 32  # Shorter and longer words are their own stems.


def stem_word(word: str) -> str:
    # Long words would fill the cache.
    return _stem(word) if _LEAST_STEM <= len(word) <= _MOST_STEM else word


@lru_cache(maxsize=1 << 15)
def _stem(word: str) -> str:
    if not word.isascii() or not word.isalpha():
        return word
    if word.endswith(("ies", "ied")):
        word = f"{word[:-3]}y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word[-1] == "s" and word[-2] not in "su":
        word = word[:-1]
    ending = _VERB_ENDING.search(word)
    if ending and any(vowel in word[: ending.start()] for vowel in "aeiouy"):
        word = word[: ending.start()]
        if len(word) >= _LEAST_STEM and word[-1] == word[-2] and word[-1] not in "lsz":
            word = word[:-1]
        elif _WITHOUT_E.fullmatch(word):
            word += "e"
    if long := _LONG_ENDING.search(word):
        word = word[: long.start()] + (f"i{long[1]}e" if long[1] else "ate" if long[0].startswith("at") else "")
    if short := _SHORT_ENDING.fullmatch(word):
        word = short[1]
    return word[:-1] if len(word) > _LEAST_STEM and word[-1] in "ey" else word
