import re
from collections.abc import Callable
from functools import partial

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
WORDS = "an environment variable, a text in quotes"
OPEN = ('expected "}}"', "close the expression: `${{ NAME }}`")
FAILED = "failed to evaluate expression: "
UNSET = "set the environment variable {}, or add a default: `|| 'text'`"
VARIABLES = {"A": "$B", "B": "b", "_x1": "x", "EMPTY": "", "ODD": "\udcff"}


INVALID = {
    "${{ REV": OPEN,
    "${{ '${{ REV }}": OPEN,
    "x/${{ NONE }}": (f'{FAILED}" NONE "', UNSET.format("`NONE`")),
    "${{ NONE || dflt }}": (f'{FAILED}" NONE || dflt "', UNSET.format("`NONE` or `dflt`")),
    '${{ "B" }}': (f'{FAILED}" \\"B\\" "', UNSET.format('`"B"`')),
    "${{}}": (f'{FAILED}""', f"write the name of {WORDS}, or both: `${{{{ NAME || 'text' }}}}`"),
}


def refusal(work: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(document.ExpressionError) as error:
        work()
    return error.value.message, error.value.hint


def test_expressions_are_expanded_or_refused() -> None:
    assert [(template, document.expand_template(template, ENVIRON)) for template, _ in EXPANSIONS] == EXPANSIONS
    assert {one: refusal(partial(document.expand_template, one, ENVIRON)) for one in INVALID} == INVALID


NAMES = st.text("ABC_", min_size=1, max_size=3)
TEXTS = st.text(st.characters(exclude_characters="${}'|", exclude_categories=["Cs"]), max_size=8)
PIECES = st.one_of(TEXTS, st.builds("${{{{ {} || '{}' }}}}".format, NAMES, TEXTS))


@given(st.text())
def test_any_text_expands_or_says_why(template: str) -> None:
    try:
        document.expand_template(template, {"A": "a"})
    except document.ExpressionError as error:
        assert error.message.startswith(("expected", "failed"))


@given(st.lists(PIECES, max_size=6), st.dictionaries(NAMES, st.text(max_size=5), max_size=4))
def test_a_fallback_is_taken_where_the_variable_is_not_set(pieces: list[str], environ: dict[str, str]) -> None:
    template = "".join(pieces)
    expected = re.sub(r"\$\{\{ (\w+) \|\| '([^']*)' \}\}", lambda match: environ.get(match[1], match[2]), template)
    assert document.expand_template(template, environ)[0] == expected
    assert set(document.expand_template(template, environ)[1]) <= set(environ)


EXPANDED = {
    "": "",
    "a": "a",
    "$A": "$B",
    "$A$B${_x1}-$EMPTY.": "$Bbx-.",
    "$$A": "$A",
    "$$$B$$": "$b$",
    "${B}c": "bc",
    "${B:-x}${NO:-y $A}${EMPTY:-}.": "by $A.",
}
REFUSED = {
    **dict.fromkeys(("$", "$1", "${A", "${}", "${A:b}"), "`$` is not followed by a name"),
    "$AB": "the environment variable `AB` is not set",
    "$ab": "the environment variable is not set",
    "$ODD": "the environment variable `ODD` is not UTF-8",
}


def test_variables_are_expanded_or_refused() -> None:
    assert {text: document.expand_variables(text, VARIABLES) for text in EXPANDED} == EXPANDED
    assert {text: refusal(partial(document.expand_variables, text, VARIABLES))[0] for text in REFUSED} == REFUSED
    texts = ["$A", "${_a1}", "A", "$A ", "$A\n", "$$A", "${A", "$A}", "$1", "$A$B", "$É", ""]
    assert [text for text in texts if document.is_variable(text)] == ["$A", "${_a1}"]
