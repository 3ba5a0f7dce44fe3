"""Trees of git revisions in repositories of every kind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duvet.errors import DuvetError
from duvet.project.project import Options, Project
from duvet.specs.library import Policy
from tests.cli.made import KETTLE
from tests.histories import commit, git, history
from tests.unit.tree.answering import listed, tree_of


@pytest.mark.parametrize("how", ["sha256", "worktree", "shallow", "tag", "packed"])
def test_repositories_of_every_kind(how: str, tmp_path: Path) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST read a revision from git's objects, without a checkout, and find the same trace there as on
    ##% disk, also in a git hook.
    folder = history(tmp_path / "r", KETTLE, *(["--object-format=sha256"] if how == "sha256" else []))
    revision = "HEAD"
    if how == "worktree":
        git(folder, "worktree", "add", "--quiet", "--detach", str(tmp_path / "w"))
        folder = tmp_path / "w"
    elif how == "shallow":
        commit(folder)
        git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{folder}", "w")
        folder = tmp_path / "w"
    elif how == "tag":
        git(folder, "tag", "--annotate", "--message=x", "v1")
        revision = "v1"
    elif how == "packed":
        git(folder, "gc", "--quiet")
    with tree_of(folder, revision) as tree:
        then = Project(str(folder), tree=tree)
        assert then.catalogue == Project(str(folder)).catalogue
        assert len(then.catalogue.requirements) == 3 and then.catalogue.problems == ()


@pytest.mark.parametrize("name", ["h3-704b37a", "s2n-tls-132053b"])
def test_a_real_project(name: str, shared: Path, tmp_path: Path) -> None:
    shutil.copytree(shared / "golden" / name / "project", tmp_path / "r")
    folder = history(tmp_path / "r", {})
    with tree_of(folder) as tree:
        then = Project(str(folder), tree=tree).catalogue
        assert then == Project(str(folder), Options(policy=Policy(offline=True))).catalogue
        assert len(then.requirements) > 200 and tree.taken == {}


def test_a_bare_repository(tmp_path: Path) -> None:
    folder = history(tmp_path / "r", KETTLE)
    git(tmp_path, "clone", "--quiet", "--bare", str(folder), "bare.git")
    with tree_of(tmp_path / "bare.git") as tree:
        assert Project(str(folder), tree=tree).catalogue == Project(str(folder)).catalogue
        assert not tree.exists("../HEAD")


def test_objects_that_a_partial_clone_lacks_are_not_fetched(tmp_path: Path) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST NOT let git write, fetch, prompt, run a configured program, or read a revision as an option.
    folder = history(tmp_path / "r", KETTLE)
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{folder}", "w")
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with tree_of(tmp_path / "w") as tree:
        assert [name for name, _, _ in listed(tree, "")] == [".duvet", "spec.md", "src"]
        for _ in range(2):
            with pytest.raises(DuvetError, match="this clone lacks the object"):
                tree.read("spec.md")
        assert [name for name, _, _ in listed(tree, "src")] == ["a.rs"]
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before
