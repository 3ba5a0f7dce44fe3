"""Normalised text, compared with the rules spelt out character by character."""

from __future__ import annotations

from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.text import WHITESPACE, normalise, normalise_with_map, remove_spacing

TEXTS = st.text(st.sampled_from("aZ9é日 .,-_\t\n\u00a0\u2028\u2014\x1c\u0301")) | st.text()


def plain_normalise(text: str) -> str:
    """One character after the other, with at most one separator waiting."""
    out: list[str] = []
    waiting = ""
    for char in text:
        if char.isalnum():
            out += [waiting, char]
            waiting = ""
        elif char not in WHITESPACE:
            out.append(waiting.strip(WHITESPACE))
            waiting = char
        elif out and not waiting:
            waiting = char
    return "".join(out) + waiting.strip(WHITESPACE)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("", ""),
        (" \n ", ""),
        ("It MUST be.", "It MUST be."),
        ("MUST \n  be", "MUST be"),
        ("MUST\n be", "MUST\nbe"),
        ("MUST\t\tbe", "MUST\tbe"),
        ("a new-\nline", "a new-line"),
        ("a , b", "a,b"),
        ("a. ( b )", "a.(b)"),
        ("  (a) - ", "(a)-"),
        ("a_ b", "a_b"),
        ("a\u00a0 b", "a\u00a0b"),
        ("a \x1c b", "a\x1cb"),
        ("caf\u00e9 \u2014 th\u00e9", "caf\u00e9\u2014th\u00e9"),
    ],
)
def test_separators(text: str, normal: str) -> None:
    assert normalise(text) == normal
    assert normalise_with_map(text)[0] == normal


def test_map_of_stretches() -> None:
    assert normalise_with_map(" It  is. (\n so )") == ("It is.(so)", [0, 3, 6, 7, 9], [1, 5, 9, 12, 15])


@given(TEXTS)
def test_equals_the_plain_rules(text: str) -> None:
    assert normalise(text) == plain_normalise(text)


@given(st.lists(st.sampled_from(["a", "é", ".", "("]), min_size=1), st.data())
def test_texts_that_are_equal_when_normalised_are_equal_unspaced(chars: list[str], data: st.DataObject) -> None:
    spaces = st.sampled_from(["", " ", "\n", " \t", "\u00a0", "\u2028 ", "\x1c"])
    one, other = ("".join(char + data.draw(spaces) for char in chars) for _ in range(2))
    assert remove_spacing(one) == remove_spacing(other) or normalise(one) != normalise(other)


@given(TEXTS)
def test_is_idempotent(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(TEXTS)
def test_each_character_maps_back_to_itself(text: str) -> None:
    normal, offsets, originals = normalise_with_map(text)
    places = [bisect_right(offsets, at) - 1 for at in range(len(normal))]
    back = [originals[place] + at - offsets[place] for at, place in enumerate(places)]
    assert normal == normalise(text)
    assert "".join(text[at] for at in back) == normal
    assert back == sorted(set(back))
    assert offsets == sorted(set(offsets)) and originals == sorted(set(originals))
