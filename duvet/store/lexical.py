"""Pieces by their words, the best first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from math import log

from duvet.store.database import Database
from duvet.store.indexing import OFTEN, TITLE
from duvet.store.state import state_of
from duvet.store.words import MOST_WORDS, words_of

Hits = Sequence[tuple[int, float]]

_FOUND = "SELECT rowid FROM found WHERE found MATCH ?"
_COUNT = "SELECT count(*) FROM found WHERE found MATCH ?"
_WEIGHTS = (("", 1.0), *zip(OFTEN, (0.42, 0.30, 0.17), strict=True), (TITLE, 0.45))
"""What BM25 with `k1` = 1.2 adds for a word that stands in a piece; for one that does so twice, four times, eight times; and
for one in the title, which counts for two."""
_RARE = 10
"""A word that stands in more than every tenth piece finds none alone, as long as others do."""
_FEW = 2000
"""So many pieces are looked through in no time."""


def lexical(
    database: Database, terms: Sequence[str], allowed: Sequence[int] | None, limit: int, *, every: bool
) -> Hits:
    """The pieces with these words, by BM25; with None for what is allowed, any."""
    ##= man/spec/knowledge.md#store
    ##% What people ask for MUST be taken for words, never for the syntax of the search engine.
    words = list(dict.fromkeys(word for term in terms for word in words_of(term)))[:MOST_WORDS]
    counts = {word: _count(database, [word]) for word in words}
    ranking = _Ranking(database, None if allowed is None else frozenset(allowed))
    if every and all(counts.values()):
        ranking.of_all(counts)
    elif not every:
        ranking.of_any({word: counts[word] for word in sorted(words, key=counts.__getitem__) if counts[word]}, limit)
    return ranking.best(limit)


class _Ranking:
    """Adds up what is found."""

    def __init__(self, database: Database, allowed: Collection[int] | None) -> None:
        self.database = database
        self.allowed = allowed
        self.total = state_of(database).total
        self.scores: dict[int, float] = {}

    def of_all(self, counts: Mapping[str, int]) -> None:
        """The pieces that hold every word."""
        # Most questions of many words find nothing like that, and to hear so once is enough.
        if len(counts) > 1 and not _count(self.database, counts):
            return
        together = _literals(counts, " AND ")
        for word, count in counts.items():
            self._add(word, count, together)

    def of_any(self, counts: Mapping[str, int], limit: int) -> None:
        """The pieces that hold any word, of which the rarest comes first; what only common words find is left out where
        others are found."""
        seldom = max(_FEW, self.total // _RARE)
        finding: list[str] = []
        for word, count in counts.items():
            if count <= seldom or len(self.scores) < limit:
                finding.append(word)
                self._add(word, count)
        # What was found is still the better for a common word.
        found = f"({_literals(finding, ' OR ')})"
        for word, count in counts.items():
            if word not in finding:
                self._add(word, count, found)

    def _add(self, word: str, count: int, where: str = "") -> None:
        ##= man/spec/knowledge.md#store
        ##% A rare word MUST count for more than a common one, and a word for more where it stands in the title, more
        ##% often, or in a shorter piece.
        rarity = log(1 + (max(self.total - count, 0) + 0.5) / (count + 0.5))
        scores, allowed = self.scores, self.allowed
        for mark, weight in _WEIGHTS:
            literal = _literals([mark + word], "")
            rows = self.database.rows(_FOUND, f"{literal} AND {where}" if where else literal)
            more = weight * rarity
            for (number,) in rows:
                if allowed is None or number in allowed:
                    scores[number] = scores.get(number, 0.0) + more

    def best(self, limit: int) -> Hits:
        """So many, each with its score; of those that are as good, the first ones."""
        if limit < 1 or not self.scores:
            return []
        least = nlargest(limit, self.scores.values())[-1]
        good = ((-score, number) for number, score in self.scores.items() if score >= least)
        return [(number, -score) for score, number in sorted(good)[:limit]]


def _count(database: Database, words: Iterable[str]) -> int:
    ((count,),) = database.rows(_COUNT, _literals(words, " AND "))
    return int(count)


def _literals(words: Iterable[str], between: str) -> str:
    # What stands in quotes is text for the engine, and words hold none.
    return between.join(f'"{word}"' for word in words)
