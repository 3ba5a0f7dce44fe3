"""Requirement files: which exist, where they are written, and which are no longer needed."""

from __future__ import annotations

import pytest

from duvet.config.project_file import read_config
from duvet.model import Place, Problem, Severity
from duvet.specs import extraction
from duvet.specs.library import Library
from duvet.tree.files import MemoryTree

DOWNLOADS = ".duvet/specifications"
LONG, SHORT = "a" * 240, "a" * 50


@pytest.mark.parametrize(
    ("source", "out", "downloads", "folder"),
    [
        (f"{DOWNLOADS}/h/rfc/rfc1.txt", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/h/rfc/rfc1"),
        (f"{DOWNLOADS}/h/rfc/rfc1.txt", ".", DOWNLOADS, "./h/rfc/rfc1"),
        (f"{DOWNLOADS}/h/rfc/rfc1.txt", ".duvet", DOWNLOADS, ".duvet/h/rfc/rfc1"),
        ("my-spec.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/my-spec"),
        ("../out/spec.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/out/spec"),
        ("./dot.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/dot"),
        ("in/a.b.md", ".duvet/requirements", DOWNLOADS, ".duvet/requirements/in/a.b"),
        ("specs/h/rfc/rfc1.txt", "a", "", "a/specs/h/rfc/rfc1"),
        ("./docs/v1.2/deep.spec.md", ".", "", "./docs/v1.2/deep.spec"),
        ("docs/v1.2/../v1.2/deep.spec.md", "out/y", "", "out/y/docs/v1.2/v1.2/deep.spec"),
        ("docs/a/spec.md", "docs", "", "docs/a/spec"),
        ("docs/a/spec.md", "docs/a", "", "docs/a/spec"),
        ("docs-a/spec.md", "docs", "", "docs/docs-a/spec"),
        ("/w/ex/in/req.md", "/w/ex", "", "/w/ex/in/req"),
        ("/w/in/req.md", "ex", "", "ex/w/in/req"),
        ("/w/in/req.md", "", "", "w/in/req"),
    ],
)
def test_the_folder_of_a_specification_is_named_as_upstream_does(
    source: str, out: str, downloads: str, folder: str
) -> None:
    assert extraction.requirements_folder(source, out, downloads) == folder


@pytest.mark.parametrize(
    ("id", "path"),
    [
        ("section-2.1", "r/section-2.1.toml"),
        ("", "r/.toml"),
        ("../../up", "r/..%2F..%2Fup.toml"),
        ("a\0\n\x7fb", "r/a%00%0A%7Fb.toml"),
        # A title that no file name can hold is cut and gets a digest.
        (LONG, f"r/{LONG}.toml"),
        (f"{LONG}b", f"r/{SHORT}-985453035960.toml"),
        (f"{LONG}c", f"r/{SHORT}-a7424959e7c2.toml"),
    ],
)
def test_the_file_of_a_section_is_named_as_upstream_does(id: str, path: str) -> None:
    ##= man/spec/trace.md#requirement-files
    ##% `duvet extract` MUST write the same requirement files as awslabs duvet.
    assert extraction.requirements_file("r", id) == path
    assert extraction.requirements_file("r", "a", "rs") == "r/a.rs"
    assert len(extraction.requirements_file("", "é" * 300).encode()) < 255


CONFIG = b"""'$schema' = "duvet-cli/config/v1"
[[specification]]
source = "tea.md"
[[specification]]
source = "gone.md"
"""
FOLDER = ".duvet/requirements/tea"
OLD = b"target = \"tea.md#cup\"\n\n# Cup\n#\n# It MAY be blue.\n\n[[spec]]\nlevel = \"MAY\"\nquote = '''\nIt MAY be blue.\n'''\n\n"
CUP = f"{FOLDER}/cup.toml"


def extracted(files: dict[str, bytes]) -> tuple[extraction.Extraction, MemoryTree]:
    tree = MemoryTree({"tea.md": b"# Tea\n\n## Pot\n\nIt MUST be warm.\n\n## Cup\n\nIt may be blue.\n", **files})
    library = Library(tree, ".duvet/specifications")
    return extraction.extract_configured(read_config(CONFIG, ".duvet/config.toml", {}), library, ""), tree


def stale(files: dict[str, bytes]) -> list[str]:
    return [problem.path for problem in extraction.find_stale_files(*extracted(files))]


def test_each_section_with_requirements_has_a_file() -> None:
    found, _ = extracted({})
    assert list(found.files) == list(found.annotations) == [f"{FOLDER}/pot.toml"]
    (problem,) = found.problems
    assert (problem.code, problem.path, problem.place) == ("DUV010", ".duvet/config.toml", Place(5, 10, 9))


def test_a_file_without_requirements_is_reported() -> None:
    ##= man/spec/trace.md#requirement-files
    ##% With `--prune`, duvet MUST remove the requirement files that are no longer needed, but no file that a person
    ##% wrote or edited.
    message = "this extracted file is outdated: its section no longer contains requirements"
    warning = Problem("DUV036", message, CUP, Place(1), hint="remove it with `--prune`", severity=Severity.WARNING)
    assert list(extraction.find_stale_files(*extracted({CUP: OLD, f"{FOLDER}/pot.toml": b""}))) == [warning]


@pytest.mark.parametrize(
    ("path", "data"),
    [
        (f"{FOLDER}/own.toml", OLD),
        (f"{FOLDER}/deeper/cup.toml", OLD),
        (f"{FOLDER}/cup.txt", OLD),
        (".duvet/requirements/milk/cup.toml", OLD),
        (CUP, OLD.replace(b"tea.md", b"milk.md")),
        (CUP, OLD.replace(b"[[spec]]", b"[[todo]]")),
        (CUP, OLD + b"# mine\n"),
        (CUP, OLD.replace(b'"MAY"\n', b'"MAY" # mine\n')),
        (CUP, b""),
        (CUP, b"\xff"),
    ],
)
def test_edited_files_are_not_stale(path: str, data: bytes) -> None:
    ##= man/spec/trace.md#requirement-files
    ##% With `--prune`, duvet MUST remove the requirement files that are no longer needed, but no file that a person
    ##% wrote or edited.
    assert stale({path: data}) == []
