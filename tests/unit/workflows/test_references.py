from typing import Any

import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.workflows import references
from duvet.workflows.references import UnresolvedError, copy_plain_value, expand_references, parse_path

SCOPE: dict[str, Any] = {
    "vars": {"n": 3, "text": "tea", "none": None, "yes": True, "ref": "${vars.n}", "a.b": {"c-d": [1, {"é": 2}]}},
    "steps": {"one-two": {"result": {"result": [{"id": "x"}], "total": 1}, "status": "success"}},
    "captures": {},
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    # One half of a character is replaced by a mark.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


WRITTEN: list[object] = [
    # Alone, a reference keeps the type of its value.
    *("${vars.n}", "${vars.text}", "${vars.none}", "${vars.yes}", '${vars["a.b"]}', "${vars['a.b'].c-d[1].é}"),
    *('${vars["a\\u002eb"]["c-d"][0]}', "${steps.one-two.result.result[0].id}", "${steps.one-two.result}"),
    *("${steps.one-two.status}", {"a": ["${vars.n}", {"b": "${vars.yes}"}], "c": 1}),
    # Inside a text, values are text.
    *("${vars.n} cups of ${vars.text}", "${vars.n}${vars.n}", " ${vars.none}", "it is ${vars.yes}"),
    *("in ${steps.one-two.result.result}", "${vars['a.b']}!"),
    # Two dollars and inserted values are literal.
    *("$${vars.n}", "$$${vars.n}", "$${", "$", "$n $$ {x} $5", "$${a} ${vars.n}", "${vars.ref}", "a ${vars.ref}"),
    "$${vars.n}${vars.ref}",
    # These lead nowhere.
    *("${vars.m}", "a ${var.n}", "${vars.n.x}", "${vars[0]}", "${vars.text[0]}", "${captures.x}", "${vars.\x1b}"),
    *("${steps.one-two.result.result[1]}", "${}", "${vars.n", "${ vars.n }", "${vars..n}", "${vars.${vars.n}}"),
    *("${vars[-1]}", "${vars[9999999999]}", '${vars["\\x"]}'),
    # These would be too large.
    *("${vars.x}" * 10, "${vars.x}" * 100_000, ["${vars.x}"] * 100_000, {"a": ["${vars.x}" * 10]}),
    "x" * references.MAX_EXPANDED_BYTES,
]


def test_references_are_filled_in_or_refused(problem_files: Snapshot) -> None:
    ##= man/spec/workflows.md#references
    ##% If a reference is the whole text of a value, the engine MUST keep the type of the referenced value.
    ##= man/spec/workflows.md#references
    ##% The engine MUST replace `$${` with a literal `${`, and MUST NOT evaluate references in inserted values.
    lines = []
    scope = {**SCOPE, "vars": {**SCOPE["vars"], "x": "x" * 100_000}}
    for written in WRITTEN:
        try:
            found = repr(expand_references(written, scope, ("params",)))
        except UnresolvedError as error:
            found = f"{error.message}; {error.hint}" if error.hint else error.message
        lines.append(f"{written!r:.60}: {found}")
    problem_files.assert_match("\n".join(lines), "expansions.txt")


def test_many_available_names_are_shortened() -> None:
    with pytest.raises(UnresolvedError) as raised:
        expand_references("${vars.x}", {"vars": {f"n{number}" * 50: 1 for number in range(1000)}}, ())
    assert raised.value.hint.endswith(" and 990 more") and len(raised.value.hint) < 1000


@given(st.text("${}[].\"'\\vars1 x") | st.text())
def test_any_text_is_expanded_or_refused(text: str) -> None:
    # Escaped text stands for itself.
    pieces = references.split_references(references.escape_references(text))
    assert "".join(map(str, pieces)) == text
    try:
        expand_references(text, {"vars": {"x": 1}}, ())
    except UnresolvedError as error:
        assert str(error)


@given(st.lists(st.text() | st.integers(0, 999_999_999)))
def test_a_path_is_read_as_it_is_spelled(more: list[str | int]) -> None:
    # Half a character can't be written.
    path = ("result", *(key.encode(errors="replace").decode() if isinstance(key, str) else key for key in more))
    assert parse_path(references.format_path(path)) == path


@given(JSON)
def test_a_value_passes_through_a_reference_unchanged(value: object) -> None:
    assert expand_references({"a": ["${vars.x}"]}, {"vars": {"x": value}}, ()) == {"a": [value]}


@given(st.text("ab.[]\"'\\0 ") | st.text())
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        assert parse_path(text)
    except UnresolvedError as error:
        assert error.hint


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


def test_values_up_to_the_limit_are_copied_and_those_that_json_does_not_have_replaced() -> None:
    found = copy_plain_value(
        [float("nan"), float("inf"), "a\ud800", (1, 2), {"\udcff": "\ud800"}, nested(10), 2**80], 1000, "it"
    )
    assert found == [None, None, "a?", [1, 2], {"?": "?"}, nested(10), 2**80]
    for value in ("x" * 98, ["x" * 46] * 2, {"a": "x" * 92}, 10**99, [1.5] * 24):
        assert copy_plain_value(value, 100, "it") == value


def test_values_are_compared_formatted_and_previewed() -> None:
    equal: list[tuple[object, object]] = [
        *((1, 1.0), (None, None), ([1, {"a": True}], [1.0, {"a": True}]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    ]
    unequal: list[tuple[object, object]] = [
        *((1, True), (0, False), (None, False), ("1", 1), ([1, {"a": True}], [1, {"a": 1}]), ([], {}), ([1], [1, 1])),
        *(({"a": 1}, {"a": 1, "b": None}), ("é", "e\N{COMBINING ACUTE ACCENT}")),
    ]
    for are, pairs in ((True, equal), (False, unequal)):
        for one, other in pairs:
            found = references.are_equal_values(one, other), references.are_equal_values(other, one)
            assert found == (are, are), (one, other)
    assert [references.format_value(value) for value in ("a", 1.5, None, ["a"])] == ["a", "1.5", "null", '["a"]']
    assert references.preview_value("x" * 100_000) == f'"{"x" * 79}…'


TOO_DEEP = "it is nested deeper than 64 levels, or contains too many values"


REFUSED = [
    *((nested(66), TOO_DEEP), (nested(100_001), TOO_DEEP), (circle(), TOO_DEEP), (doubling(), TOO_DEEP)),
    ([["x" * 10**6] * 10**6] * 10**5, TOO_DEEP),
    (object(), "it is not JSON: Encoding objects of type object is unsupported"),
    ({None: 1}, "it is not JSON: Only dicts with str-like or number-like keys are supported"),
    *((value, "it is larger than 100 bytes") for value in (10**5_000, "x" * 99, ["x" * 10**6] * 10**5)),
    *((value, "it is larger than 100 bytes") for value in ([{"x" * 10**6: 1}] * 10**5, [10**4_000] * 10**5)),
]


def test_values_that_are_too_large_or_no_json_are_refused() -> None:
    for value, message in REFUSED:
        ##= man/spec/workflows.md#limits
        ##% The engine MUST reject arguments, prompts and outputs above 1 MB, and a result above 16 MB.
        with pytest.raises(UnresolvedError) as raised:
            copy_plain_value(value, 100, "it")
        assert raised.value.message == message
    with pytest.raises(UnresolvedError, match="it contains a number that is too long"):
        copy_plain_value(10**5_000, 10_000, "it")
