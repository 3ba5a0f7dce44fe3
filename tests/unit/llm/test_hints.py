"""`llms.txt` as text that nobody trusts."""

from __future__ import annotations

import pytest

from duvet.llm.hints import Hint, hints_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("# Only a name", ()),
        ("## Models\n- [a](b)", (Hint("a", "b", ""),)),
        ("## Models\n* [a](b): c d ", (Hint("a", "b", "c d"),)),
        ("- [Our model](b)", (Hint("Our model", "b", ""),)),
        ("- [a](b): remodelled", ()),
        ("## Models\n- [\x1b\x07](b)\n- [x\u202ey](b)", (Hint("xy", "b", ""),)),
        ("## Models\r\n- [a](b): c\r\n", (Hint("a", "b", "c"),)),
        ("## Models\n## Other\n- [a](b)", ()),
        ("## Models\n- [a]()\n- [](b)\n- a\n- [a] (b)\n[a](b)", ()),
    ],
)
def test_links(text: str, found: tuple[Hint, ...]) -> None:
    assert hints_in(text) == found


def test_what_is_long_is_cut() -> None:
    ##= man/spec/ask.md#discovery
    ##= type=test
    ##% Hints MUST be cut, MUST be free of control characters, and MUST NOT become part of a prompt.
    long = f"## Models\n- [{'n' * 300}]({'u' * 900}): {'t' * 9000}\x00\n"
    assert hints_in(long) == (Hint("n" * 99 + "…", "u" * 199 + "…", "t" * 199 + "…"),)
    assert len(hints_in("## Models\n" + "- [a](b)\n" * 1000)) == 100
