"""The words for wrong keys and values."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from duvet.config import fields


def test_fields() -> None:
    assert fields.describe_unknown_field("x", ["a", "b", "c"]) == "unknown field `x`, expected one of `a`, `b`, `c`"
    assert fields.describe_unknown_field("x", ["a", "b"]) == "unknown field `x`, expected `a` or `b`"
    assert fields.describe_unknown_field("x", ["a"]) == "unknown field `x`, expected `a`"
    assert fields.describe_unknown_field("x", []) == "unknown field `x`, there are no fields"
    assert fields.describe_missing_field("x") == "missing field `x`"
    assert fields.describe_duplicate_field("x") == "duplicate field `x`"
    assert fields.describe_unknown_variant("X", ["a"]) == "unknown variant `X`, expected `a`"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "integer `3`"),
        (True, "boolean `true`"),
        (1.5, "floating point `1.5`"),
        ('a"\n', 'string "a\\"\\n"'),
        (["a"], "sequence"),
        ({"a": 1}, "map"),
        (datetime.date(2000, 1, 1), "datetime"),
        (datetime.time(), "datetime"),
    ],
)
def test_types(value: Any, words: str) -> None:
    assert fields.describe_invalid_type(value, "a string") == f"invalid type: {words}, expected a string"


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("patern", "did you mean `pattern`?"),
        ("todo", "did you mean `TODO`?"),
        ("colour", ""),
    ],
)
def test_did_you_mean(word: str, answer: str) -> None:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST report each key that is unknown, missing or of the wrong type with its place, and SHOULD suggest the
    ##% key that was meant.
    assert fields.did_you_mean(word, ["pattern", "type", "TODO"]) == answer
