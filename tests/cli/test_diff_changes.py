"""`duvet diff`: which changes are told, and how."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.diffing import diff, folder
from tests.cli.made import KETTLE, SOURCE, make
from tests.cli.running import Done, Run, environment, files
from tests.conftest import ROOT
from tests.histories import ENVIRON, commit, git

__all__ = ["diff", "folder"]  # fixtures, which tests ask for by name

NOW = {
    "spec.md": """\
# Kettle

## Heating

The kettle MUST boil milk. It SHOULD whistle when done. It MUST NOT `rm -rf` | <b>boast</b> to @everyone.

The spout MAY drip.

## Pouring

Tea SHALL be poured by hand.
""",
    "src/a.rs": "",
    "src/other/b.rs": "// more\n\n" + SOURCE + "\n//= spec.md#heating\n//# It SHOULD whistle when done.\n",
}
THEN = {
    "spec.md": KETTLE["spec.md"] + "\nA lid MUST stay on.\n",
    "src/c.rs": "//= spec.md#pouring\n//= type=todo\n//# A lid MUST stay on.\n",
}
SAME = "then: 1 of 3 applicable requirements done (33 %), 0 excepted\n"


def test_nothing_has_changed(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#the-base
    ##% `duvet diff` MUST name the commit that it compares with: the one where `HEAD` left BASE, or BASE itself with
    ##% `--exact` or without such a commit.
    head = git(folder, "rev-parse", "--short=12", "HEAD")
    before = files(folder)
    assert diff() == Done(
        0, f"Compared with {head} (HEAD)\n\nNothing has changed.\n\n{SAME}{SAME.replace('then:', 'now: ')}", ""
    )
    assert files(folder) == before


@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_every_kind_of_change(format: str, folder: Path, diff: Run, snapshot: Snapshot) -> None:
    make(folder, THEN)
    commit(folder)
    make(folder, NOW)
    (folder / "src" / "c.rs").unlink()
    done = diff("--format", format)
    assert (done.code, done.err) == (
        0,
        "2 errors in the project, so not everything counts; `duvet validate` lists what is wrong\n",
    )
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "diff"
    snapshot.assert_match(done.out, f"every_change.{format}")
    assert diff("--format", format) == done == diff("--format", format, "--no-cache")


def test_a_moved_file(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#differences
    ##% `duvet diff` MUST NOT list a renamed file or a citation on another line as a change.
    (folder / "src" / "a.rs").unlink()
    make(folder, {"src/elsewhere/b.rs": "// a comment\n\n" + SOURCE})
    done = diff("--fail-on", "regression", "--fail-on", "new")
    assert (done.code, done.err, "Nothing has changed." in done.out) == (0, "PASS\n", True)


def test_a_reworded_sentence_of_a_section_with_another_name(folder: Path, diff: Run) -> None:
    make(folder, {"spec.md": KETTLE["spec.md"].replace("## Heating", "## Heat").replace("whistle", "whistle aloud")})
    assert (
        "Requirements changed (1)\n  spec.md#heat  SHOULD; not started\n      - spec.md#heating\n"
        "      + spec.md#heat\n      - It SHOULD whistle when done.\n      + It SHOULD whistle aloud when done.\n"
    ) in diff().out


def test_examples(folder: Path, diff: Run, duvet_command: str) -> None:
    commit(folder)
    git(folder, "tag", "v1.0")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    examples = re.findall(r"^ *(duvet .*)", diff("--help").out.partition("Examples:")[2], re.MULTILINE)
    assert len(examples) == 4
    for example in examples:
        script = re.sub(r"^duvet", f"'{duvet_command}'", example)
        environ = environment(**ENVIRON)
        done = subprocess.run(["sh", "-c", script], cwd=folder, env=environ, capture_output=True, check=True)
        assert done.returncode == 0
    assert (folder / "comment.md").read_text().startswith("### duvet: no coverage lost\n")
