"""One ranking of several"""

from __future__ import annotations

import pytest

from duvet.queries.full_text import compute_shares, fuse_rankings


def ranked(items: str) -> list[tuple[str, object]]:
    return [(item, rank) for rank, item in enumerate(items)]


def test_what_both_find_comes_first() -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST rank chunks by the sum of their reciprocal ranks by words and by vectors, or with
    ##% `sort_by_vector` by vectors alone.
    found = fuse_rankings([compute_shares(ranked("abc"), 2), compute_shares(ranked("cde"), 2)])
    assert [*found] == ["c", "a", "b", "d", "e"]
    assert found == pytest.approx(
        {"a": 0.5, "b": 0.5 * 61 / 62, "c": 0.5 * 61 / 63 + 0.5, "d": 0.5 * 61 / 62, "e": 0.5 * 61 / 63}
    )


def test_first_of_all_is_one() -> None:
    assert fuse_rankings([compute_shares(ranked("ab"), 2)] * 2) == {"a": 1.0, "b": 61 / 62}
    assert fuse_rankings([compute_shares(ranked("a"))]) == {"a": 1.0}
    assert fuse_rankings([{}, {}]) == fuse_rankings([]) == {}


def test_equal_ones_share_a_place() -> None:
    assert compute_shares([("a", 3.5), ("b", 2.0), ("c", 2.0), ("d", 1.0)]) == {
        "a": 1.0,
        "b": 61 / 62,
        "c": 61 / 62,
        "d": 61 / 64,
    }
