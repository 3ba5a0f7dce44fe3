"""The fast reader of requirement files agrees with the thorough one, on whatever it accepts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.specs.requirement_files import read_requirements_checked, read_requirements_plain

PLAIN = st.sampled_from(
    [
        "'a'",
        "''",
        "'a#b'",
        '"c \' # d"',
        '""',
        "'''x'''",
        "''''''",
        "'''\n'''",
        "'''\n one''\n\n two\u3000 \u2028\n'''",
        "'''\n[[spec]]\nquote = 'no'\n'''",
    ]
)
ODD = st.sampled_from(["'''y''''", '"a\\tb"', '"""z"""', "3", "['a']", "'a", "'a' 'b'", "'\x0c'"])
ENDS = st.sampled_from(["\n", "\n\n", " # note 'x\n", "\t\n\n  # more\n  "])
ODD_ENDS = st.sampled_from(["\r\n", "\x0c\n", "", " ", "#"])


def statements(keys: list[str], values: st.SearchStrategy[str] = PLAIN) -> st.SearchStrategy[str]:
    """Some of these keys, in any order, each with a value of its own."""
    given_keys = st.lists(st.sampled_from(keys), unique=True, max_size=3)
    lines = given_keys.flatmap(
        lambda names: st.tuples(*(st.builds(f"{name} = {{}}{{}}".format, values, ENDS) for name in names))
    )
    return lines.map("".join)


LEVELS = st.sampled_from(["level = 'MUST'\n", 'level = "MAY"\n', "", "", "level='X'\n", "format = 'md'\n"])
TABLES = st.one_of(
    st.builds("[[spec]]{}{}quote = {}{}{}".format, ENDS, LEVELS, PLAIN, ENDS, statements(["target"])),
    st.builds('[[spec]]\nlevel = "{}"\nquote = {}{}'.format, st.sampled_from(["MUST", "AUTO"]), PLAIN, ENDS),
    st.builds("[[exception]]{}quote = {}\nreason = {}{}{}".format, ENDS, PLAIN, PLAIN, ENDS, statements(["target"])),
    st.builds(
        "[[{}]]{}quote = {}{}{}".format,
        st.sampled_from(["TODO", "TODO", "todo"]),
        ENDS,
        PLAIN,
        ENDS,
        statements(["target", "reason", "feature", "tracking-issue", "tracking_issue"]),
    ),
)
MISTAKES = st.one_of(
    st.builds("[[{}]]{}".format, st.sampled_from(["spec", "specs", "test", "a.b", " spec "]), ENDS),
    st.builds("quote = {}{}".format, ODD, ENDS),
    st.builds("target = {}{}".format, PLAIN, ODD_ENDS),
    statements(["tags", "x-1", "'quote'", "quote", "level"]),
)
BEGINNINGS = st.sampled_from(
    ["", "\n", "# first\n", "\ufeff", *['target = "a.md#b"\n\n# Title\n#\n# [[spec]]\n\n'] * 4]
)
FILES = st.lists(st.one_of(*[TABLES] * 9, MISTAKES), max_size=4).map("".join)


@given(BEGINNINGS, FILES)
def test_agreement(beginning: str, statements: str) -> None:
    data = (beginning + statements).encode()
    found = read_requirements_plain("x.toml", data)
    assert found is None or (found, []) == read_requirements_checked("x.toml", data)


@pytest.mark.parametrize("path", [".duvet/requirements", "compliance"])
def test_agreement_on_real_files(path: str, shared: Path) -> None:
    files = [file for file in shared.glob("golden/*/*/") for file in (file / path).rglob("*.toml")]
    assert files
    for file in files:
        data = file.read_bytes()
        assert (read_requirements_plain(file.name, data), []) == read_requirements_checked(file.name, data)


def test_an_unusual_table_is_left_to_the_thorough_reader() -> None:
    assert read_requirements_plain("x.toml", b"target = 'a'\n[[todo]]\nquote = 'x'\ntags = ['a']\n") is None
