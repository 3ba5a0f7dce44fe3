"""`duvet diff`: what the project is compared with, and how that is read."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from tests.cli.diffing import diff, folder
from tests.cli.made import KETTLE, SOURCE, make
from tests.cli.running import Done, Run, run
from tests.histories import ENVIRON, commit, git, history

__all__ = ["diff", "folder"]  # fixtures, which tests ask for by name


def test_a_branch_is_compared_with_where_it_began(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#the-base
    ##% `duvet diff` MUST name the commit that it compares with: the one where `HEAD` left BASE, or BASE itself with
    ##% `--exact` or without such a commit.
    began = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "--quiet", "-b", "work")
    commit(folder)
    git(folder, "checkout", "--quiet", "main")
    make(folder, {"spec.md": KETTLE["spec.md"] + "\nIt MUST be red.\n"})
    main = commit(folder)
    git(folder, "checkout", "--quiet", "work")
    done = diff("main")
    assert (_base(diff("main", "--format", "json")), "Nothing has changed." in done.out) == (
        (began, "main", True),
        True,
    )
    assert done.out.startswith(f"Compared with {began[:12]}, where HEAD left main\n")
    done = diff("--exact", "main")
    assert _base(diff("main", "--exact", "--format", "json")) == (main, "main", False)
    assert done.out.startswith(f"Compared with {main[:12]} (main)\n\nRequirements removed (1)\n")
    git(folder, "checkout", "--quiet", "--orphan", "other")
    other = commit(folder)
    git(folder, "checkout", "--quiet", "work")
    assert _base(diff("other", "--format", "json")) == (other, "other", False)


def _base(done: Done) -> tuple[str, str, bool]:
    base = json.loads(done.out)["base"]
    return base["commit"], base["revision"], base["is_merge_base"]


def test_the_default_base(folder: Path, tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/diff.md#the-base
    ##% Without BASE, `duvet diff` MUST compare with the default branch of `origin` or else with `HEAD`, but a gate MUST
    ##% fail when `origin` exists and that branch is unknown.
    began = git(folder, "rev-parse", "HEAD")
    git(tmp_path, "clone", "--quiet", str(folder), "work")
    work = tmp_path / "work"
    head = commit(make(work, {"more.txt": "more"}))
    diff = partial(run, duvet_command, work, "diff", "--format", "json", environ=ENVIRON)
    assert _base(diff()) == (began, "origin/HEAD", False)
    git(work, "remote", "set-head", "origin", "--delete")
    assert _base(diff()) == (began, "origin/main", False)
    git(work, "update-ref", "refs/remotes/origin/master", "origin/main")
    git(work, "update-ref", "-d", "refs/remotes/origin/main")
    assert _base(diff()) == (began, "origin/master", False)
    git(work, "remote", "remove", "origin")
    assert _base(diff()) == (head, "HEAD", False)


def test_specifications_that_were_not_committed(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST take a specification that the revision lacks from disk, and say so, but MUST NOT do this for
    ##% sources.
    url = "https://example.org/tea.md"
    config = (
        KETTLE[".duvet/config.toml"]
        + f'[[specification]]\nsource = "{url}"\n[[specification]]\nsource = "../milk.md"\n'
    )
    tea = "# Tea\n\n## Leaves\n\nLeaves MUST be green.\n"
    cites = f"//= {url}#leaves\n//# Leaves MUST be green.\n"
    make(folder, {".gitignore": "/.duvet/specifications/\n/reports\n", ".duvet/config.toml": config, "src/b.rs": cites})
    make(folder, {"../milk.md": tea.replace("Leaves", "Milk")})
    head = commit(folder)
    make(folder, {".duvet/specifications/example.org/tea.txt": tea, "src/new.rs": SOURCE})
    done = diff("--offline", "--exact")
    assert done.err == "2 specifications are not in that revision: today's were used\n"
    assert (
        done.out
        == f"""\
Compared with {head[:12]} (HEAD)

Citations added (2)
  spec.md#heating  1 citation
      The kettle MUST boil water.
      src/new.rs:1
  spec.md#heating  1 test
      The kettle MUST boil water.
      src/new.rs:5

then: 1 of 5 applicable requirements done (20 %), 0 excepted
now:  1 of 5 applicable requirements done (20 %), 0 excepted
"""
    )
    assert diff("--offline", "--exact") == done
    make(folder, {".duvet/specifications/example.org/tea.txt": tea + "\nLeaves MUST be dry.\n"})
    assert diff("--offline", "--exact").out == done.out.replace(" of 5 ", " of 6 ").replace("20 %", "16 %")


def test_specifications_that_one_state_does_not_configure(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST take a specification that the revision lacks from disk, and say so, but MUST NOT do this for
    ##% sources.
    config = KETTLE[".duvet/config.toml"]
    make(folder, {".gitignore": "/*.md\n", ".duvet/config.toml": f'{config}[[specification]]\nsource = "tea.md"\n'})
    make(folder, {"tea.md": "# Tea\n\nTea MUST be hot.\n", "milk.md": "# Milk\n\nMilk MUST be cold.\n"})
    make(folder, {"src/milk.rs": "//= milk.md#milk\n//# Milk MUST be cold.\n"})
    commit(folder)
    make(folder, {".duvet/config.toml": config})
    done = diff()
    assert done.err == "2 specifications are not in that revision: today's were used\n"
    assert "\nRequirements removed (1)\n  tea.md#tea  MUST; not started\n      Tea MUST be hot.\n" in done.out
    assert "Citations" not in done.out


def test_a_project_in_a_folder_of_the_repository(tmp_path: Path, duvet_command: str) -> None:
    config = KETTLE[".duvet/config.toml"].replace('"spec.md"', '"../spec.md"').replace('"src/', '"code/')
    folder = history(
        tmp_path / "all",
        {
            "sub/.duvet/config.toml": config,
            "spec.md": KETTLE["spec.md"],
            "sub/code/a.rs": SOURCE.replace("spec.md", "../spec.md"),
        },
    )
    make(folder, {"sub/code/a.rs": ""})
    done = run(duvet_command, folder / "sub", "diff", "--fail-on", "regression", environ=ENVIRON)
    assert (done.code, done.err) == (1, "FAIL: 1 requirement lost coverage\n")
    assert "  ../spec.md#heating  MUST; done, now not started; implementation and tests lost\n" in done.out


def test_a_hook_of_a_project_in_a_folder(tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST read a revision from git's objects, without a checkout, and find the same trace there as on
    ##% disk, also in a git hook.
    folder = history(tmp_path / "all", {f"sub/{name}": text for name, text in KETTLE.items()})
    git(folder, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    for top in (folder, tmp_path / "tree"):
        (top / "sub" / "src" / "a.rs").unlink()
        for place in (git(top, "rev-parse", "--absolute-git-dir"), ".git"):
            environ = {**ENVIRON, "GIT_DIR": place}
            done = run(duvet_command, top, "-C", "sub", "diff", "HEAD", "--fail-on", "regression", environ=environ)
            assert (done.code, done.err) == (1, "FAIL: 1 requirement lost coverage\n")


def test_a_revision_without_a_configuration(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST treat a revision without the project or its configuration as empty, and fail when a clone
    ##% lacks a part of the revision.
    now = commit(folder)
    git(folder, "rm", "--quiet", "--cached", "-r", ".duvet")
    git(folder, "commit", "--quiet", "--message=without")
    without = git(folder, "rev-parse", "HEAD")
    commit(folder)
    done = diff("HEAD~1", "--fail-on", "regression")
    assert done.err == f"there was no configuration in {without[:12]} (HEAD~1), so everything is new\nPASS\n"
    assert "Requirements added (3)\n" in done.out and "then: no requirements\n" in done.out
    assert diff("HEAD~2").out.startswith(f"Compared with {now[:12]} (HEAD~2)\n\nNothing has changed.\n")


def test_what_was_wrong_then(folder: Path, diff: Run) -> None:
    make(folder, {"src/b.rs": "//= spec.md#heating\n//# nowhere\n"})
    commit(folder)
    (folder / "src" / "b.rs").unlink()
    done = diff("--fail-on", "regression")
    assert (done.code, done.err) == (0, "1 error in the project as it was, so not everything counted then\nPASS\n")
    assert "Nothing has changed." in done.out
