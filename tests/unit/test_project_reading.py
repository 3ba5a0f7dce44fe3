"""A project is read step by step, from its configuration to its requirements."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import duvet.project.project
from duvet import Kind, Level, MemoryTree, Place, Problem, Progress, Project, Severity, Status
from duvet.specs.requirement_files import read_requirement_file
from tests.made import CONFIG, FILES, in_memory, written


def content(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def test_the_example_runs() -> None:
    results = doctest.testmod(duvet.project.project)
    assert (results.failed, results.attempted) == (0, 5)


@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_a_whole_project(kind: str, tmp_path: Path) -> None:
    tree = MemoryTree(FILES) if kind == "memory" else None
    project = Project(str(written(tmp_path)), tree=tree, environ={"COMMIT": "abc"})
    trace = project.trace
    shown = [(one.path, one.line, one.kind, one.quote, one.blob_link) for one in trace.annotations]
    warm, blue = "The pot MUST be warm.", "It MAY be blue."
    assert shown == [
        (".duvet/exceptions/tea.toml", 2, Kind.EXCEPTION, blue, None),
        (".duvet/requirements/tea/cup.toml", 8, Kind.SPEC, "A cup SHOULD be ☕.", None),
        (".duvet/requirements/tea/tea.toml", 8, Kind.SPEC, warm, None),
        (".duvet/requirements/tea/tea.toml", 14, Kind.SPEC, blue, None),
        ("lib/a.rs", 1, Kind.TEST, warm, "https://host/abc"),
        ("more/a/todo.toml", 1, Kind.TODO, "A cup SHOULD", None),
        ("src/a.rs", 1, Kind.CITATION, warm, "https://host/abc"),
    ]
    assert [(one.section.id, one.level, one.text, one.status) for one in project.requirements] == [
        ("tea", Level.MUST, warm, Status.DONE),
        ("tea", Level.MAY, blue, Status.DONE),
        ("cup", Level.SHOULD, "A cup SHOULD be ☕.", Status.NOT_STARTED),
    ]
    assert (trace.problems, [match is None for match in trace.match_of]) == ((), [False] * 7)


def test_nothing_is_written(tmp_path: Path) -> None:
    before = content(written(tmp_path))
    assert Project(str(tmp_path)).finished().requirements
    assert content(tmp_path) == before


def test_what_is_extracted_equals_what_the_next_run_reads(tmp_path: Path) -> None:
    first = Project(str(written(tmp_path)))
    assert {
        path: read_requirement_file(path, data)[0] for path, data in first.extraction.files.items()
    } == first.extraction.annotations
    trace = first.trace
    written(tmp_path, first.extraction.files)
    assert Project(str(tmp_path)).trace == trace
    written(tmp_path, {".duvet/config.toml": CONFIG.replace(b'[[specification]]\nsource = "tea.md"\n', b"")})
    again = Project(str(tmp_path))
    assert (again.extraction.files, again.trace) == ({}, trace)


def test_a_trace_with_problems_is_still_a_trace() -> None:
    wrong = b"//= tea.md#tea\n//# no such words\n\n//= tea.md#nowhere\n\n//= level=x\n\n\n\n//# stray\n"
    project = in_memory({**FILES, "src/b.rs": wrong, "src/c.rs": b"\xff", "more/b.toml": b"[[spec]]\n"})
    trace = project.trace
    assert [(one.code, one.path, one.place.line, one.severity) for one in trace.problems] == [
        ("DUV032", "more/b.toml", 1, Severity.ERROR),
        ("DUV032", "more/b.toml", 1, Severity.ERROR),
        ("DUV050", "src/b.rs", 2, Severity.ERROR),
        ("DUV043", "src/b.rs", 4, Severity.ERROR),
        ("DUV023", "src/b.rs", 6, Severity.ERROR),
        ("DUV025", "src/b.rs", 6, Severity.ERROR),
        ("DUV027", "src/b.rs", 10, Severity.WARNING),
        ("DUV011", "src/c.rs", 1, Severity.ERROR),
    ]
    unmatched = [one for one, match in zip(trace.annotations, trace.match_of, strict=True) if match is None]
    assert [(one.path, one.line) for one in unmatched] == [("src/b.rs", 1), ("src/b.rs", 4)]
    assert project.requirements == in_memory(FILES).requirements


def test_patterns_that_mean_nothing_are_told_at_their_places() -> None:
    config = CONFIG.replace(b"lib/*.rs", b"lib/***").replace(b"more/**/*", b"more/[")
    problems = in_memory({**FILES, ".duvet/config.toml": config}).trace.problems
    assert [(one.code, one.path, one.place) for one in problems] == [
        ("DUV006", ".duvet/config.toml", Place(4, 24, 9)),
        ("DUV006", ".duvet/config.toml", Place(8, 11, 13)),
    ]


def test_requirement_files_that_cant_be_read(tmp_path: Path) -> None:
    root = written(tmp_path, {**FILES, "more/b.toml/c.toml": b"\xff", "more/d.toml": b"["})
    (root / "more/gone.toml").symlink_to("nothing")
    assert [(one.code, one.path) for one in Project(str(root)).trace.problems] == [
        ("DUV012", "more/b.toml"),
        ("DUV011", "more/b.toml/c.toml"),
        ("DUV030", "more/d.toml"),
        ("DUV010", "more/gone.toml"),
    ]


def test_two_spellings_of_one_specification() -> None:
    project = in_memory({**FILES, "src/b.rs": b"//= ./tea.md#tea\n//# It MAY be blue.\n"})
    message = "./tea.md and tea.md are one text, but count as two specifications"
    hint, warning = "write tea.md everywhere", Severity.WARNING
    assert project.trace.problems == (Problem("DUV044", message, "src/b.rs", Place(1), hint=hint, severity=warning),)
    assert [one.specification.id for one in project.trace.coverages] == ["tea", "tea-2"]


def test_progress_is_told_step_by_step() -> None:
    class Steps(Progress):
        def end(self, outcome: str) -> None:
            steps.append(outcome)

    steps: list[str] = []
    Project(tree=MemoryTree(FILES), progress=Steps()).finished()
    assert steps == [
        "Extracted requirements from 1 specifications",
        "Scanned 6 sources",
        "Parsed 7 annotations",
        "Loaded 1 specifications",
        "Mapped 2 sections",
        "Matched 8 references",
        "Sorted 8 references",
    ]
