import os
from pathlib import Path

import pytest

from duvet.knowledge.git_dates import CommitTimes, LastCommit, find_birth_time, find_commit_times, find_first_commits
from duvet.knowledge.pages.catalogue import PageStore
from duvet.tree.files import DiskTree
from duvet.tree.git import GitRevisions
from tests.cli.sample_project import make
from tests.histories import ENVIRON, commit, git, history
from tests.unit.knowledge.ingest.ingest_projects import project
from tests.unit.knowledge.pages.page_projects import TRACE, load, notes_of, project_in
from tests.unit.knowledge.stored_project import DAY

FIRST = 1767268800.0
"""The time of the commits of `tests.histories`: 2026-01-01T12:00:00Z."""


def test_the_last_commit_counts(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST date a file by the last commit that changed it, or by its modification time if its content
    ##% is not committed.
    folder = history(tmp_path, {"a.md": "1", "b é.md": "1", "c.md": "1", "d/e.md": "1"})
    first = git(folder, "rev-parse", "HEAD")
    (folder / "b é.md").write_text("2")
    second = commit(folder)
    (folder / "c.md").write_text("2")
    (folder / "new.md").write_text("1")
    found = find_commit_times(project(folder), CommitTimes())
    assert found.head == second
    commits = {"a.md": first, "b é.md": second, "d/e.md": first}
    expected = {
        name: LastCommit(commits[name], FIRST) if name in commits else None for name in (*commits, "c.md", "new.md")
    }
    assert {name: found.find_last_commit(name) for name in expected} == expected
    assert find_commit_times(project(folder / "d"), CommitTimes()).changes.keys() == {"e.md"}


def test_only_later_commits_are_read(tmp_path: Path) -> None:
    folder = history(tmp_path, {"a.md": "1", "b.md": "1"})
    first = find_commit_times(project(folder), CommitTimes())
    (folder / "b.md").write_text("2")
    commit(folder)
    # A made-up commit would be replaced if it were read again.
    made_up = LastCommit("f" * 40, FIRST)
    later = find_commit_times(project(folder), CommitTimes(first.head, {**first.changes, "a.md": made_up}))
    assert later.changes == {"a.md": made_up, "b.md": LastCommit(later.head, FIRST)}
    assert find_commit_times(project(folder), later).changes == later.changes
    git(folder, "commit", "--quiet", "--amend", "--message=other")
    assert find_commit_times(project(folder), later).changes["a.md"].commit == first.head


def test_filters_of_the_repository_are_not_run(tmp_path: Path) -> None:
    ##= man/spec/diff.md#reading-a-revision
    ##% `duvet diff` MUST NOT let git write, fetch, prompt, or run a program from git's configuration.
    folder = history(tmp_path / "repo", {"a.md": "1", ".gitattributes": "*.md filter=odd diff=odd\n"})
    mark = tmp_path / "ran"
    for key in ("filter.odd.clean", "filter.odd.process", "diff.odd.command", "diff.odd.textconv", "core.fsmonitor"):
        git(folder, "config", key, f"touch {mark};")
    git(folder, "config", "filter.odd.required", "true")
    (folder / "a.md").write_text("2")
    os.utime(folder / "a.md", (1, 1))
    found = find_commit_times(project(folder), CommitTimes())
    assert (found.fault, found.find_last_commit("a.md"), mark.exists()) == ("", None, False)


def dates(pages: PageStore) -> dict[str, float]:
    return {page.slug: page.created for page in pages.pages}


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    folder = history(tmp_path / "tea", {**TRACE, "docs/a.md": "x\n"})
    os.utime(folder / "docs/a.md", (1000.0, 1000.0))
    return folder


def test_dates_in_front_matter() -> None:
    for moment, dates in [
        (DAY, ("created: 1970-01-02", "date: 1970-01-02", "created: '1970-01-02'", "created: 19700102")),
        (DAY, ("date: 1970-01-03\ncreated: 1970-01-02", "created: soon\ndate: 1970-01-02", "Date Created: 1970-01-02")),
        (DAY, ("created_at: 1970/01/02", "CREATED: 1970-01-02", "date-created: 1970-01-02 00:00")),
        (3600.0, ("created: 1970-01-01T01:00:00Z", "created: 1970-01-01 01:00", "date: 1970-01-01T02:00:00+01:00")),
        # As Obsidian and its plugins write them.
        (DAY + 5400, ("created: '[[1970-01-02T01:30]]'", "created: Friday, January 2nd 1970, 1:30:00 am")),
    ]:
        for date in dates:
            (page,) = notes_of({"docs/a.md": f"---\n{date}\n---\n"}).pages
            assert page.created == moment


def test_the_date_of_a_page_is_from_front_matter_or_git_or_the_file(tmp_path: Path) -> None:
    ##= man/spec/pages.md#files
    ##% The date of a page MUST be the date in its front matter, or else the date of its first commit, or else the
    ##% creation time of the file.
    files = {**TRACE, "docs/front.md": "---\ncreated: 1970-01-02\n---\n", "docs/\u00e9.md": "x"}
    for folder in (history(tmp_path / "tea", files), make(tmp_path / "plain", files)):
        (folder / "docs/new.md").write_text("y")
        born = {name: find_birth_time(str(folder / f"docs/{name}.md")) for name in ("\u00e9", "new")}
        for name in ("front", "\u00e9", "new"):
            # An edit changes no date.
            os.utime(folder / f"docs/{name}.md", (1000.0, 1000.0))
        expected = {"front": DAY, **born, **({"\u00e9": FIRST} if folder.name == "tea" else {})}
        assert dates(load(folder)) == expected
        assert 0 not in born.values()
    make(folder, {".git/HEAD": f"{'0' * 40}\n"})
    assert dates(load(folder)) == expected


def test_git_is_read_again_only_after_a_commit(tea: Path) -> None:
    first = load(tea)
    os.utime(tea / "docs/a.md", (2000.0, 2000.0))
    again = load(tea, first)
    assert again.dates is first.dates and dates(again) == {"a": FIRST}
    make(tea, {"docs/b.md": "y"})
    commit(tea)
    third = load(tea, again)
    assert third.dates.head != first.dates.head and dates(third) == {"a": FIRST, "b": FIRST}


def test_names_that_git_quotes_and_folders_inside_and_outside_of_the_repository(tmp_path: Path) -> None:
    names = ('q"uote', "tab\tbed", "line\nend", "\x01", "R100", "A")
    files = {**TRACE, **{f"docs/{name}.md": name for name in names}}
    make(tmp_path, {"out/x.md": "x"})
    folder = history(tmp_path / "tea", {f"deep/{path}": text for path, text in files.items()}) / "deep"
    found = {path: FIRST for path in files if path.startswith("docs/")}
    assert find_first_commits(project_in(folder), {"docs/", "../../out/", ":(top)x/"}, None).first == found
    assert find_first_commits(project_in(folder), {"../../out/"}, None).first == {}


def test_a_renamed_page_keeps_its_date(tea: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for before, after, day in (("a", "b", 2), ("b", "c", 3)):
        monkeypatch.setitem(ENVIRON, "GIT_AUTHOR_DATE", f"2026-01-0{day}T12:00:00Z")
        git(tea, "mv", f"docs/{before}.md", f"docs/{after}.md")
        commit(tea)
    make(tea, {"docs/a.md": "another\n"})
    commit(tea)
    assert dates(load(tea)) == {"c": FIRST, "a": FIRST + 2 * DAY}


SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"


def test_the_configuration_of_the_repository_does_not_matter(tea: Path, tmp_path: Path) -> None:
    signed = git(tea, "cat-file", "commit", "HEAD").replace("\n\n", f"\n{SIGNATURE}\n\n", 1)
    (tmp_path / "signed").write_text(f"{signed}\n")
    git(tea, "update-ref", "HEAD", git(tea, "hash-object", "-t", "commit", "-w", str(tmp_path / "signed")))
    program, trace = tmp_path / "program", tmp_path / "was-run"
    program.write_text(f"#!/bin/sh\ntouch '{trace}'\n")
    program.chmod(0o755)
    for name in ("gpg.program", "core.fsmonitor", "core.pager", "diff.external"):
        git(tea, "config", name, str(program))
    for name, value in {
        **dict.fromkeys(("log.follow", "log.showSignature", "core.quotePath"), "true"),
        "log.showRoot": "false",
        "color.ui": "always",
        "diff.renames": "copies",
        "format.pretty": "raw",
    }.items():
        git(tea, "config", name, value)
    git(tea, "log", "-1")
    assert trace.exists()
    trace.unlink()
    assert dates(load(tea)) == {"a": FIRST}
    revisions = GitRevisions(str(tea), ENVIRON)
    head = revisions.find("HEAD")
    assert head is not None
    with revisions.tree(head, DiskTree(str(tea))) as tree:
        assert tree.read("docs/a.md") == b"x\n"
    assert not trace.exists()
