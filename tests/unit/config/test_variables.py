"""Variables in texts, and secrets."""

from __future__ import annotations

import pytest

from duvet.config.document import VariableError, expand_variables, is_variable
from duvet.config.settings import Secret

ENVIRON = {"A": "$B", "B": "b", "_x1": "x", "EMPTY": "", "ODD": "\udcff"}


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
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert expand_variables(text, ENVIRON) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$", "a `$` with no name after it"),
        ("$1", "a `$` with no name after it"),
        ("${A", "a `$` with no name after it"),
        ("${}", "a `$` with no name after it"),
        ("${A:-b}", "a `$` with no name after it"),
        ("$AB", "the environment variable `AB` is not set"),
        ("$ab", "the environment variable is not set"),
        ("$ODD", "the environment variable `ODD` is not UTF-8"),
    ],
)
def test_texts_that_have_no_value(text: str, said: str) -> None:
    with pytest.raises(VariableError) as error:
        expand_variables(text, ENVIRON)
    assert error.value.message == said


def test_what_is_one_variable() -> None:
    texts = ["$A", "${_a1}", "A", "$A ", "$A\n", "$$A", "${A", "$A}", "$1", "$A$B", "$É", ""]
    assert [text for text in texts if is_variable(text)] == ["$A", "${_a1}"]


def test_a_secret_shows_itself_to_who_asks() -> None:
    secret = Secret("sk-1")
    assert (secret.reveal(), repr(secret), f"{secret}", str([secret])) == (
        "sk-1",
        "Secret(…)",
        "Secret(…)",
        "[Secret(…)]",
    )
    assert secret == Secret("sk-1") != Secret("sk-2") and secret != "sk-1"
