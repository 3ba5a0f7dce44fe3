"""The library as a program uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duvet.errors import DuvetError
from duvet.project.project import Project
from duvet.tree.files import MemoryTree
from tests.cli.made import CONFIG, KETTLE, SOURCE, SPECIFICATION, make
from tests.cli.running import files

REQUIREMENTS = "target = 'spec.md#heating'\n[[todo]]\nquote = 'The kettle'\n"
FILES = KETTLE | {".duvet/todos/a.toml": REQUIREMENTS}
PIECES = [
    *"#[]{}'\"=\n\t\\*\r\0é日",
    "//=",
    "//#",
    "type=",
    " MUST ",
    "spec.md#heating",
    "\ufeff",
    "```\n",
    "    ",
    "1. ",
]


def test_reading_prints_and_writes_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make(tmp_path, {**KETTLE, "src/b.rs": "//# stray\n\n//= nothing.md#here\n"})
    before = files(tmp_path)
    project = Project(str(tmp_path))
    found = [(requirement.status.words, requirement.text) for requirement in project.requirements]
    assert found == [
        ("done", "The kettle MUST boil water."),
        ("not started", "It SHOULD whistle when done."),
        ("not started", "The spout MAY drip."),
    ]
    assert [problem.code for problem in project.trace.problems] == ["DUV027", "DUV040"]
    assert (files(tmp_path), capfd.readouterr()) == (before, ("", ""))


def changed(text: str) -> st.SearchStrategy[bytes]:
    """The text with something else in place of a part of it."""
    cuts = st.tuples(st.integers(0, len(text)), st.integers(0, 30))
    inserted = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=8)
    return st.builds(
        lambda cut, insert: (text[: cut[0]] + insert + text[sum(cut) :]).encode(errors="surrogatepass"), cuts, inserted
    )


@settings(deadline=None)
@given(
    changed(CONFIG) | st.just(CONFIG.encode()),
    changed(SPECIFICATION) | st.binary(max_size=30),
    changed(SOURCE) | st.binary(max_size=30),
    changed(REQUIREMENTS) | st.binary(max_size=30),
)
def test_any_input_is_read_or_refused(config: bytes, specification: bytes, source: bytes, requirements: bytes) -> None:
    inputs = (config, specification, source, requirements)
    project = Project("/w", tree=MemoryTree(dict(zip(FILES, inputs, strict=True))))
    try:
        for requirement in project.requirements:
            assert requirement.status.words and requirement.id
        assert list(project.trace.problems) == sorted(project.trace.problems, key=lambda one: one.sort_key)
    except DuvetError as error:
        assert error.message
