"""One ranking of several"""

from __future__ import annotations

import pytest

from duvet.search.fusion import fused


def test_what_both_find_comes_first() -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% What is found by words and by vectors MUST be ranked by the sum of its reciprocal ranks in both.
    found = fused(["abc", "cde"])
    assert [*found] == ["c", "a", "b", "d", "e"]
    assert found == pytest.approx(
        {"a": 0.5, "b": 0.5 * 61 / 62, "c": 0.5 * 61 / 63 + 0.5, "d": 0.5 * 61 / 62, "e": 0.5 * 61 / 63}
    )


def test_first_of_all_is_one() -> None:
    assert fused(["ab", "ab"]) == {"a": 1.0, "b": 61 / 62}
    assert fused(["a"]) == {"a": 1.0}
    assert fused(["", ""]) == fused([]) == {}
