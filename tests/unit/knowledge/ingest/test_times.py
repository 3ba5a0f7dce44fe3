"""When files were changed last."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.knowledge.git_dates import CommitTimes, LastCommit, find_commit_times
from tests.histories import commit, git, history
from tests.unit.knowledge.ingest.made import project

THEN = 1767268800.0  # 2026-01-01T12:00:00Z


def test_the_last_commit_counts(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% The date of a file MUST be that of the last commit that changed it, or that of the file itself if git does not
    ##% know this content.
    folder = history(tmp_path, {"a.md": "1", "b é.md": "1", "c.md": "1", "d/e.md": "1"})
    first = git(folder, "rev-parse", "HEAD")
    (folder / "b é.md").write_text("2")
    second = commit(folder)
    (folder / "c.md").write_text("2")
    (folder / "new.md").write_text("1")
    found = find_commit_times(project(folder), CommitTimes())
    assert found.head == second
    assert {name: found.of(name) for name in ("a.md", "b é.md", "c.md", "d/e.md", "new.md")} == {
        "a.md": LastCommit(first, THEN),
        "b é.md": LastCommit(second, THEN),
        "c.md": None,
        "d/e.md": LastCommit(first, THEN),
        "new.md": None,
    }


def test_later_commits_are_added_to_what_is_known(tmp_path: Path) -> None:
    folder = history(tmp_path, {"a.md": "1", "b.md": "1"})
    first = find_commit_times(project(folder), CommitTimes())
    (folder / "b.md").write_text("2")
    commit(folder)
    # What is known is not asked again: it would be found out otherwise.
    known = CommitTimes(first.head, {**first.changes, "a.md": LastCommit("f" * 40, THEN)})
    later = find_commit_times(project(folder), known)
    assert later.changes == {"a.md": LastCommit("f" * 40, THEN), "b.md": LastCommit(later.head, THEN)}
    assert find_commit_times(project(folder), later).changes == later.changes
    git(folder, "commit", "--quiet", "--amend", "--message=other")
    assert find_commit_times(project(folder), later).changes["a.md"].commit == first.head


def test_below_the_top_of_a_repository(tmp_path: Path) -> None:
    folder = history(tmp_path, {"a.md": "1", "sub/b.md": "1"})
    assert find_commit_times(project(folder / "sub"), CommitTimes()).changes.keys() == {"b.md"}


def test_without_an_answer_there_are_no_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% `duvet ingest` MUST continue with a warning when git fails or the trace cannot be read.
    assert find_commit_times(project(tmp_path), CommitTimes()) == CommitTimes()
    git(tmp_path, "init", "--quiet")
    assert find_commit_times(project(tmp_path), CommitTimes()) == CommitTimes()
    (tmp_path / ".git/HEAD").write_text("garbage")
    assert find_commit_times(project(tmp_path), CommitTimes()) == CommitTimes(
        fault=f"{tmp_path}: not a git repository (or any of the parent directories): .git"
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_commit_times(project(tmp_path), CommitTimes()) == CommitTimes(fault="git was not found")


def test_nothing_is_run_that_the_repository_names(tmp_path: Path) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##= type=test
    ##% `duvet diff` MUST NOT let git write, fetch, prompt, run a configured program, or read a revision as an option.
    folder = history(tmp_path / "repo", {"a.md": "1", ".gitattributes": "*.md filter=odd diff=odd\n"})
    mark = tmp_path / "ran"
    for key in ("filter.odd.clean", "filter.odd.process", "diff.odd.command", "diff.odd.textconv", "core.fsmonitor"):
        git(folder, "config", key, f"touch {mark};")
    git(folder, "config", "filter.odd.required", "true")
    (folder / "a.md").write_text("2")
    os.utime(folder / "a.md", (1, 1))
    assert find_commit_times(project(folder), CommitTimes()).of("a.md") is None
    assert not mark.exists()
