"""What a question finds, and how well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from duvet.knowledge.retrieval.naming import named
from duvet.knowledge.retrieval.question import Question
from duvet.knowledge.retrieval.vectors import Vectors
from duvet.search.fusion import fused, shares
from duvet.store.protocol import Store

_DEPTH = 100
"""So many of each ranking are looked at."""
_BEYOND = 5
"""So many more than are answered may be moved up by what else is known of them."""


class Ranking(Struct, frozen=True, kw_only=True):
    """Pieces by their numbers."""

    pool: Sequence[int]
    """Those that may be answered, the best first."""
    near: Mapping[int, float]
    """What the rank among vectors adds."""
    worded: Mapping[int, float]
    """What the rank among words adds, and what is named."""
    cosines: Mapping[int, float]

    def parts(self, number: int) -> tuple[float, float, float]:
        return self.cosines.get(number, 0.0), self.near.get(number, 0.0), self.worded.get(number, 0.0)


def ranked(store: Store, question: Question, vectors: Vectors | None, *, by_vector: bool) -> Ranking:
    """What may be answered."""
    most = question.limit + _BEYOND
    worded = _by_words(store, question)
    things = named(store, question.names, question.filters, alone=question.is_name)
    if vectors is None:
        alone = fused([shares(worded), things])
        return Ranking(pool=[*alone][:most], near={}, worded=alone, cosines={})
    query = vectors.query(question.text)
    ##= man/spec/knowledge.md#search
    ##% Filters MUST leave out pieces before they are ranked, those that words find and those that vectors find.
    nearest = vectors.nearest(query, _DEPTH, store.allowed(question.filters))
    near, words = shares(nearest, 2), fused([shares(worded, 2), things])
    pool = [*fused([words, near])][:most]
    if by_vector:
        pool = [*dict.fromkeys([*near, *pool])][:most]
    # What words alone found is near to some degree, too.
    return Ranking(pool=pool, near=near, worded=words, cosines=dict(vectors.nearest(query, len(pool), sorted(pool))))


def _by_words(store: Store, question: Question) -> Sequence[tuple[int, object]]:
    """What holds every word, and then what holds any, each with what it is ranked by."""
    if not question.terms:
        return []
    ##= man/spec/knowledge.md#search
    ##% What holds every word of the query MUST come before what holds some, in the ranking by words.
    every = store.lexical(question.terms, question.filters, _DEPTH, every=True)
    found: dict[int, object] = {number: (True, score) for number, score in every}
    if len(found) < _DEPTH and len(question.parts) > 1:
        for number, score in store.lexical(question.parts, question.filters, _DEPTH, every=False):
            found.setdefault(number, (False, score))
    return [*found.items()][:_DEPTH]
