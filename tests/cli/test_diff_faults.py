"""`duvet diff` where there is nothing to compare with, or nothing to do it with."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from tests.cli.diffing import diff, folder
from tests.cli.made import KETTLE, make
from tests.cli.running import Done, Run, run
from tests.histories import ENVIRON, commit, git

__all__ = ["diff", "folder"]  # fixtures, which tests ask for by name


def failed(message: str, place: str = "", hint: str = "") -> Done:
    lines = [f"error: {message}", f" --> {place}" if place else "", f"  = help: {hint}" if hint else ""]
    return Done(1, "", "".join(f"{line}\n" for line in lines if line) + "\nencountered 1 errors\n")


def test_an_unknown_revision(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#output
    ##% `duvet diff` MUST say when git or a commit to compare with is missing, and suggest names for an unknown
    ##% revision.
    git(folder, "branch", "feature/steam")
    git(folder, "tag", "v1.0")
    assert diff("mian") == failed('there is no revision "mian"', hint="did you mean main?")
    assert diff("feature/stem") == failed('there is no revision "feature/stem"', hint="did you mean feature/steam?")
    assert diff("0123456789") == failed('there is no revision "0123456789"')
    assert diff("") == failed('there is no revision ""')
    assert diff("HEAD:spec.md") == failed('there is no revision "HEAD:spec.md"')
    assert diff("--", "--all") == failed('there is no revision "--all"')
    assert diff("a\x1b[31mb") == failed('there is no revision "a\\u{1b}[31mb"')


def test_a_shallow_clone(folder: Path, tmp_path: Path, duvet_command: str) -> None:
    commit(folder)
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{folder}", "w")
    hint = "this clone lacks earlier commits: `git fetch --unshallow` brings them"
    done = run(duvet_command, tmp_path / "w", "diff", "HEAD~1", environ=ENVIRON)
    assert done == failed('there is no revision "HEAD~1"', hint=hint)
    assert run(duvet_command, tmp_path / "w", "diff", environ=ENVIRON).code == 0


def test_a_partial_clone(folder: Path, tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST treat a revision without the project or its configuration as empty, and fail when a clone
    ##% lacks a part of the revision.
    make(folder, {"src/a.rs": KETTLE["src/a.rs"] + "\n"})
    commit(folder)
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", f"file://{folder}", "w")
    work = tmp_path / "w"
    hint = "get it with git, for example by `git checkout`; duvet fetches nothing"
    lacking = failed("this clone lacks it [DUV010]", "HEAD~1:src/a.rs", hint)
    diff = partial(run, duvet_command, work, "diff", "HEAD~1", environ=ENVIRON)
    assert diff() == lacking == diff()
    git(work, "show", "HEAD~1:src/a.rs")
    assert diff().code == 0


def test_a_gate_against_nothing(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#the-base
    ##% Without BASE, `duvet diff` MUST compare with the default branch of `origin` or else with `HEAD`, but a gate MUST
    ##% fail when `origin` exists and that branch is unknown.
    git(folder, "remote", "add", "origin", str(folder))
    hint = "name a BASE that the gate is to hold against; in CI, it may have to be fetched first"
    assert diff("--fail-on", "regression") == failed("the default branch of origin is not known here", hint=hint)
    assert (diff().code, diff("HEAD", "--fail-on", "regression").code) == (0, 0)


def test_no_commits(tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/diff.md#output
    ##% `duvet diff` MUST say when git or a commit to compare with is missing, and suggest names for an unknown
    ##% revision.
    folder = make(tmp_path / "kettle", KETTLE)
    git(folder, "init", "--quiet")
    for args in ((), ("main",)):
        done = run(duvet_command, folder, "diff", *args, environ=ENVIRON)
        assert done == failed("there is no commit to compare with", hint="commit something first")


def test_no_repository(tmp_path: Path, duvet_command: str) -> None:
    folder = make(tmp_path / "kettle", KETTLE)
    environ = {**ENVIRON, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    done = run(duvet_command, folder, "diff", environ=environ)
    assert done == failed("not a git repository (or any of the parent directories): .git", "<project>")


def test_no_git(folder: Path, duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/diff.md#output
    ##% `duvet diff` MUST say when git or a commit to compare with is missing, and suggest names for an unknown
    ##% revision.
    (tmp_path / "bin").mkdir()
    done = run(duvet_command, folder, "diff", environ={**ENVIRON, "PATH": str(tmp_path / "bin")})
    assert done == failed("git was not found", hint="install git: earlier revisions are read with it")


def test_no_such_folder_then(folder: Path, duvet_command: str) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST treat a revision without the project or its configuration as empty, and fail when a clone
    ##% lacks a part of the revision.
    new = make(folder / "new", KETTLE)
    done = run(duvet_command, new, "diff", "main", "--fail-on", "regression", environ=ENVIRON)
    assert done.code == 0
    assert done.err.endswith("so everything is new\nPASS\n")
    assert "Requirements added (3)\n" in done.out and "then: no requirements\n" in done.out


def test_a_broken_configuration_then(folder: Path, diff: Run) -> None:
    make(folder, {".duvet/config.toml": "[[source]]\npattrn = 1\n"})
    commit(folder)
    git(folder, "branch", "broken")
    make(folder, KETTLE)
    commit(folder)
    done = diff("broken")
    assert (done.code, done.out) == (1, "")
    assert [line for line in done.err.splitlines() if "-->" in line] == [
        " --> broken:.duvet/config.toml:1:1",
        " --> broken:.duvet/config.toml:2:1",
    ]


def test_a_broken_configuration_where_a_branch_began(folder: Path, diff: Run) -> None:
    make(folder, {".duvet/config.toml": "'$schema' = 1\n"})
    began = commit(folder)[:12]
    git(folder, "switch", "--quiet", "--create=more")
    make(folder, KETTLE)
    commit(folder)
    git(folder, "switch", "--quiet", "main")
    make(folder, {"other.md": "# Other\n"})
    commit(folder)
    git(folder, "switch", "--quiet", "more")
    done = diff("main")
    assert (done.code, done.out) == (1, "")
    assert f" --> {began}:.duvet/config.toml:1:13" in done.err.splitlines()


def test_no_configuration_now(folder: Path, diff: Run) -> None:
    os.remove(folder / ".duvet" / "config.toml")
    hint = "write one with `duvet init`"
    assert diff() == failed("no configuration in this folder [DUV010]", ".duvet/config.toml", hint)
