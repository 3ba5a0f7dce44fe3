"""When pages were written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.knowledge.git_dates import find_first_commits
from duvet.knowledge.pages.catalogue import PageStore, load_pages
from duvet.knowledge.pages.files import find_page_files
from duvet.tree.files import DiskTree
from duvet.tree.git import GitRevisions
from tests.cli.made import make
from tests.histories import ENVIRON, commit, git, history
from tests.unit.knowledge.pages.made import TRACE, notes_of, project_in

DAY = 86_400.0


def shelf_in(folder: Path, *, kept: bool = False) -> PageStore:
    project = project_in(folder, kept=kept)
    return load_pages(project, find_page_files(project))


DATES = {
    "created: 1970-01-02": DAY,
    "date: 1970-01-02": DAY,
    "created: 1970-01-02\ndate: 1970-01-03": DAY,
    "created: 1970-01-01T01:00:00Z": 3600.0,
    "created: 1970-01-01 01:00": 3600.0,
    "created: 1970-01-01T02:00:00+01:00": 3600.0,
    "created: '1970-01-02'": DAY,
    "created: 19700102": DAY,
}


@pytest.mark.parametrize(("front", "expected"), DATES.items())
def test_dates_in_front_matter(front: str, expected: float) -> None:
    (page,) = notes_of({"docs/a.md": f"---\n{front}\n---\n"}).pages
    assert page.created == expected


def aged(path: Path, seconds: float) -> None:
    os.utime(path, (seconds, seconds))


def dates(shelf: PageStore) -> dict[str, float]:
    return {page.slug: page.created for page in shelf.pages}


FIRST = 1_767_268_800.0
"""When the commits of `tests.histories` are made."""


def test_front_matter_then_git_then_the_file(tmp_path: Path) -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% The date of a page MUST be that of its front matter, or of its first commit despite renames and git's
    ##% configuration, or of its file.
    files = {**TRACE, "docs/front.md": "---\ncreated: 1970-01-02\n---\n", "docs/\u00e9.md": "x"}
    folder = history(tmp_path / "tea", files)
    (folder / "docs/new.md").write_text("y")
    for name in ("front", "\u00e9", "new"):
        aged(folder / f"docs/{name}.md", 1000.0)
    assert dates(shelf_in(folder)) == {"\u00e9": FIRST, "front": DAY, "new": 1000.0}


def test_a_project_below_the_top_of_its_repository(tmp_path: Path) -> None:
    folder = history(tmp_path / "tea", {f"deep/{path}": text for path, text in {**TRACE, "docs/a.md": "x"}.items()})
    aged(folder / "deep/docs/a.md", 1000.0)
    assert dates(shelf_in(folder / "deep")) == {"a": FIRST}


def test_git_that_does_not_answer(tmp_path: Path) -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% The date of a page MUST be that of its front matter, or of its first commit despite renames and git's
    ##% configuration, or of its file.
    folder = make(tmp_path / "tea", {**TRACE, "docs/a.md": "x"})
    aged(folder / "docs/a.md", 1000.0)
    assert dates(shelf_in(folder)) == {"a": 1000.0}
    make(folder, {".git/HEAD": f"{'0' * 40}\n"})
    assert dates(shelf_in(folder)) == {"a": 1000.0}


def test_git_is_asked_again_after_a_commit_alone(tmp_path: Path) -> None:
    folder = history(tmp_path / "tea", {**TRACE, "docs/a.md": "x"})
    project = project_in(folder)
    first = load_pages(project, find_page_files(project))
    aged(folder / "docs/a.md", 1000.0)
    project = project_in(folder)
    again = load_pages(project, find_page_files(project), first)
    assert again.dates is first.dates and dates(again) == {"a": FIRST}
    make(folder, {"docs/b.md": "y"})
    commit(folder)
    project = project_in(folder)
    third = load_pages(project, find_page_files(project), again)
    assert third.dates.head != first.dates.head and dates(third) == {"a": FIRST, "b": FIRST}


def test_names_that_git_would_quote(tmp_path: Path) -> None:
    names = ('q"uote', "tab\tbed", "line\nend", "\x01", "R100", "A")
    folder = history(tmp_path / "tea", {**TRACE, **{f"docs/{name}.md": name for name in names}})
    project = project_in(folder)
    assert find_first_commits(project, {"docs/"}, None).first == {
        **{f"docs/{name}.md": FIRST for name in names},
        "docs/spec.md": FIRST,
    }


def test_a_page_that_was_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% The date of a page MUST be that of its front matter, or of its first commit despite renames and git's
    ##% configuration, or of its file.
    folder = history(tmp_path / "tea", {**TRACE, "docs/a.md": "x\n"})
    for before, after, day in (("a", "b", 2), ("b", "c", 3)):
        monkeypatch.setitem(ENVIRON, "GIT_AUTHOR_DATE", f"2026-01-0{day}T12:00:00Z")
        git(folder, "mv", f"docs/{before}.md", f"docs/{after}.md")
        commit(folder)
    make(folder, {"docs/a.md": "another\n"})
    commit(folder)
    assert dates(shelf_in(folder)) == {"c": FIRST, "a": FIRST + 2 * DAY}


def test_what_the_configuration_of_a_repository_says(tmp_path: Path) -> None:
    folder = history(tmp_path / "tea", {**TRACE, "docs/a.md": "x"})
    for name, value in (
        *(("log.showRoot", "false"), ("log.follow", "true"), ("color.ui", "always"), ("diff.renames", "copies")),
        *(("log.showSignature", "true"), ("format.pretty", "raw"), ("core.quotePath", "true")),
    ):
        git(folder, "config", name, value)
    assert dates(shelf_in(folder)) == {"a": FIRST}


def test_a_program_that_a_repository_names(tmp_path: Path) -> None:
    folder = history(tmp_path / "tea", {**TRACE, "docs/a.md": "x"})
    signed = git(folder, "cat-file", "commit", "HEAD").replace("\n\n", f"\n{SIGNATURE}\n\n", 1)
    (tmp_path / "signed").write_text(f"{signed}\n")
    git(folder, "update-ref", "HEAD", git(folder, "hash-object", "-t", "commit", "-w", str(tmp_path / "signed")))
    program, trace = tmp_path / "program", tmp_path / "was-run"
    program.write_text(f"#!/bin/sh\ntouch '{trace}'\n")
    program.chmod(0o755)
    for name in ("gpg.program", "core.fsmonitor", "core.pager", "diff.external"):
        git(folder, "config", name, str(program))
    git(folder, "config", "log.showSignature", "true")
    git(folder, "log", "-1")
    assert trace.exists()
    trace.unlink()
    assert dates(shelf_in(folder)) == {"a": FIRST}
    revisions = GitRevisions(str(folder), ENVIRON)
    head = revisions.find("HEAD")
    assert head is not None
    with revisions.tree(head, DiskTree(str(folder))) as tree:
        assert tree.read("docs/a.md") == b"x"
    assert not trace.exists()


SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"


def test_folders_that_are_not_of_the_repository(tmp_path: Path) -> None:
    make(tmp_path, {"out/x.md": "x"})
    folder = history(tmp_path / "tea", {**TRACE, "docs/a.md": "x"})
    found = {"docs/a.md": FIRST, "docs/spec.md": FIRST}
    assert find_first_commits(project_in(folder), {"docs/", "../out/", ":(top)x/"}, None).first == found
    assert find_first_commits(project_in(folder), {"../out/"}, None).first == {}
