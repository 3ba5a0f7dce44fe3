"""From what people type to what is looked for."""

from __future__ import annotations

import re

from msgspec import Struct

MOST = 2000
"""So many characters of a query count."""

# Everything else is a boundary, so that what is left never ends a string of the search engine.
_PIECE = re.compile(r"[\"“„](?P<phrase>[^\"“”„]*)[\"”]|(?P<word>[^\s\x00-\x20!\"#$%&()*,;<=>?@\[\\\]^`{|}~“”„]+)")
_JOINTS = re.compile(r"[-_./:'\u2019+]+")
_ENDING = re.compile(r"['\u2019](?:s|t|d|m|re|ve|ll)\Z", re.IGNORECASE)

##= man/spec/search.md#queries
##% The key words of RFC 2119 MUST count.
# None of them is here, nor `not`: who asks for "must not" means it.
_COMMON = """
    a about after all also an and any are aren as at be because been before being between both but by can could couldn d
    did didn do does doesn doing don each for from had has hasn have haven having he her here how i if in into is isn it
    its itself just ll m me more most my no nor of off on once only or other our out over own re s same she so some such
    t than that the their them then there these they this those through to too under until up upon ve was wasn we were
    weren what when where whether which while who whom why will with within would wouldn you your
"""
STOP_WORDS = frozenset(_COMMON.split())
"""Words that every text is full of."""


class Query(Struct, frozen=True):
    """Words and phrases that count, and what does not."""

    terms: tuple[str, ...]
    phrases: frozenset[str]
    """The terms that stood in quotes."""
    dropped: tuple[str, ...]
    """Words that every text is full of."""
    is_cut: bool

    @property
    def all_of_it(self) -> str:
        """The expression that every term has to match."""
        return " ".join(map(_literal, self.terms))

    @property
    def some_of_it(self) -> str:
        """The expression that any word or phrase has to match."""
        words: dict[str, None] = {}
        for term in self.terms:
            words.update(dict.fromkeys([term] if term in self.phrases else _counting(term)))
        return " OR ".join(map(_literal, words))


def storable(text: str) -> str:
    """The text with what sqlite can't take replaced."""
    return text.replace("\0", " ").encode(errors="replace").decode()


def parsed(text: str) -> Query:
    """A query in plain words, with phrases in quotes."""
    terms: dict[str, None] = {}
    phrases: list[str] = []
    dropped: dict[str, None] = {}
    for piece in _PIECE.finditer(text[:MOST]):
        ##= man/spec/search.md#queries
        ##% What stands in double quotes MUST be found as a phrase.
        typed = storable(piece["word"] or piece["phrase"] or "").strip().lower()
        term = _ENDING.sub("", typed)
        if not any(map(str.isalnum, term)):
            continue
        if piece["word"] is None:
            phrases.append(term)
        elif not _counting(term):
            dropped[typed] = None
            continue
        terms[term] = None
    return Query(tuple(terms), frozenset(phrases), tuple(dropped), len(text) > MOST)


def _counting(term: str) -> list[str]:
    """The words of a term that tell something."""
    return [word for word in _JOINTS.split(term) if word and word not in STOP_WORDS]


def _literal(term: str) -> str:
    ##= man/spec/search.md#queries
    ##% What people type MUST NOT be read as the syntax of the search engine, unless `--raw` asks for that.
    # Terms hold no double quotes, and what stands between those is text for it.
    return f'"{term}"'
