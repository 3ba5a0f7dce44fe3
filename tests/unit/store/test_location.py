import os
from contextlib import closing
from pathlib import Path

import pytest

from duvet.store import database
from duvet.store.location import make_store_folder, open_store
from tests.histories import git
from tests.unit.store.store_files import by_hand, fill, frequencies, store_path


def test_reading_creates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/knowledge.md#storage
    ##% If the project has no index, a command or tool that reads the index MUST report this, and MUST NOT create an
    ##% index.
    path = store_path(tmp_path)
    with pytest.raises(database.StoreMissingError) as caught:
        open_store(path)
    assert str(caught.value) == f"{path}: this project is not indexed yet"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(database.StoreMissingError):
        open_store("knowledge.db")
    assert list(tmp_path.iterdir()) == []
    open_store("knowledge.db", create=True).close()
    open_store("knowledge.db").close()
    assert sorted(os.listdir()) == [".gitignore", "knowledge.db"]
    (tmp_path / ".duvet").write_text("")
    with pytest.raises(database.StoreError, match="os error"):
        open_store(path, create=True)


def test_folders_of_any_name(tmp_path: Path) -> None:
    names = ["a?b#c", "50%25 &=", "a'b\"c", "ä\udcff"]
    for name in names:
        path = store_path(tmp_path / name)
        with closing(open_store(path, create=True)) as store:
            fill(store)
        with closing(open_store(path)) as store:
            assert store.chunk_total() == 7
        with by_hand(Path(path)) as connection:
            assert connection.execute("PRAGMA application_id").fetchone() == (database.APPLICATION_ID,)
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_git_ignores_the_store_and_nothing_beside_it(tmp_path: Path) -> None:
    ##= man/spec/cache.md#storage
    ##% duvet MUST exclude the cache and the index from git.
    (tmp_path / "notes.md").touch()
    for name in ("store.db", "my [1].db", "#!*"):
        open_store(str(tmp_path / name), create=True).close()
    git(tmp_path, "init", "--quiet")
    assert git(tmp_path, "ls-files", "--others", "--exclude-standard").split() == ["notes.md"]
    # The file grows unless somebody else wrote it.
    path, ignore = str(tmp_path / "a/store.db"), tmp_path / "a/.gitignore"
    for _ in range(2):
        make_store_folder(path, "notes.txt")
        open_store(path, create=True).close()
    assert ignore.read_text() == "/.gitignore\n/notes.txt\n/store.db*\n"
    ignore.write_text("mine\n")
    make_store_folder(path, "more.txt")
    assert ignore.read_text() == "mine\n"


def test_only_a_store_of_an_older_version_is_replaced(file: Path) -> None:
    older = "run `duvet ingest` to replace it; feedback and backups are kept"
    newer = "update duvet, or start over: remove store.db"
    ##= man/spec/knowledge.md#storage
    ##% An ingest run MUST replace an index of an older version, but MUST NOT replace an index of a newer version or any
    ##% other file.
    with by_hand(file) as connection:
        connection.execute("CREATE TABLE 'left over' (a)")
    for version, create, maker, hint in (
        (99, False, "a newer", newer),
        (99, True, "a newer", newer),
        (1, False, "an older", older),
    ):
        with by_hand(file) as connection:
            connection.execute(f"PRAGMA user_version={version}")
        before = file.read_bytes()
        with pytest.raises(database.StoreVersionError) as caught:
            open_store(str(file), create=create)
        schemas = f"with schema {version}; this version supports schema {database.SCHEMA_VERSION}"
        assert str(caught.value) == f"{file}: {maker} version of duvet created this index {schemas}"
        assert caught.value.hint.startswith(hint)
        assert file.read_bytes() == before
    with closing(open_store(str(file), create=True)) as store:
        assert (store.artifacts(), frequencies(store, "kettle")) == ({}, {"kettle": 0})
        fill(store)
    with closing(open_store(str(file))) as store:
        assert store.chunk_total() == 7


@pytest.mark.parametrize("place", [".duvet", ".duvet/knowledge", ".duvet/knowledge/store.db"])
def test_nothing_is_read_or_written_through_a_link(tmp_path: Path, place: str) -> None:
    ##= man/spec/knowledge.md#storage
    ##% duvet MUST NOT read or write an index through a symbolic link.
    elsewhere = tmp_path / "elsewhere"
    with closing(open_store(store_path(elsewhere), create=True)) as store:
        fill(store)
    before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    link = tmp_path / "project" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere / place)
    for create in (True, False):
        with pytest.raises(database.StoreError) as caught:
            open_store(store_path(tmp_path / "project"), create=create)
        assert str(caught.value) == f"{link}: the index must not be behind a symbolic link"
    assert {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()} == before


def test_an_empty_file_a_dangling_link_and_a_folder(tmp_path: Path) -> None:
    file, link, folder = (tmp_path / name for name in ("empty.db", "link.db", "folder.db"))
    file.touch()
    link.symlink_to(tmp_path / "nowhere")
    folder.mkdir()
    with pytest.raises(database.StoreDamagedError, match="the file is empty"):
        open_store(str(file))
    with closing(open_store(str(file), create=True)) as store:
        assert store.artifacts() == {}
    with pytest.raises(database.StoreError, match="the index must not be behind a symbolic link"):
        open_store(str(link), create=True)
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(database.StoreDamagedError, match="not a regular file"):
        open_store(str(folder), create=True)
