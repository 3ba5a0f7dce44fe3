"""Where a store is made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.store.database import StoreMissingError
from duvet.store.location import make_store_folder, open_store
from tests.histories import git


def test_a_name_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreMissingError):
        open_store("knowledge.db")
    open_store("knowledge.db", create=True).close()
    open_store("knowledge.db").close()
    assert sorted(os.listdir()) == [".gitignore", "knowledge.db"]


@pytest.mark.parametrize("name", ["store.db", "my [1].db", "#!*"])
def test_git_ignores_the_store_and_nothing_beside_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.md").touch()
    open_store(str(tmp_path / name), create=True).close()
    git(tmp_path, "init", "--quiet")
    assert git(tmp_path, "ls-files", "--others", "--exclude-standard").split() == ["notes.md"]


def test_a_list_of_what_is_ignored_grows_and_is_left_alone_where_it_is_somebody_elses(tmp_path: Path) -> None:
    path, ignore = tmp_path / "store.db", tmp_path / ".gitignore"
    make_store_folder(str(path), "notes.txt")
    open_store(str(path), create=True).close()
    make_store_folder(str(path), "notes.txt")
    assert ignore.read_text() == "/.gitignore\n/notes.txt\n/store.db*\n"
    ignore.write_text("mine\n")
    make_store_folder(str(path), "more.txt")
    assert ignore.read_text() == "mine\n"
