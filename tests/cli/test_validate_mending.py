"""`duvet validate --fix` and `--diff`: what mends citations."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.made import make
from tests.cli.running import NOBODY, Done, Run, files, run
from tests.cli.validating import GOLD, RIGHT_COUNT, duvet, folder
from tests.unit.project.made import BROKEN, FIXED

__all__ = ["duvet", "folder"]  # fixtures, which tests ask for by name


def test_what_would_be_done(folder: Path, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/validate.md#fixes
    ##% With `--diff`, `duvet validate` MUST print the fixes as a unified diff and write nothing.
    before = files(folder)
    done = duvet("validate", "--diff", "src/broken.rs")
    assert files(folder) == before
    assert (done.code, duvet("validate", "--diff", "--fix", "src/broken.rs")) == (1, done)
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(done.out, "diff.txt")
    assert done.err == duvet("validate", "src/broken.rs").err


def test_the_difference_is_one_for_patch(folder: Path, duvet: Run) -> None:
    if shutil.which("patch") is None:
        pytest.skip("no patch")
    (folder / "src/broken.rs").write_bytes(b"//= tea.md#srving\r\n//# Everybody SHOULD wait")
    done = duvet("validate", "--diff")
    assert done.out.endswith(" //# Everybody SHOULD wait\n\\ No newline at end of file\n")
    subprocess.run(
        ["patch", "--binary", "-p1"], cwd=folder, input=done.out.encode(), check=True, stdout=subprocess.DEVNULL
    )
    assert (folder / "src/broken.rs").read_bytes() == b"//= tea.md#serving\r\n//# Everybody SHOULD wait"


def test_mending(folder: Path, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/validate.md#fixes
    ##% With `--fix`, `duvet validate` MUST correct a wrong target or quote, in comments and in requirement files, when
    ##% exactly one correction fits.
    ##= man/spec/validate.md#fixes
    ##% `duvet validate --fix` MUST report the problems that remain.
    before = files(folder)
    done = duvet("validate", "--fix", "src")
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(done.err, "fix.txt")
    assert (done.code, done.out) == (1, "")
    assert files(folder) == {**before, "src/broken.rs": FIXED.encode()}
    again = duvet("validate", "--fix", "src")
    assert again.err == done.err.removeprefix("mended 8 citations in 1 file\n") == duvet("validate", "src").err
    assert files(folder)["src/broken.rs"] == FIXED.encode()


def test_only_what_is_named_is_mended(folder: Path, duvet: Run) -> None:
    before = files(folder)
    assert duvet("validate", "--fix", "src/right.py") == Done(0, "", RIGHT_COUNT)
    assert files(folder) == before
    make(folder, {"src/deep/other.rs": "//= tea.md#srving\n//# Everybody SHOULD wait\n"})
    assert duvet("validate", "--fix", "src/deep") == Done(
        0, "", "mended 1 citation in 1 file\nchecked 1 annotation in 1 file: no problems\n"
    )
    assert files(folder)["src/broken.rs"] == BROKEN.encode()


@pytest.mark.parametrize("fault", ["read-only file", "read-only folder"])
def test_a_file_that_must_not_be_written(fault: str, public: Path, duvet_command: str) -> None:
    ##= man/spec/validate.md#fixes
    ##% `duvet validate --fix` MUST write a file completely or not at all, keep its permissions and links, and leave
    ##% alone a file that is read-only or has changed since it was read.
    wrong = "//= spec.md#heating\n//# The kettle MUST boil the water.\n"
    path = make(public, {"src/a.rs": wrong}) / "src/a.rs"
    os.chown(path, *((65534, 65534) if NOBODY else (-1, -1)))
    denied = path if fault == "read-only file" else path.parent
    denied.chmod(0o555)
    done = run(duvet_command, public, "validate", "--fix", before=NOBODY)
    denied.chmod(0o755)
    assert (done.code, "[DUV015]" in done.err, "[DUV050]" in done.err, done.err.startswith("mended")) == (
        1,
        True,
        True,
        False,
    )
    assert (path.read_text(), [one.name for one in path.parent.iterdir()]) == (wrong, ["a.rs"])
    assert run(duvet_command, public, "validate", "--fix", before=NOBODY).err.startswith(
        "mended 1 citation in 1 file\n"
    )
