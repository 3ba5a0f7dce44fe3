import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from duvet.store.database import StoreBusyError, StoreDamagedError, StoreError
from duvet.store.location import open_store
from duvet.store.sqlite import Store
from tests.cli.command import NOBODY, environment
from tests.unit.store.store_files import GUIDE, by_hand, fill, make_ingested_file, read_whole_store, store_path


def replace_with_other_database(file: Path) -> None:
    file.unlink()
    with by_hand(file) as connection:
        connection.execute("CREATE TABLE notes(a)")


STATEMENTS = [
    *("DROP TABLE piece", "DROP INDEX edge_back", "CREATE VIEW more AS SELECT 1", "DELETE FROM state"),
    *("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END", "DELETE FROM found_data"),
    *("UPDATE text SET data = x'789c00112233'", "UPDATE text SET data = substr(data, 1, 9)"),
    *("UPDATE artifact SET kind = 'song'", "UPDATE artifact SET first = 'one'"),
    *("UPDATE node SET properties = x'ff'", "UPDATE edge SET relation = 99"),
]
# Readers may not be able to tell these from a store in which little is.
ODD = [
    *("UPDATE found_data SET block = x'00112233' WHERE id > 1", "UPDATE node SET label = label + 90"),
    "UPDATE piece SET start = 99999, end = -5",
]
REMOVE = "remove its files, and run `duvet ingest`"
DAMAGED, FOREIGN = (
    f"{REMOVE}; feedback and backups are kept",
    f"set `store.path` to another file; if this file was an index, {REMOVE}",
)
DAMAGES: list[tuple[Callable[[Path], object] | str, str]] = [
    *((text, DAMAGED) for text in STATEMENTS),
    *((text, "") for text in ODD),
    (lambda file: os.truncate(file, file.stat().st_size // 2), DAMAGED),
    (lambda file: os.truncate(file, 100), DAMAGED),
    # Nobody can tell whether these were ever stores.
    *((lambda file: file.write_text("no database at all\n" * 99), FOREIGN), (replace_with_other_database, FOREIGN)),
]


@pytest.mark.parametrize(("damage", "hint"), DAMAGES)
def test_damage_is_reported_with_the_file_and_the_remedy(
    file: Path, damage: Callable[[Path], object] | str, hint: str
) -> None:
    if isinstance(damage, str):
        with by_hand(file) as connection:
            connection.execute(damage)
    else:
        damage(file)
    if hint:
        with pytest.raises(StoreDamagedError) as caught, closing(open_store(str(file))) as store:
            read_whole_store(store)
        assert str(caught.value).startswith(f"{file}: the index is damaged, or this file is not a duvet index: ")
        files = r"remove store\.db((, | and )store\.db-(wal|shm))*, "
        assert re.sub(files, "remove its files, ", caught.value.hint) == hint
    try:
        with closing(open_store(str(file), create=True)) as store:
            fill(store)
            read_whole_store(store)
    except StoreDamagedError as error:
        assert error.path == str(file)


def test_damage_anywhere_is_a_store_error(file: Path) -> None:
    whole, chance, found = file.read_bytes(), random.Random(1), 0
    full = [at for at, byte in enumerate(whole) if byte]
    for _ in range(150):
        data = bytearray(whole)
        at, length = chance.choice(full), chance.choice([1, 16, 4096])
        data[at : at + length] = chance.randbytes(len(data[at : at + length]))
        file.write_bytes(data)
        try:
            with closing(open_store(str(file))) as store:
                read_whole_store(store)
        except StoreError as error:
            found += 1
            assert error.path == str(file) and error.hint
    assert found > 30


def test_only_the_files_of_the_store_are_to_be_removed(tmp_path: Path) -> None:
    (tmp_path / "knowledge.db").write_bytes(b"SQLite format 3\0")
    (tmp_path / "knowledge.db-wal").touch()
    (tmp_path / "knowledge.db-shm").touch()
    (tmp_path / "work.py").touch()
    with pytest.raises(StoreDamagedError) as caught:
        open_store(str(tmp_path / "knowledge.db"))
    assert caught.value.hint.endswith(
        "remove knowledge.db, knowledge.db-wal and knowledge.db-shm, and run `duvet ingest`"
    )


def test_a_mistake_of_the_caller_is_not_damage(kitchen: Store) -> None:
    with pytest.raises(TypeError):
        kitchen.walk_from("Subsystem:Kitchen", cast(int, "three"))
    with pytest.raises(StoreError) as caught:
        kitchen.database.rows("SELEKT 1")
    assert not isinstance(caught.value, StoreDamagedError)
    assert kitchen.database.rows("PRAGMA trusted_schema") == [(0,)]
    kitchen.close()
    kitchen.close()
    with pytest.raises(StoreError, match="the index can't be queried"):
        kitchen.artifacts()


def test_a_full_disk_changes_nothing(file: Path) -> None:
    with closing(open_store(str(file))) as store:
        before = read_whole_store(store)
        store.database.run("PRAGMA max_page_count=30")
        with pytest.raises(StoreError) as caught, store.writing() as writing:
            for number in range(99):
                writing.put(make_ingested_file(f"{number}.md", GUIDE, vectors=random.Random(1).randbytes(99_999)))
        assert str(caught.value).startswith(f"{file}: not enough disk space for the index: ")
        assert caught.value.hint == "free disk space, and try again"
        assert read_whole_store(store) == before
    with closing(open_store(str(file))) as store:
        assert read_whole_store(store) == before


def test_a_second_writer_is_refused(kitchen: Store) -> None:
    path = kitchen.database.path
    with by_hand(Path(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError) as caught, kitchen.writing():
            pass
        assert str(caught.value) == f"{path}: another process is writing to the index"
        assert kitchen.chunk_total() == 7
        other.execute("ROLLBACK")
    with kitchen.writing(patience=0.1) as writing:
        with pytest.raises(StoreBusyError), kitchen.writing():
            pass
        writing.remove("docs/guide.md")
    assert kitchen.chunk_total() == 5


ASK_AGAIN = """
import sys
from duvet.config.service_tables import IngestRule, StoreSection
from duvet.knowledge.index import Knowledge
from duvet.store.location import KnowledgeSettings
from duvet.store.database import StoreBusyError, StoreError
from duvet.store.location import open_store
knowledge = Knowledge(lambda: KnowledgeSettings(sys.argv[1], IngestRule(semantic=False), StoreSection()))
def ask(wait=False):
    def question(known):
        first = len(known.store.artifacts())
        if wait:
            print("asked", flush=True)
            sys.stdin.readline()
        return first, known.store.chunk_total()
    try:
        print(*knowledge.ask(question), flush=True)
    except StoreBusyError as error:
        print(error.message, flush=True)
ask()
sys.stdin.readline()
ask()
ask(wait=True)
ask()
try:
    with open_store(sys.argv[2]).writing() as writing:
        writing.keep("a", b"b")
except StoreError as error:
    print(type(error).__name__)
"""
_RIGHTS = "-dac_override,-dac_read_search"
# Another user might not be able to run this very Python, which may stand in the home of root.
RESTRAINED = ("setpriv", f"--bounding-set={_RIGHTS}", f"--inh-caps={_RIGHTS}")
"""A command that runs another one, for which root is an owner like any other."""


@pytest.mark.skipif(not NOBODY or not shutil.which(RESTRAINED[0]), reason="rights of POSIX, and root")
def test_a_read_only_store_follows_other_writers_and_is_not_written() -> None:
    def change(removed: str) -> None:
        with closing(open_store(str(path))) as store, store.writing() as writing:
            writing.remove(removed)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(store_path(folder))
        with closing(open_store(str(path), create=True)) as store:
            fill(store)
        for place, mode in ((Path(folder), 0o755), (path.parent, 0o555), (path, 0o444)):
            place.chmod(mode)
        command = [*RESTRAINED, sys.executable, "-c", ASK_AGAIN, folder, str(path)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=environment(), text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            assert process.stdin and process.stdout and process.stderr
            said = process.stdout.readline()
            if not said and (errors := process.stderr.read()).startswith("setpriv:"):
                pytest.skip(f"root can't lay its rights down: {errors}")
            assert said == "3 7\n"
            change("src/kettle.py")
            process.stdin.write("\n")
            process.stdin.flush()
            assert [process.stdout.readline() for _ in range(2)] == ["2 3\n", "asked\n"]
            change("docs/guide.md")
            told = "another process is writing to the index\n1 1\nStoreError\n"
            assert process.communicate("\n", timeout=60) == (told, "")
        assert sorted(os.listdir(path.parent)) == [".gitignore", "store.db"]
        path.parent.chmod(0o755)
