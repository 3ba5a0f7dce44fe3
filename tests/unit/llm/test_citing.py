"""Numbers of sources in answers."""

from __future__ import annotations

import pytest

from duvet.llm.ask import check_source_numbers

KNOWN = range(1, 4)


@pytest.mark.parametrize(
    ("text", "shown", "named", "made_up"),
    [
        ("Warm it [1].", "Warm it [1].", {1}, ()),
        ("Warm it[1][2].", "Warm it[1][2].", {1, 2}, ()),
        ("Warm it [1, 3].", "Warm it [1][3].", {1, 3}, ()),
        ("Warm it [1-3].", "Warm it [1][2][3].", {1, 2, 3}, ()),
        ("Warm it [1\u20139].", "Warm it [1][2][3].", {1, 2, 3}, ("4", "5", "6", "7", "8", "9")),
        ("Warm it [3-1].", "Warm it [3][1].", {1, 3}, ()),
        ("Warm it [9].", "Warm it.", set(), ("9",)),
        ("Warm it [2] [9].", "Warm it [2].", {2}, ("9",)),
        ("Warm it [9, 2; 9].", "Warm it [2].", {2}, ("9",)),
        ("Warm it [0] [007] [01].", "Warm it [1].", {1}, ("0", "7")),
        ("Warm it [Source 2] [^3] [#9] [sources 1, 8].", "Warm it [2] [3] [1].", {1, 2, 3}, ("9", "8")),
        ("Warm it \u30101\u3011\u30109\u3011.", "Warm it [1].", {1}, ("9",)),
        ("See [1](https://evil.example) and [9](x).", "See [1] and.", {1}, ("9",)),
        ("[" + "9" * 999 + "]", "", set(), ("9" * 12,)),
        ("Set `a[9]`:\n```\nb[8] = [7]\n```\n", "Set `a[9]`:\n```\nb[8] = [7]\n```", set(), ()),
        ("No end ```x[9]", "No end ```x[9]", set(), ()),
        ("A list [a] [] [1a] [-1] [ 1 ] (9) [\u0661]", "A list [a] [] [1a] [-1] [ 1 ] (9) [\u0661]", set(), ()),
        ("", "", set(), ()),
    ],
)
def test_numbers(text: str, shown: str, named: set[int], made_up: tuple[str, ...]) -> None:
    found = check_source_numbers(text, KNOWN)
    assert (found.text, set(found.named), found.made_up) == (shown, named, made_up)


@pytest.mark.parametrize(
    "text",
    [
        "[1," * 100_000,
        "[" * 300_000,
        "[1" + ",1" * 100_000,
        "`" * 300_000,
        "[1](" * 100_000,
        " " * 300_000,
        "[1-999]" * 900,
    ],
)
def test_hostile_answers(text: str) -> None:
    check_source_numbers(text, KNOWN)
