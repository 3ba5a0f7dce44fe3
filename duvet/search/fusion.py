"""One ranking of several."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

_Item = TypeVar("_Item", bound=Hashable)

_LEVEL = 60
"""How little the first places stand out: the more, the more it counts in how many rankings something stands."""


def share(rank: int, rankings: int) -> float:
    """What a place in one of so many rankings is worth; the first place is 0, and first places in all of them are 1."""
    return (_LEVEL + 1) / (_LEVEL + 1 + rank) / rankings


def fused(rankings: Sequence[Sequence[_Item]]) -> dict[_Item, float]:
    """What stands in any of the rankings, the best first, by reciprocal ranks."""
    ##= man/spec/knowledge.md#search
    ##% What is found by words and by vectors MUST be ranked by the sum of its reciprocal ranks in both.
    scores: dict[_Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking):
            scores[item] = scores.get(item, 0.0) + share(rank, len(rankings))
    # Equal ones stay in the order of the first ranking: sorting leaves it.
    return {item: scores[item] for item in sorted(scores, key=scores.__getitem__, reverse=True)}
