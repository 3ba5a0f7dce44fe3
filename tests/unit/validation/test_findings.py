"""What validation found, by annotation and by file."""

from __future__ import annotations

from pathlib import Path

from msgspec import msgpack

from duvet.project.findings import Finding, Findings
from duvet.project.project import Project
from duvet.project.validation import validate
from duvet.tree.files import MemoryTree
from tests.cli.made import make
from tests.unit.validation.made import FILES, project

_CONFIG = {".duvet/config.toml": b"'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/*.rs'\n"}


def test_the_errors_of_each_annotation() -> None:
    one = project()
    invalid = validate(one).invalid()
    annotations = one.trace.annotations
    assert [(annotations[id].line, [problem.code for problem in problems]) for id, problems in invalid.items()] == [
        (3, ["DUV050"]),
        *[(line, ["DUV050"]) for line in (1, 5, 10)],
        (12, ["DUV043"]),
        (16, ["DUV042"]),
        (21, ["DUV040"]),
        *[(line, ["DUV050"]) for line in (25, 29, 33)],
        (1, ["DUV090"]),
    ]
    assert {id for id, match in enumerate(one.trace.match_of) if match is None} == {
        id for id, problems in invalid.items() if problems[0].code != "DUV090"
    }


def test_one_report_for_all_that_cite_a_specification_that_is_not_there() -> None:
    """Of files that are named, the first one says so, whoever was first in the whole project."""
    text = "//= https://tea.example/spec#a\n//# b\n//= https://tea.example/spec#b\n//# b\n"
    one = Project(tree=MemoryTree({"src/a.rs": text.encode(), "src/b.rs": text.encode(), **_CONFIG}))
    findings = validate(one)
    assert [problem.path for problem in findings.of(findings.files).problems] == ["src/a.rs"]
    assert [problem.path for problem in findings.of(["src/b.rs"]).problems] == ["src/b.rs"]
    assert len(findings.invalid()) == 4


def test_a_specification_that_the_configuration_names_is_told_there() -> None:
    config = _CONFIG[".duvet/config.toml"] + b"[[specification]]\nsource = 'https://tea.example/spec'\n"
    text = b"//= https://tea.example/spec#a\n//# b\n"
    one = Project(tree=MemoryTree({"src/a.rs": text, "src/b.rs": b"", ".duvet/config.toml": config}))
    findings = validate(one)
    for paths in (["src/a.rs"], ["src/b.rs"]):
        assert [problem.path for problem in findings.of(paths).problems] == [".duvet/config.toml"]
    assert list(findings.invalid()) == [0]


def test_what_is_wrong_with_the_tree_is_no_matter_of_a_file(tmp_path: Path) -> None:
    folder = make(tmp_path / "tea", FILES)
    (folder / "src/loop").symlink_to(folder / "src")
    findings = validate(Project(str(folder)))
    assert [one.path for one in findings.of(["src/right.py"]).problems] == []
    assert "src/loop" in [one.path for one in findings.of(findings.files).problems]


def test_findings_are_kept_as_they_are() -> None:
    findings = validate(project())
    assert msgpack.decode(msgpack.encode(findings), type=Findings) == findings
    assert all(isinstance(one, Finding) for one in findings.found)
