"""References to files and lines"""

from __future__ import annotations

import pytest

from duvet.queries.references import resolve_reference
from duvet.trace.locations import ProjectFiles
from tests.unit.queries.referred import CATALOGUE, PLACES, ROOT, ROUND, TREE, WARM, found, said, shown


@pytest.mark.parametrize(
    "reference",
    [
        "tests/test_pot.py",
        "./tests//test_pot.py",
        "tests\\test_pot.py",
        "src/../tests/test_pot.py",
        f"{ROOT}/tests/test_pot.py",
        "/home\\me\\tea\\tests\\test_pot.py",
    ],
)
def test_files_by_any_path(reference: str) -> None:
    ##= man/spec/show.md#references
    ##% duvet MUST find a file by its relative or absolute path, with the separators of any system.
    assert shown(found(reference)) == ["tests/test_pot.py", "2"]
    assert shown(found(f"{reference}:2")) == ["tests/test_pot.py:2"]


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("src/pot.rs:3", ["src/pot.rs:3"]),
        ("src/pot.rs:6:12", ["src/pot.rs:5"]),
        ("src/pot.rs:7:", ["src/pot.rs:3", "src/pot.rs:5"]),
        ("src/pot.rs:9", ["src/pot.rs:3", "src/pot.rs:5"]),
        ("src/pot.rs:25", ["src/pot.rs:25"]),
        ("src/c#.rs:6", ["src/c#.rs:2", "src/c#.rs:4"]),
        ("src/c#.rs:8", ["src/c#.rs:2", "src/c#.rs:4"]),
        (".duvet/exceptions/coffee.toml:5", [".duvet/exceptions/coffee.toml:3"]),
    ],
)
def test_lines_of_code(reference: str, meant: list[str]) -> None:
    ##= man/spec/show.md#references
    ##% duvet MUST read a line of code as the annotations right above it, and a line of a specification as the
    ##% requirement that begins there.
    assert shown(found(reference)) == meant


def test_without_files_the_annotation_that_begins_last_is_meant() -> None:
    assert shown(resolve_reference(CATALOGUE, "src/pot.rs:12")) == ["src/pot.rs:5"]


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("src/pot.rs:11", "no annotation belongs to src/pot.rs:11\nnear are src/pot.rs:3, src/pot.rs:5, src/pot.rs:14"),
        ("src/pot.rs:9000", "no annotation belongs to src/pot.rs:9000\nnear are src/pot.rs:27, src/pot.rs:30, src/pot.rs:33"),
        ("src/c#.rs:10", "no annotation belongs to src/c#.rs:10\nnear are src/c#.rs:2, src/c#.rs:4"),
        ("src/1dd6.rs:0", "no annotation belongs to src/1dd6.rs:0\nnear are src/1dd6.rs:1"),
        ("src/empty.rs:1", 'there is no annotation in "src/empty.rs"'),
        ("src/empty.rs", 'there is no annotation in "src/empty.rs"'),
    ],
)  # fmt: skip
def test_lines_that_belong_to_no_annotation(reference: str, words: str) -> None:
    ##= man/spec/show.md#references
    ##% For a line without an annotation, duvet MUST name the nearest annotations in its file.
    assert said(reference, ProjectFiles(TREE, ROOT)) == words


def test_lines_of_a_specification() -> None:
    ##= man/spec/show.md#references
    ##% duvet MUST read a line of code as the annotations right above it, and a line of a specification as the
    ##% requirement that begins there.
    assert shown(found("tea.md:13")) == [PLACES[1]]
    assert said("tea.md:9") == "no requirement begins at tea.md:9\nnear are tea.md:7, tea.md:8, tea.md:12"
    assert said("tea.md:7") == (
        '"tea.md:7" could mean 2 requirements\n'
        "give one of these ids:\n"
        f"{WARM}  The pot MUST be warm.\n"
        f"{ROUND}  It SHOULD be round, and nobody MAY drop it."
    )
