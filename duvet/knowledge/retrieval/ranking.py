"""What a question finds, and how well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from duvet.knowledge.retrieval.question import Question
from duvet.knowledge.retrieval.vectors import Vectors
from duvet.search.fusion import fused, share
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
    """What the rank among words adds."""
    cosines: Mapping[int, float]

    def parts(self, number: int) -> tuple[float, float, float]:
        return self.cosines.get(number, 0.0), self.near.get(number, 0.0), self.worded.get(number, 0.0)


def ranked(store: Store, question: Question, vectors: Vectors | None, *, by_vector: bool) -> Ranking:
    """What may be answered."""
    worded = _by_words(store, question)
    if vectors is None:
        return Ranking(
            pool=[*fused([worded])][: question.limit + _BEYOND], near={}, worded=_shares(worded, 1), cosines={}
        )
    query = vectors.query(question.text)
    ##= man/spec/knowledge.md#search
    ##% Filters MUST leave out pieces before they are ranked, those that words find and those that vectors find.
    near = [number for number, _ in vectors.nearest(query, _DEPTH, store.allowed(question.filters))]
    pool = [*fused([worded, near])][: question.limit + _BEYOND]
    if by_vector:
        pool = [*dict.fromkeys([*near[: question.limit], *pool])]
    return Ranking(
        pool=pool,
        near=_shares(near, 2),
        worded=_shares(worded, 2),
        # What words alone found is near to some degree, too.
        cosines=dict(vectors.nearest(query, len(pool), sorted(pool))),
    )


def _by_words(store: Store, question: Question) -> list[int]:
    """What holds every word, and then what holds any."""
    if not question.terms:
        return []
    ##= man/spec/knowledge.md#search
    ##% What holds every word of the query MUST come before what holds some, in the ranking by words.
    found = [number for number, _ in store.lexical(question.terms, question.filters, _DEPTH, every=True)]
    if len(found) < _DEPTH and len(question.parts) > 1:
        more = store.lexical(question.parts, question.filters, _DEPTH, every=False)
        found = [*dict.fromkeys([*found, *(number for number, _ in more)])][:_DEPTH]
    return found


def _shares(ranking: Sequence[int], rankings: int) -> dict[int, float]:
    return {number: share(rank, rankings) for rank, number in enumerate(ranking)}
