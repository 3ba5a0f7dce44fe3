"""References: read, followed, and filled in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.workflows.references import (
    MAX_EXPANDED_BYTES,
    UnresolvedError,
    escape_references,
    expand_references,
    format_path,
    parse_path,
    split_references,
)

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


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("${vars.n}", 3),
        ("${vars.text}", "tea"),
        ("${vars.none}", None),
        ("${vars.yes}", True),
        ('${vars["a.b"]}', {"c-d": [1, {"é": 2}]}),
        ("${vars['a.b'].c-d[1].é}", 2),
        ('${vars["a\\u002eb"]["c-d"][0]}', 1),
        ("${steps.one-two.result.result[0].id}", "x"),
        ("${steps.one-two.result}", {"result": [{"id": "x"}], "total": 1}),
        ("${steps.one-two.status}", "success"),
        ({"a": ["${vars.n}", {"b": "${vars.yes}"}], "c": 1}, {"a": [3, {"b": True}], "c": 1}),
    ],
)
def test_a_reference_alone_keeps_its_type(written: object, value: object) -> None:
    ##= man/spec/workflows.md#references
    ##= type=test
    ##% A reference that is the whole text MUST keep the type of its value; inside a text, strings MUST be inserted as
    ##% they are and other values as JSON.
    found = expand_references(written, SCOPE, ("params",))
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("${vars.n} cups of ${vars.text}", "3 cups of tea"),
        ("${vars.n}${vars.n}", "33"),
        (" ${vars.none}", " null"),
        ("it is ${vars.yes}", "it is true"),
        ("in ${steps.one-two.result.result}", 'in [{"id":"x"}]'),
        ("${vars['a.b']}!", '{"c-d":[1,{"é":2}]}!'),
    ],
)
def test_inside_of_a_text_values_are_text(written: str, value: str) -> None:
    ##= man/spec/workflows.md#references
    ##= type=test
    ##% A reference that is the whole text MUST keep the type of its value; inside a text, strings MUST be inserted as
    ##% they are and other values as JSON.
    assert expand_references(written, SCOPE, ("prompt",)) == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("$${vars.n}", "${vars.n}"),
        ("$$${vars.n}", "$${vars.n}"),
        ("$${", "${"),
        ("$", "$"),
        ("$n $$ {x} $5", "$n $$ {x} $5"),
        ("$${a} ${vars.n}", "${a} 3"),
    ],
)
def test_two_dollars_are_literal(written: str, value: str) -> None:
    ##= man/spec/workflows.md#references
    ##= type=test
    ##% `$${` MUST insert a literal `${`, and an inserted value MUST NOT be searched for references.
    assert expand_references(written, SCOPE, ("prompt",)) == value


def test_results_are_not_expanded() -> None:
    ##= man/spec/workflows.md#references
    ##= type=test
    ##% `$${` MUST insert a literal `${`, and an inserted value MUST NOT be searched for references.
    assert expand_references(["${vars.ref}", "a ${vars.ref}", "$${vars.n}${vars.ref}"], SCOPE, ()) == [
        "${vars.n}",
        "a ${vars.n}",
        "${vars.n}${vars.n}",
    ]


HOW = "write a reference as in ${vars.NAME}, and a literal one with two dollars: $${"
WRONG = [
    ("${vars.m}", "params.q: ${vars.m}: there is no vars.m", "there are n, text, none, yes, ref, a.b"),
    ("a ${var.n}", "params.q: ${var.n}: there is no var", "there are vars, steps, captures"),
    ("${vars.n.x}", "params.q: ${vars.n.x}: there is no vars.n.x", "vars.n is 3"),
    ("${vars[0]}", "params.q: ${vars[0]}: there is no vars[0]", "there are n, text, none, yes, ref, a.b"),
    ("${vars.text[0]}", "params.q: ${vars.text[0]}: there is no vars.text[0]", 'vars.text is "tea"'),
    ("${captures.x}", "params.q: ${captures.x}: there is no captures.x", "captures is empty"),
    (
        "${steps.one-two.result.result[1]}",
        "params.q: ${steps.one-two.result.result[1]}: there is no steps.one-two.result.result[1]",
        "steps.one-two.result.result is a list of 1",
    ),
    ("${}", 'params.q: "${}" is no reference', HOW),
    ("${vars.n", 'params.q: "${vars.n" is no reference', HOW),
    ("${ vars.n }", 'params.q: "${ vars.n }" is no reference', HOW),
    ("${vars..n}", 'params.q: "${vars..n}" is no reference', HOW),
    ("${vars.${vars.n}}", 'params.q: "${vars.${vars.n}}" is no reference', HOW),
    ("${vars[-1]}", 'params.q: "${vars[-1]}" is no reference', HOW),
    ("${vars[9999999999]}", 'params.q: "${vars[9999999999]}" is no reference', HOW),
    ('${vars["\\x"]}', 'params.q: "[\\"\\\\x\\"]" holds no JSON string', 'write it as in result.items[0]["a.b"]'),
    ("${vars.\x1b}", "params.q: ${vars.\x1b}: there is no vars.\x1b", "there are n, text, none, yes, ref, a.b"),
]


@pytest.mark.parametrize(("written", "message", "hint"), WRONG, ids=range(len(WRONG)))
def test_what_leads_nowhere_is_an_error(written: str, message: str, hint: str) -> None:
    ##= man/spec/workflows.md#references
    ##= type=test
    ##% A reference that leads nowhere MUST be an error that names the step, the key, the reference and what is
    ##% available.
    with pytest.raises(UnresolvedError) as raised:
        expand_references({"q": written}, SCOPE, ("params",))
    assert (raised.value.message, raised.value.hint) == (message, hint)


def test_many_names_are_not_listed() -> None:
    with pytest.raises(UnresolvedError) as raised:
        expand_references("${vars.x}", {"vars": {f"n{number}" * 50: 1 for number in range(1000)}}, ())
    assert raised.value.hint.endswith(" and 990 more") and len(raised.value.hint) < 1000


def test_a_bomb_is_not_put_together() -> None:
    ##= man/spec/workflows.md#limits
    ##= type=test
    ##% The engine MUST refuse values that are not JSON or deeper than 64 levels, arguments, prompts and outputs above 1
    ##% MB, and results above 16 MB or 64 MB in total.
    scope = {"vars": {"x": "x" * 100_000}}
    message = "params.q: with ${vars.x} it has more than 1,000,000 bytes"
    for bomb in ("${vars.x}" * 100_000, ["${vars.x}"] * 100_000, {"a": ["${vars.x}" * 10]}):
        with pytest.raises(UnresolvedError, match=r"with .* it has more than 1,000,000 bytes"):
            expand_references(bomb, scope, ("params", "q"))
    with pytest.raises(UnresolvedError) as raised:
        expand_references("${vars.x}" * 10, scope, ("params", "q"))
    assert raised.value.message == message
    with pytest.raises(UnresolvedError, match="params has more than 1,000,000 bytes"):
        expand_references("x" * MAX_EXPANDED_BYTES, scope, ("params",))


@given(st.text())
def test_what_is_escaped_stands_for_itself(text: str) -> None:
    assert "".join(str(piece) for piece in split_references(escape_references(text))) == text


@given(st.text("${}[].\"'\\vars1 x") | st.text())
def test_any_text_is_expanded_or_refused(text: str) -> None:
    try:
        expand_references(text, {"vars": {"x": 1}}, ())
    except UnresolvedError as error:
        assert str(error)


@given(st.lists(st.text() | st.integers(0, 999_999_999)))
def test_a_path_is_read_as_it_is_spelled(more: list[str | int]) -> None:
    # Half a character can't be written.
    path = ("result", *(key.encode(errors="replace").decode() if isinstance(key, str) else key for key in more))
    assert parse_path(format_path(path)) == path


@given(JSON)
def test_a_value_goes_through_a_reference_as_it_is(value: object) -> None:
    assert expand_references({"a": ["${vars.x}"]}, {"vars": {"x": value}}, ()) == {"a": [value]}


@given(st.text("ab.[]\"'\\0 ") | st.text())
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        assert parse_path(text)
    except UnresolvedError as error:
        assert error.hint
