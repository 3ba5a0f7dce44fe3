"""What wants to be looked after shows up where it should, and is gone when it is mended."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from tests.conftest import ROOT
from tests.histories import ENVIRON, git
from tests.unit.knowledge.generated import written_tree
from tests.unit.knowledge.ingest.made import written

DATES = ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")
NOW: dict[str, str] = {}
OLD = dict.fromkeys(DATES, "2020-01-01T00:00:00Z")
WITHOUT_VECTORS = "ingest: {semantic: false}\n"

LARGE = [int(os.environ["DUVET_FILES"])] if "DUVET_FILES" in os.environ else []
"""Another size of the project, such as 20000, which takes minutes."""


class Tree:
    """A repository, and what is known of it."""

    def __init__(self, command: str, folder: Path) -> None:
        self.command = command
        self.folder = folder

    def commit(self, when: dict[str, str]) -> None:
        git(self.folder, "add", "--all")
        command = ["git", "commit", "--quiet", "--allow-empty", "--message=change"]
        environ = {name: value for name, value in ENVIRON.items() if name not in DATES}
        subprocess.run(command, cwd=self.folder, env={**environ, **when}, check=True)

    def lifecycle(self) -> dict[str, Any]:
        """The report after another run, with paths in the place of nodes."""
        done = run(self.command, self.folder, "-q", "ingest")
        assert (done.code, done.err) == (0, "")
        asked = ("call", "--pack", "knowledge", "km-lifecycle-report", "--limit", "1000")
        told = json.loads(run(self.command, self.folder, *asked).out)
        assert told["status"] == "ok"
        isolated = {label: [one["path"] for one in nodes] for label, nodes in told["isolated"].items() if nodes}
        return {
            "isolated": isolated,
            "stale": [one["path"] for one in told["stale_docs"]],
            "untested": [one["subsystem"] for one in told["missing_tests"]],
            "removed": {one["path"]: one["status"] for one in told["removed_artifacts"]},
        }


@pytest.fixture(params=[160, *LARGE])
def made(tmp_path: Path, duvet_command: str, request: pytest.FixtureRequest) -> Tree:
    folder = written_tree(tmp_path / "tree", request.param)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return Tree(duvet_command, written(folder, {"duvet.config.yaml": WITHOUT_VECTORS}))


def test_a_made_tree(made: Tree) -> None:
    old = "docs/pricing/old.md"
    made.commit(NOW)
    written(made.folder, {old: "# Old\n"})
    made.commit(OLD)
    whole = made.lifecycle()
    # The numbers of their files are never those of tests.
    untested = whole["untested"]
    assert whole["stale"] == [old] and whole["isolated"] == {} and whole["removed"] == {}

    kept = min((made.folder / "docs/billing").iterdir()).relative_to(made.folder).as_posix()
    moved = min((made.folder / "src/gateway").iterdir()).relative_to(made.folder).as_posix()
    text = (made.folder / kept).read_text()
    (made.folder / kept).unlink()
    (made.folder / moved).rename(made.folder / "src/gateway/moved.txt")
    written(made.folder, {"src/lonely/a.py": "x = 1\n", "stray.sh": "echo\n", old: "# Written anew\n"})
    made.commit(NOW)
    assert made.lifecycle() == {
        "isolated": {"SourceFile": ["stray.sh"]},
        "stale": [],
        "untested": sorted([*untested, "lonely"]),
        "removed": {kept: "deleted", moved: "renamed"},
    }

    written(made.folder, {kept: text, "tests/lonely/test_a.py": "assert True\n"})
    (made.folder / "stray.sh").unlink()
    (made.folder / "src/gateway/moved.txt").rename(made.folder / moved)
    made.commit(NOW)
    mended = made.lifecycle()
    assert mended["removed"].pop("stray.sh") == "deleted"
    assert mended["removed"] == {"src/gateway/moved.txt": "renamed"}
    made.commit(NOW)
    assert made.lifecycle() == {"isolated": {}, "stale": [], "untested": untested, "removed": {}}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no clone")
def test_this_repository(tmp_path: Path, duvet_command: str) -> None:
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(tmp_path / "duvet")], check=True)
    tree = Tree(duvet_command, written(tmp_path / "duvet", {"duvet.config.yaml": WITHOUT_VECTORS}))
    before = tree.lifecycle()
    assert before["removed"] == {}
    added = {"duvet/lonely/a.py": "x = 1\n", "bin/stray.sh": "echo\n", "docs/old.md": "# Old\n"}
    written(tree.folder, added)
    tree.commit(OLD)
    (tree.folder / "duvet/errors.py").rename(tree.folder / "duvet/faults.py")
    (tree.folder / "LICENSE").unlink()
    after = tree.lifecycle()
    assert set(after["untested"]) - set(before["untested"]) == {"lonely"}
    assert set(after["stale"]) - set(before["stale"]) == {"docs/old.md"}
    assert set(after["isolated"]["SourceFile"]) - set(before["isolated"].get("SourceFile", ())) == {"bin/stray.sh"}
    assert after["removed"] == {"LICENSE": "deleted", "duvet/errors.py": "renamed"}
    git(tree.folder, "checkout", "--quiet", "--", ".")
    for path in ("duvet/faults.py", *added):
        (tree.folder / path).unlink()
    removed = tree.lifecycle()["removed"]
    assert removed == {**dict.fromkeys(added, "deleted"), "duvet/faults.py": "renamed"}
    assert tree.lifecycle() == before
