import re
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.config import document

ENVIRON = {"REV": "abc", "B": "zzz", "EMPTY": "", "BYTES": "\udcff"}
TEMPLATES = [
    *("", "https://host/main", "$REV/${REV}/{{REV}}/}}", "x/${{ REV }}/y", "${{REV}}${{B}}${{REV}}"),
    *("${{ NONE || REV || B }}", "${{NONE||'text'||B}}", "${{ 'x y' }}", "${{ 'open }}", "${{ 'two''' }}"),
    *("${{ '' }}", "${{ EMPTY || 'b' }}", "${{ BYTES || 'b' }}", "${{ 'a}b' }}}}", "${{\u00a0REV\u2003}}"),
]
INVALID = [*("${{ REV", "${{ '${{ REV }}", "x/${{ NONE }}", "${{ NONE || dflt }}", '${{ "B" }}', "${{}}")]
VARIABLES = {"A": "$B", "B": "b", "_x1": "x", "EMPTY": "", "ODD": "\udcff"}
TEXTS_WITH_VARIABLES = ["", "a", "$A", "$A$B${_x1}-$EMPTY.", "$$A", "$$$B$$", "${B}c", "${B:-x}${NO:-y $A}${EMPTY:-}."]
REFUSED = ["$", "$1", "${A", "${}", "${A:b}", "$AB", "$ab", "$ODD"]


def refusal(work: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(document.ExpressionError) as error:
        work()
    return error.value.message, error.value.hint


def test_expressions_and_variables_are_expanded_or_refused(snapshot: Snapshot) -> None:
    lines: list[str] = []
    for inputs, work in (
        (TEMPLATES, lambda one: document.expand_template(one, ENVIRON)),
        (INVALID, lambda one: refusal(partial(document.expand_template, one, ENVIRON))),
        (TEXTS_WITH_VARIABLES, lambda one: document.expand_variables(one, VARIABLES)),
        (REFUSED, lambda one: refusal(partial(document.expand_variables, one, VARIABLES))),
    ):
        lines += [*(f"{one!r}: {work(one)!r}" for one in inputs), ""]
    snapshot.assert_match("\n".join(lines), "config/expressions.txt")
    texts = ["$A", "${_a1}", "A", "$A ", "$A\n", "$$A", "${A", "$A}", "$1", "$A$B", "$É", ""]
    assert [text for text in texts if document.is_variable(text)] == ["$A", "${_a1}"]


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
