"""How git is run: it ends with the run, and neither names nor the environment lead it astray."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from duvet.errors import DuvetError
from duvet.tree.files import DiskTree
from duvet.tree.git import GitRevisions
from tests.histories import ENVIRON, git, history
from tests.unit.tree.answering import tree_of


def test_nothing_is_left_running(checkout: Path) -> None:
    program = (
        "import os; from duvet.tree.files import DiskTree; from duvet.tree.git import GitRevisions\n"
        "revisions = GitRevisions(os.getcwd(), os.environ)\n"
        "tree = revisions.tree(revisions.find('HEAD'), DiskTree()); tree.read('a.rs')\n"
        "print(tree.paths.objects._process.pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program], cwd=checkout, env={**ENVIRON}, stdout=subprocess.PIPE, text=True, check=False
    )
    assert killed.returncode == -9
    _ended(int(killed.stdout))
    with tree_of(checkout) as tree:
        tree.read("a.rs")
        process = tree.paths.objects._process
        assert process is not None and process.poll() is None
    assert process.poll() is not None


def test_a_git_that_dies_is_started_again(checkout: Path) -> None:
    with tree_of(checkout) as tree:
        assert tree.read("a.rs") == b"a"
        process = tree.paths.objects._process
        assert process is not None
        process.kill()
        process.wait()
        with pytest.raises(DuvetError, match="this clone lacks the object"):
            tree.read("crlf.rs")
        assert tree.paths.lacks == ["sub/crlf.rs"]
        assert tree.read("crlf.rs") == b"one\r\ntwo\r\n"


def _ended(pid: int) -> None:
    """Wait until a process is gone that is nobody's child here."""
    while os.path.exists(f"/proc/{pid}/stat") and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        os.sched_yield()


def test_hostile_names_of_revisions(checkout: Path) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST NOT let git write, fetch, prompt, run a configured program, or read a revision as an option.
    revisions = GitRevisions(str(checkout), ENVIRON)
    head = git(checkout, "rev-parse", "HEAD")
    assert [revisions.find(name) for name in ("main", "HEAD^{/change}", ":/change", "@", head[:10])] == [head] * 5
    for name in (
        "--all",
        "--branches",
        "--glob=refs/heads/main",
        "--git-dir",
        "-q",
        "^main",
        "main..main",
        "HEAD:sub/a.rs",
        "HEAD^{tree}",
        "",
        "a\nb",
        " ",
    ):
        assert revisions.find(name) is None, name
    with pytest.raises(DuvetError, match="can't hold a NUL"):
        revisions.find("a\0b")
    git(checkout, "update-ref", "refs/heads/--all", "HEAD")
    assert revisions.find("--all") == head


def test_nothing_is_traced(checkout: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    environ = {**ENVIRON, "GIT_TRACE": str(log), "GIT_TRACE2_EVENT": str(log), "GIT_TRACE_SETUP": str(log)}
    assert GitRevisions(str(checkout), environ).find("HEAD")
    assert not log.exists()


def test_what_the_environment_says_of_git(checkout: Path, tmp_path: Path) -> None:
    other = history(tmp_path / "other", {"sub/x.rs": "x"})
    environ = {**ENVIRON, "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(checkout.parent), "GIT_TRACE": "1"}
    revisions = GitRevisions(str(checkout), environ)
    commit = revisions.find("HEAD")
    assert commit is not None
    with revisions.tree(commit, DiskTree(str(checkout))) as tree:
        assert tree.read("x.rs") == b"x" and not tree.exists("a.rs")
