"""Values as JSON has them."""

from __future__ import annotations

from typing import Any

import pytest

from duvet.workflows.references import UnresolvedError, are_equal_values, copy_plain_value, format_value, preview_value


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": [value]} if levels % 2 else [value]
    return value


def circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def doubling() -> Any:
    value: Any = 1
    for _ in range(60):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nested(66), "it is nested deeper than 64 levels, or holds too many values"),
        (nested(100_001), "it is nested deeper than 64 levels, or holds too many values"),
        (circle(), "it is nested deeper than 64 levels, or holds too many values"),
        (doubling(), "it is nested deeper than 64 levels, or holds too many values"),
        (object(), "it is no JSON: Encoding objects of type object is unsupported"),
        ({None: 1}, "it is no JSON: Only dicts with str-like or number-like keys are supported"),
        (10**5_000, "it has more than 100 bytes"),
        ("x" * 99, "it has more than 100 bytes"),
        ([["x" * 10**6] * 10**6] * 10**5, "it is nested deeper than 64 levels, or holds too many values"),
        (["x" * 10**6] * 10**6, "it has more than 100 bytes"),
        ([{"x" * 10**6: 1}] * 10**6, "it has more than 100 bytes"),
        ([10**4_000] * 10**6, "it has more than 100 bytes"),
    ],
    ids=range(12),
)
def test_what_is_too_much_is_refused(value: object, message: str) -> None:
    ##= man/spec/workflows.md#limits
    ##= type=test
    ##% The engine MUST refuse values that are not JSON or deeper than 64 levels, arguments, prompts and outputs above 1
    ##% MB, and results above 16 MB or 64 MB in total.
    with pytest.raises(UnresolvedError) as raised:
        copy_plain_value(value, 100, "it")
    assert raised.value.message == message


def test_what_json_does_not_have_is_replaced() -> None:
    found = copy_plain_value(
        [float("nan"), float("inf"), "a\ud800", (1, 2), {"\udcff": "\ud800"}, nested(10), 2**80], 1000, "it"
    )
    assert found == [None, None, "a?", [1, 2], {"?": "?"}, nested(10), 2**80]


def test_a_number_of_too_many_digits_is_refused() -> None:
    with pytest.raises(UnresolvedError, match="it has a number in it that is too long"):
        copy_plain_value(10**5_000, 10_000, "it")


def test_what_is_just_small_enough() -> None:
    for value in ("x" * 98, ["x" * 46] * 2, {"a": "x" * 92}, 10**99, [1.5] * 24):
        assert copy_plain_value(value, 100, "it") == value


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        (None, None, True),
        ("1", 1, False),
        ([1, {"a": True}], [1.0, {"a": True}], True),
        ([1, {"a": True}], [1, {"a": 1}], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([], {}, False),
        ([1], [1, 1], False),
        ("é", "e\N{COMBINING ACUTE ACCENT}", False),
    ],
)
def test_sameness_is_that_of_json(one: object, other: object, are: bool) -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% A check MUST compare values as JSON, distinguish null from a missing value, and fail its step with
    ##% `assert_failed`, the path and both values.
    assert are_equal_values(one, other) is are_equal_values(other, one) is are


def test_texts_of_values() -> None:
    assert (format_value("a"), format_value(1.5), format_value(None), format_value(["a"])) == (
        "a",
        "1.5",
        "null",
        '["a"]',
    )
    assert preview_value("x" * 100_000) == f'"{"x" * 79}…'
