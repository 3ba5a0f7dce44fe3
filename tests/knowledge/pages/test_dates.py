"""When pages were written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.knowledge.pages.files import find_pages
from duvet.knowledge.pages.shelf import Shelf, shelf_of
from tests.commands.made import make
from tests.histories import commit, history
from tests.knowledge.pages.made import TRACE, notes_of, project_in

DAY = 86_400.0


def shelf_in(folder: Path, *, kept: bool = False) -> Shelf:
    project = project_in(folder, kept=kept)
    return shelf_of(project, find_pages(project))


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


def dates(shelf: Shelf) -> dict[str, float]:
    return {page.slug: page.created for page in shelf.pages}


FIRST = 1_767_268_800.0
"""When the commits of `tests.histories` are made."""


def test_front_matter_then_git_then_the_file(tmp_path: Path) -> None:
    ##= man/spec/pages.md#dates
    ##= type=test
    ##% A page MUST be as old as its front matter says, or else as its first commit, or else as its file.
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
    ##= man/spec/pages.md#dates
    ##= type=test
    ##% What git says MUST be asked for by one call for all pages, and whatever keeps git from answering MUST NOT keep pages
    ##% from being read.
    folder = make(tmp_path / "tea", {**TRACE, "docs/a.md": "x"})
    aged(folder / "docs/a.md", 1000.0)
    assert dates(shelf_in(folder)) == {"a": 1000.0}
    make(folder, {".git/HEAD": f"{'0' * 40}\n"})
    assert dates(shelf_in(folder)) == {"a": 1000.0}


def test_git_is_asked_again_after_a_commit_alone(tmp_path: Path) -> None:
    folder = history(tmp_path / "tea", {**TRACE, "docs/a.md": "x"})
    project = project_in(folder)
    first = shelf_of(project, find_pages(project))
    aged(folder / "docs/a.md", 1000.0)
    project = project_in(folder)
    again = shelf_of(project, find_pages(project), first)
    assert again.dates is first.dates and dates(again) == {"a": FIRST}
    make(folder, {"docs/b.md": "y"})
    commit(folder)
    project = project_in(folder)
    third = shelf_of(project, find_pages(project), again)
    assert third.dates.head != first.dates.head and dates(third) == {"a": FIRST, "b": FIRST}
