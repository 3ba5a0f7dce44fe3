"""Expressions in link templates, and variables in texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from duvet.config import document

ENVIRON = {"REV": "abc", "B": "zzz", "EMPTY": "", "BYTES": "\udcff"}
EXPANSIONS = [
    ("", ("", ())),
    ("https://host/main", ("https://host/main", ())),
    ("$REV/${REV}/{{REV}}/}}", ("$REV/${REV}/{{REV}}/}}", ())),
    ("x/${{ REV }}/y", ("x/abc/y", ("REV",))),
    ("${{REV}}${{B}}${{REV}}", ("abczzzabc", ("REV", "B"))),
    ("${{ NONE || REV || B }}", ("abc", ("REV",))),
    ("${{NONE||'text'||B}}", ("text", ())),
    ("${{ 'x y' }}", ("x y", ())),
    ("${{ 'open }}", ("open", ())),
    ("${{ 'two''' }}", ("two", ())),
    ("${{ '' }}", ("", ())),
    ("${{ EMPTY || 'b' }}", ("", ("EMPTY",))),
    ("${{ BYTES || 'b' }}", ("b", ())),
    ("${{ 'a}b' }}}}", ("a}b}}", ())),
    ("${{\u00a0REV\u2003}}", ("abc", ("REV",))),
]
OPEN = ('expected "}}"', "close the expression: `${{ NAME }}`")
FAILED = "failed to evaluate expression: "
UNSET = "set the environment variable {}, or add a default: `|| 'text'`"
VARIABLES = {"A": "$B", "B": "b", "_x1": "x", "EMPTY": "", "ODD": "\udcff"}


@pytest.mark.parametrize(("template", "expansion"), EXPANSIONS)
def test_variables_are_expanded(template: str, expansion: tuple[str, tuple[str, ...]]) -> None:
    assert document.expand_template(template, ENVIRON) == expansion


@pytest.mark.parametrize(
    ("template", "message", "hint"),
    [
        ("${{ REV", *OPEN),
        ("${{ '${{ REV }}", *OPEN),
        ("x/${{ NONE }}", f'{FAILED}" NONE "', UNSET.format("`NONE`")),
        ("${{ NONE || dflt }}", f'{FAILED}" NONE || dflt "', UNSET.format("`NONE` or `dflt`")),
        ('${{ "B" }}', f'{FAILED}" \\"B\\" "', UNSET.format('`"B"`')),
        ("${{}}", f'{FAILED}""', "write an environment variable or a text in quotes: `${{ NAME || 'text' }}`"),
    ],
)
def test_a_variable_without_a_value_is_an_error(template: str, message: str, hint: str) -> None:
    with pytest.raises(document.ExpressionError) as error:
        document.expand_template(template, ENVIRON)
    assert (error.value.message, error.value.hint) == (message, hint)


NAMES = st.text("ABC_", min_size=1, max_size=3)
ENVIRONS = st.dictionaries(NAMES, st.text(max_size=5), max_size=4)
TEXTS = st.text(st.characters(exclude_characters="${}'|", exclude_categories=["Cs"]), max_size=8)
PIECES = st.one_of(TEXTS, st.builds("${{{{ {} || '{}' }}}}".format, NAMES, TEXTS))


@given(st.text())
def test_any_text_expands_or_says_why(template: str) -> None:
    try:
        document.expand_template(template, {"A": "a"})
    except document.ExpressionError as error:
        assert error.message.startswith(("expected", "failed"))


@given(st.lists(PIECES, max_size=6), ENVIRONS)
def test_a_fallback_is_taken_where_the_variable_is_not_set(pieces: list[str], environ: dict[str, str]) -> None:
    template = "".join(pieces)
    expected = re.sub(r"\$\{\{ (\w+) \|\| '([^']*)' \}\}", lambda match: environ.get(match[1], match[2]), template)
    assert document.expand_template(template, environ)[0] == expected
    assert set(document.expand_template(template, environ)[1]) <= set(environ)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a", "a"),
        ("$A", "$B"),
        ("$A$B${_x1}-$EMPTY.", "$Bbx-."),
        ("$$A", "$A"),
        ("$$$B$$", "$b$"),
        ("${B}c", "bc"),
        ("${B:-x}${NO:-y $A}${EMPTY:-}.", "by $A."),
    ],
)
def test_texts_are_expanded(text: str, expected: str) -> None:
    assert document.expand_variables(text, VARIABLES) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((text, "`$` is not followed by a name") for text in ("$", "$1", "${A", "${}", "${A:b}")),
        ("$AB", "the environment variable `AB` is not set"),
        ("$ab", "the environment variable is not set"),
        ("$ODD", "the environment variable `ODD` is not UTF-8"),
    ],
)
def test_texts_without_a_value_are_errors(text: str, said: str) -> None:
    with pytest.raises(document.ExpressionError) as error:
        document.expand_variables(text, VARIABLES)
    assert error.value.message == said


def test_a_single_variable_is_recognised() -> None:
    texts = ["$A", "${_a1}", "A", "$A ", "$A\n", "$$A", "${A", "$A}", "$1", "$A$B", "$É", ""]
    assert [text for text in texts if document.is_variable(text)] == ["$A", "${_a1}"]
