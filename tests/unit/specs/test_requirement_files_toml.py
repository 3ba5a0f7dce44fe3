"""Requirement files that duvet writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from duvet.model import ExtractedSentence, Level, Section
from duvet.specs import requirement_check, requirement_files
from duvet.specs.requirement_files import render_toml_file
from duvet.text import trim

TARGET = "oven.md#door"


def section(title: str, lines: list[str], id: str = "door") -> Section:
    return Section(id, title, (0, 0), title, tuple(lines), (0,) * len(lines))


def must(*pieces: str) -> ExtractedSentence:
    return ExtractedSentence(Level.MUST, pieces)


DOOR = section("Door", ["It MUST be", "closed.  It MAY", "", "squeak."])
FOUND = (must("It MUST be", "closed."), ExtractedSentence(Level.MAY, ("It MAY",)))


def test_requirements_are_written_as_toml() -> None:
    assert render_toml_file(TARGET, DOOR, FOUND).decode() == (
        'target = "oven.md#door"\n\n# Door\n#\n# It MUST be\n# closed.  It MAY\n# \n# squeak.\n\n'
        "[[spec]]\nlevel = \"MUST\"\nquote = '''\nIt MUST be\nclosed.\n'''\n\n"
        "[[spec]]\nlevel = \"MAY\"\nquote = '''\nIt MAY\n'''\n\n"
    )


def test_requirements_are_written_as_rust() -> None:
    assert requirement_files.render_rust_file(TARGET, DOOR, FOUND).decode() == (
        "//! oven.md#door\n//!\n//! Door\n//!\n//! It MUST be\n//! closed.  It MAY\n//! \n//! squeak.\n\n"
        "//= oven.md#door\n//= type=spec\n//= level=MUST\n//# It MUST be\n//# closed.\n\n"
        "//= oven.md#door\n//= type=spec\n//= level=MAY\n//# It MAY\n\n"
    )
    title = "//! oven.md#door\n//!\n//! Long title\n//! goes on\n//!\n\n"
    assert requirement_files.render_rust_file(TARGET, section("Long title\r\ngoes on", []), ()).decode() == title


@pytest.mark.parametrize(
    ("title", "lines", "comment"),
    [
        ("Long title\r\ngoes on", [], "# Long title\n# goes on\n#\n"),
        ("", ["x"], "# \n#\n# x\n"),
        # Control characters are left out.
        ("A\x0cB", ["\x0c  MUST\x00 \x7fbe\t.\r"], "# AB\n#\n#   MUST be\t.\n"),
    ],
)
def test_titles_and_lines_in_comments(title: str, lines: list[str], comment: str) -> None:
    assert render_toml_file(TARGET, section(title, lines), ()).decode() == f'target = "oven.md#door"\n\n{comment}\n'


def test_strings_that_need_escapes() -> None:
    target = 'a"\\b.md#x'
    found = (must("Use '''MUST''' here."), must('a\\ """" \x0c\x7f\tb'), must("plain"))
    text = render_toml_file(target, section("T", []), found).decode()
    assert text == (
        'target = "a\\"\\\\b.md#x"\n\n# T\n#\n\n'
        '[[spec]]\nlevel = "MUST"\nquote = """\nUse \'\'\'MUST\'\'\' here.\n"""\n\n'
        '[[spec]]\nlevel = "MUST"\nquote = """\na\\\\ ""\\"" \\u000C\\u007F\tb\n"""\n\n'
        "[[spec]]\nlevel = \"MUST\"\nquote = '''\nplain\n'''\n\n"
    )
    annotations = requirement_files.read_requirement_file("x.toml", text.encode())[0]
    assert [(one.target, one.quote) for one in annotations] == [(target, " ".join(it.pieces)) for it in found]


TEXTS = st.text(st.one_of(st.sampled_from("'\"\\\t\r\x0c \u2028#[]é𝄞"), st.characters(codec="utf-8")), max_size=12)
LINES = TEXTS.map(lambda text: text.replace("\n", ""))
PIECES = st.lists(LINES.map(trim).filter(bool), min_size=1, max_size=3).map(tuple)
EXTRACTED = st.lists(st.builds(ExtractedSentence, st.sampled_from(Level), PIECES), max_size=3).map(tuple)


@given(TEXTS, TEXTS, st.lists(LINES, max_size=3), EXTRACTED)
def test_annotations_are_those_that_reading_gives(
    target: str, title: str, lines: list[str], found: tuple[ExtractedSentence, ...]
) -> None:
    whole = section(title, lines)
    data = render_toml_file(target, whole, found)
    made = requirement_files.make_requirement_file("x.toml", target, whole, found)[1]
    assert (
        (made, [])
        == requirement_files.read_requirement_file("x.toml", data)
        == requirement_check.read_requirements_checked("x.toml", data)
    )
    assert requirement_files.make_requirement_file("x.toml", target, whole, found) == (data, made)


def test_files_that_upstream_wrote_are_written_alike(shared: Path) -> None:
    found = [*shared.glob("golden/*/expected/**/*.toml"), *shared.glob("probes/open/*/*/expected/**/*.toml")]
    inputs = {Path(str(file).replace("/project/", "/expected/")) for file in shared.glob("golden/*/project/**/*.toml")}
    files = [file.read_bytes() for file in found if file not in inputs and file.name != "config.toml"]
    assert len(files) > 400
    assert [data for data in files if rewritten(data) != data] == []


def rewritten(data: bytes) -> bytes:
    first, _, comment = data.decode().partition("\n\n")
    lines = [line[2:] for line in comment.partition("\n\n")[0].split("\n")]
    found = [
        ExtractedSentence(it.level, tuple(it.reason[:-1].split("\n")))
        for it in requirement_files.read_requirement_file("x.toml", data)[0]
    ]
    return render_toml_file(json.loads(first.removeprefix("target = ")), section(lines[0], lines[2:]), found)
