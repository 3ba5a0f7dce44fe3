"""Fixes of files that may change meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from duvet.model import Place, Problem
from duvet.project.project import Project
from duvet.project.validation import FixResult, fix_project, write_fixes
from tests.cli.command import files
from tests.cli.sample_project import make
from tests.unit.project.faulty_project import BROKEN, FILES, FIXED

TOML = ".duvet/exceptions/cleaning.toml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", FILES)


def fix_all(folder: Path) -> tuple[Project, FixResult]:
    project = Project(str(folder))
    return project, fix_project(project, lambda findings: findings.files, lambda *_: True)


def fix(folder: Path) -> tuple[Problem, ...]:
    return write_fixes(*fix_all(folder))


def test_a_fix_changes_nothing_else(folder: Path) -> None:
    ##= man/spec/validate.md#fixes
    ##% With `--fix`, `duvet validate` MUST correct a wrong target or quote if there is exactly one correction.
    before = files(folder)
    project, found = fix_all(folder)
    assert (files(folder), found.citations) == (before, 9)
    assert write_fixes(project, found) == ()
    exceptions = before[TOML].replace(b"vinegar", b"water,")
    assert files(folder) == {**before, "src/broken.rs": FIXED.encode(), TOML: exceptions}
    assert fix_all(folder)[1].after == {}


FORMS: dict[str, Callable[[str], str]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "BOM": lambda text: f"\ufeff// Tea\n{text}",
    "no final newline": lambda text: text.removesuffix("\n"),
    "quote at the end": lambda text: text.rstrip("}").removesuffix("\nfn spell() {}\n"),
    "tabs": lambda text: text.replace("    ", "\t"),
    "odd characters": lambda text: text.replace("brew()", "brëw(\u2028\x0c)"),
}


@pytest.mark.parametrize("change", FORMS.values(), ids=FORMS)
def test_the_form_of_a_file_is_kept(change: Callable[[str], str], folder: Path) -> None:
    ##= man/spec/validate.md#fixes
    ##% A fix MUST make its annotation valid, and MUST NOT change anything else in the file.
    (folder / "src/broken.rs").write_bytes(change(BROKEN).encode())
    assert fix(folder) == ()
    assert (folder / "src/broken.rs").read_bytes() == change(FIXED).encode()


def test_permissions_and_links_are_kept(folder: Path, tmp_path: Path) -> None:
    ##= man/spec/validate.md#fixes
    ##% `duvet validate --fix` MUST write all fixed files completely or none of them, and keep their permissions and
    ##% symbolic links.
    path, real = folder / "src/broken.rs", tmp_path / "real.rs"
    path.rename(real)
    real.chmod(0o755)
    path.symlink_to(real)
    (folder / "src/again.rs").symlink_to(real)
    assert fix(folder) == ()
    assert path.is_symlink() and real.read_text() == FIXED
    assert real.stat().st_mode & 0o777 == 0o755
    assert sorted(one.name for one in tmp_path.iterdir()) == ["real.rs", "tea"]


def test_nothing_is_written_if_a_file_is_read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/validate.md#fixes
    ##% If a file to fix is read-only or has changed since duvet read it, `duvet validate --fix` MUST report the file
    ##% and write nothing.
    (folder / "src/other.rs").write_text(BROKEN)
    before = files(folder)
    # Root may write to every file, so its permissions would not do.
    monkeypatch.setattr(os, "access", lambda path, mode: not path.endswith("other.rs"))
    expected = Problem("DUV015", "this file is read-only, so it was not fixed", "src/other.rs", Place())
    assert (fix(folder), files(folder)) == ((expected,), before)


def test_nothing_is_written_if_a_file_has_changed(folder: Path) -> None:
    ##= man/spec/validate.md#fixes
    ##% If a file to fix is read-only or has changed since duvet read it, `duvet validate --fix` MUST report the file
    ##% and write nothing.
    other = folder / "src/other.rs"
    other.write_text(BROKEN)
    project, found = fix_all(folder)
    other.write_text("fn other() {}\n")
    before = files(folder)
    message = "this file changed while it was checked, so it was not fixed"
    expected = Problem("DUV015", message, "src/other.rs", Place(), hint="run the same command again")
    assert write_fixes(project, found) == (expected,)
    other.unlink()
    assert write_fixes(project, found) == (expected,)
    del before["src/other.rs"]
    assert files(folder) == before


AND, SERVING = "and MUST NOT be washed with soap.", "'tea.md#serving'"


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        ('quote = "The pot MUST be washed with water"', "washed", "rinsed"),
        ("quote = 'The pot MUST be washed with water' # so", "washed", "rinsed"),
        (f"quote = '''\nThe pot MUST be\n  washed with water,\n{AND}\n'''", "washed", "rinsed"),
        (f'quote = """The pot MUST be washed\r\n with water,\r\n {AND}"""', "washed", "rinsed"),
        ("quote = '''\n\nThe pot MUST be\nwith water,\n\nand MUST NOT be washed\n'''", " be\n", " be rinsed\n"),
        (f"target = {SERVING}\nquote = 'The pot MUST be rinsed with water'", SERVING, '"tea.md#cleaning"'),
    ],
)
def test_requirement_files_are_fixed(before: str, old: str, new: str, folder: Path) -> None:
    for kind, more in (("exception", "reason = 'so'\n"), ("todo", ""), ("spec", "level = 'MUST'\n")):
        text = f"target = 'tea.md#cleaning'\n\n[[{kind}]]\n{more}{{}}\n\n[[{kind}]]\nquote = 'MUST be rinsed'\n{more}"
        (folder / TOML).write_bytes(text.format(before).encode())
        (folder / "src/broken.rs").unlink(missing_ok=True)
        assert fix(folder) == ()
        assert (folder / TOML).read_bytes().decode() == text.format(before.replace(old, new, 1))


def test_entries_that_are_left_alone(folder: Path) -> None:
    for text in (
        # What is escaped is not looked through, and a target that others share stays.
        'target = "tea.md#brewing"\n[[todo]]\nquote = "Say \\"The pot MUST be rinsed with vinegar\\" to all"\n',
        "target = 'tea.md#serving'\n[[todo]]\nquote = 'The pot MUST be rinsed'\n[[todo]]\nquote = 'Everybody'\n",
    ):
        (folder / TOML).write_text(text)
        assert (fix(folder), (folder / TOML).read_text()) == ((), text)
