"""One ranking of several."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

_Item = TypeVar("_Item", bound=Hashable)

_LEVEL = 60
"""How little the first places stand out: the more, the more it counts in how many rankings something stands."""


def shares(ranking: Sequence[tuple[_Item, object]], rankings: int = 1) -> dict[_Item, float]:
    """What the places in one of so many rankings are worth, where first places in all of them are 1.

    Each item comes with what it is ranked by; where that is equal, they share a place.
    """
    worth: dict[_Item, float] = {}
    place, before = 0, None
    for rank, (item, by) in enumerate(ranking):
        if by != before:
            place, before = rank, by
        worth[item] = (_LEVEL + 1) / (_LEVEL + 1 + place) / rankings
    return worth


def fused(worths: Sequence[Mapping[_Item, float]]) -> dict[_Item, float]:
    """What stands in any of the rankings, by the sum of what its places are worth, the best first."""
    ##= man/spec/knowledge.md#search
    ##% What is found by words and by vectors MUST be ranked by the sum of its reciprocal ranks in both.
    scores: dict[_Item, float] = {}
    for worth in worths:
        for item, value in worth.items():
            scores[item] = scores.get(item, 0.0) + value
    # Equal ones stay in the order of the first ranking: sorting leaves it.
    return {item: scores[item] for item in sorted(scores, key=scores.__getitem__, reverse=True)}
