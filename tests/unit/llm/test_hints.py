"""`llms.txt` as text that nobody trusts."""

from __future__ import annotations

import pytest

from duvet.llm.router import ModelHint, parse_model_hints


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        ("# Only a name", ()),
        ("## Models\n- [a](b)", (ModelHint("a", "b", ""),)),
        ("## Models\n* [a](b): c d ", (ModelHint("a", "b", "c d"),)),
        ("- [Our model](b)", (ModelHint("Our model", "b", ""),)),
        ("- [a](b): remodelled", ()),
        ("## Models\n- [\x1b\x07](b)\n- [x\u202ey](b)", (ModelHint("xy", "b", ""),)),
        ("## Models\r\n- [a](b): c\r\n", (ModelHint("a", "b", "c"),)),
        ("## Models\n## Other\n- [a](b)", ()),
        ("## Models\n- [a]()\n- [](b)\n- a\n- [a] (b)\n[a](b)", ()),
    ],
)
def test_links(text: str, found: tuple[ModelHint, ...]) -> None:
    assert parse_model_hints(text) == found


def test_what_is_long_is_cut() -> None:
    long = f"## Models\n- [{'n' * 300}]({'u' * 900}): {'t' * 9000}\x00\n"
    assert parse_model_hints(long) == (ModelHint("n" * 99 + "…", "u" * 199 + "…", "t" * 199 + "…"),)
    assert len(parse_model_hints("## Models\n" + "- [a](b)\n" * 1000)) == 100
