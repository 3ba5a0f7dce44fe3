"""What is read again, and what is not."""

from __future__ import annotations

import os
from pathlib import Path

from duvet.knowledge.pages.catalogue import PageCollection, PageStore, load_pages
from duvet.knowledge.pages.files import find_page_files
from duvet.knowledge.pages.page import decode_page_body, read_page
from duvet.knowledge.pages.search import PageIndex, search_pages
from duvet.tree.files import DiskTree
from tests.cli.made import make
from tests.unit.knowledge.pages.made import TRACE, project_in

PAGES = {f"docs/{name}.md": f"# Page {name}\n\nabout {name}\n" for name in "abcde"}


def made(folder: Path) -> Path:
    """A project whose files are so old that their times tell all."""
    make(folder, {**TRACE, **PAGES})
    for path in folder.rglob("*"):
        os.utime(path, (1000.0, 1000.0))
    return folder


def read(folder: Path, earlier: PageStore | None = None, *, kept: bool = False) -> PageStore:
    project = project_in(folder, kept=kept)
    return load_pages(project, find_page_files(project), earlier)


def titles(shelf: PageStore) -> list[str]:
    return sorted(page.title for page in shelf.pages)


def test_one_page_is_read_again(tmp_path: Path) -> None:
    folder = made(tmp_path)
    first = read(folder)
    assert first.read_paths == {*PAGES}
    assert read(folder, first).read_paths == frozenset()
    make(folder, {"docs/c.md": "# Other\n", "docs/new.md": "# New\n"})
    (folder / "docs/e.md").unlink()
    second = read(folder, first)
    assert second.read_paths == {"docs/c.md", "docs/new.md"}
    assert titles(second) == ["New", "Other", "Page a", "Page b", "Page d"]


def test_what_an_earlier_run_has_read(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert read(folder, kept=True).read_paths == {*PAGES}
    assert read(folder, kept=True).read_paths == frozenset()
    make(folder, {"docs/c.md": "# Other\n"})
    again = read(folder, kept=True)
    assert again.read_paths == {"docs/c.md"}
    assert titles(again) == titles(read(folder))


def test_a_page_that_is_gone(tmp_path: Path) -> None:
    found = read_page(DiskTree(str(tmp_path)), "docs/gone.md")
    assert (found.is_page, [one.message for one in found.problems]) == (
        False,
        ["No such file or directory (os error 2)"],
    )


def index_of(folder: Path, shelf: PageStore, earlier: PageIndex | None = None) -> tuple[PageIndex, list[str]]:
    """An index, and the pages that it has looked into until it was made."""
    looked: list[str] = []
    project = project_in(folder)

    def text(slug: str, path: str) -> str:
        looked.append(slug)
        return decode_page_body(project.tree.read(path), path)

    index = PageIndex(PageCollection(shelf, project.catalogue), lambda page: text(page.slug, page.path), earlier)
    return index, sorted(looked)


def test_the_words_of_one_page_are_gone_through_again(tmp_path: Path) -> None:
    folder = made(tmp_path)
    first = read(folder)
    base, looked = index_of(folder, first)
    assert looked == ["a", "b", "c", "d", "e"]
    make(folder, {"docs/c.md": "# Other\n\nabout cups\n", "docs/new.md": "# New\n\nabout tea\n"})
    (folder / "docs/e.md").unlink()
    second = read(folder, first)
    index, looked = index_of(folder, second, base)
    assert looked == ["c", "new"]
    assert sorted(hit.slug for hit in search_pages(index, "about")) == ["a", "b", "c", "d", "new"]
    assert [hit.slug for hit in search_pages(index, "about cups")] == ["c"]
    assert search_pages(index, "page c") == []
    third, looked = index_of(folder, second, index)
    assert looked == ["c", "new"]
    assert search_pages(third, "about") == search_pages(index, "about")


def test_where_much_has_changed_all_is_gone_through(tmp_path: Path) -> None:
    folder = made(tmp_path)
    first = read(folder)
    base, _ = index_of(folder, first)
    make(folder, {f"docs/new/{number}.md": "more" for number in range(201)})
    index, looked = index_of(folder, read(folder, first), base)
    assert len(looked) == 206
    assert len(search_pages(index, "more")) == 20
