"""The differences between two texts."""

from __future__ import annotations

from difflib import unified_diff

import pytest
from hypothesis import given, strategies as st

from duvet.text import make_unified_diff, match_lines

TEXTS = st.lists(st.sampled_from("abcdefgh"), max_size=30)
DISTINCT = st.lists(st.integers(0, 60).map(str), max_size=40, unique=True)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("", "", []),
        ("abc", "abc", []),
        ("", "a", ["@@ -0,0 +1 @@", "+a"]),
        ("a", "", ["@@ -1 +0,0 @@", "-a"]),
        ("abcdefg", "abcxefg", ["@@ -3,3 +3,3 @@", " c", "-d", "+x", " e"]),
        ("abcdefg", "xbcdefy", ["@@ -1,2 +1,2 @@", "-a", "+x", " b", "@@ -6,2 +6,2 @@", " f", "-g", "+y"]),
        ("abcd", "xbcy", ["@@ -1,4 +1,4 @@", "-a", "+x", " b", " c", "-d", "+y"]),
    ],
)
def test_lines_around_changes(old: str, new: str, lines: list[str]) -> None:
    assert list(make_unified_diff(old, new, 1)) == lines


@given(TEXTS, TEXTS)
def test_the_lines_that_stay_rise_in_both(old: list[str], new: list[str]) -> None:
    pairs = match_lines(old, new)
    assert [old[i] for i, _ in pairs] == [new[j] for _, j in pairs]
    assert pairs == sorted(set(pairs)) and [j for _, j in pairs] == sorted({j for _, j in pairs})


@given(DISTINCT, st.data())
def test_as_difflib_has_it_where_lines_went_away(old: list[str], data: st.DataObject) -> None:
    new = [line for line in old if data.draw(st.booleans())]
    assert list(make_unified_diff(old, new, 4)) == list(unified_diff(old, new, n=4, lineterm=""))[2:]


@given(TEXTS, TEXTS, st.integers(0, 3))
def test_a_difference_makes_the_new_text_of_the_old(old: list[str], new: list[str], context: int) -> None:
    made: list[str] = []
    position = 0
    for line in make_unified_diff(old, new, context):
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            first = int(start) - (count != "0")
            made += old[position:first]
            position = first
        else:
            made += [line[1:]] if line[0] in "+ " else []
            position += line[0] in "- "
    assert made + old[position:] == new


def test_many_changes_in_a_long_text_are_found_at_once() -> None:
    old = [f"TEXT[implementation]: {number}" for number in range(20_000)]
    new = [line.replace("implementation", "test") if number % 2 else line for number, line in enumerate(old)]
    assert len(match_lines(old, new)) == 10_000
