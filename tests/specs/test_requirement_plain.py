"""The fast reader of requirement files agrees with the thorough one, on whatever it accepts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.specs.requirement_checked import read_checked
from duvet.specs.requirement_plain import read_plain

STRINGS = st.sampled_from(
    [
        "'a'",
        "''",
        "'a#b'",
        '"c \' # d"',
        '""',
        "'MUST'",
        '"SHOULD"',
        "'''x'''",
        "''''''",
        "'''\n'''",
        "'''\n one''\n\n two\u3000 \u2028\n'''",
        "'''\n[[spec]]\nquote = 'no'\n'''",
        "'''y''''",
        "'md'",
        '"a\\tb"',
        '"""z"""',
        "3",
        "['a']",
        "'a",
    ]
)
KEYS = st.sampled_from(
    [
        "target",
        "quote",
        "quote",
        "quote",
        "level",
        "format",
        "reason",
        "feature",
        "tracking-issue",
        "tags",
        "x-1",
        "'quote'",
    ]
)
NAMES = st.sampled_from(["spec", "spec", "exception", "TODO", "todo", "specs", "test", "a.b", " spec "])
ENDS = st.sampled_from(["\n", "\n", "\n\n", " # note 'x\n", "\t\n\n  # more\n  ", "\r\n", "\x0c\n", "", " "])
STATEMENTS = st.one_of(
    st.builds("[[{}]]{}".format, NAMES, ENDS),
    st.builds("{} = {}{}".format, KEYS, STRINGS, ENDS),
    st.builds('[[spec]]\nlevel = "{}"\nquote = {}{}'.format, st.sampled_from(["MUST", "AUTO", "X"]), STRINGS, ENDS),
)
BEGINNINGS = st.sampled_from(["", "\n", "# first\n", "\ufeff", 'target = "a.md#b"\n\n# Title\n#\n# [[spec]]\n\n'])


@given(BEGINNINGS, st.lists(STATEMENTS, max_size=6).map("".join))
def test_agreement(beginning: str, statements: str) -> None:
    data = (beginning + statements).encode()
    found = read_plain("x.toml", data)
    assert found is None or (found, []) == read_checked("x.toml", data)


@pytest.mark.parametrize("path", [".duvet/requirements", "compliance"])
def test_agreement_on_real_files(path: str, shared: Path) -> None:
    files = [file for file in shared.glob("golden/*/*/") for file in (file / path).rglob("*.toml")]
    assert files
    for file in files:
        data = file.read_bytes()
        assert (read_plain(file.name, data), []) == read_checked(file.name, data)


def test_an_unusual_table_is_left_to_the_thorough_reader() -> None:
    assert read_plain("x.toml", b"target = 'a'\n[[todo]]\nquote = 'x'\ntags = ['a']\n") is None
