"""Stores that are not what they should be."""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import pytest

from duvet.store.errors import BusyError, DamagedError, MissingError, StoreError, VersionError
from duvet.store.opening import open_store
from duvet.store.protocol import Store
from duvet.store.records import Filters, Kind, Label, Relation
from duvet.store.schema import APPLICATION, SCHEMA
from duvet.store.sqlite import SqliteStore
from tests.commands.running import NOBODY, environment
from tests.store.conftest import fill
from tests.store.engines import store_path
from tests.store.made import GUIDE, frequencies, taken


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The store of a kitchen, which nobody has open."""
    path = Path(store_path(str(tmp_path)))
    with closing(open_store(str(path), create=True)) as store:
        fill(store)
    return path


@contextmanager
def by_hand(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        yield connection


def everything(store: Store) -> list[object]:
    """Whatever a store can be asked."""
    answers: list[object] = [store.revision, store.kept("space"), store.artifacts(), store.chunk_total()]
    answers += [store.chunks(range(1, 20)), store.chunk_numbers("src/kettle.py"), store.lacks_times()]
    filters = Filters(subsystems=("kitchen",), tags=("hot",), symbol_kinds=("method",))
    for every in (True, False):
        answers += [store.lexical(["kettle", "water"], Filters(), 9, every=every), store.allowed(filters)]
    answers += [frequencies(store, "kettle"), list(store.segments()), store.around("Subsystem:Kitchen", 3)]
    answers += [list(store.nodes(label)) for label in Label]
    answers += [store.edges("SourceFile:src/kettle.py", out=out, limit=9) for out in (True, False)]
    answers += [store.neighbours(["Subsystem:Kitchen"]), store.found_nodes("kettle", list(Label), 9)]
    return [*answers, list(store.isolated(list(Label), list(Relation))), store.runs(), store.reports("coverage")]


class TestMissing:
    def test_reading_makes_nothing(self, tmp_path: Path) -> None:
        ##= man/spec/knowledge.md#store
        ##= type=test
        ##% Reading MUST NOT make a store: where there is none, duvet MUST say that nothing was taken in yet.
        path = store_path(str(tmp_path))
        with pytest.raises(MissingError) as caught:
            open_store(path)
        assert str(caught.value) == f"{path}: nothing of this project was taken in yet"
        assert list(tmp_path.iterdir()) == []

    def test_where_nothing_can_be_made(self, tmp_path: Path) -> None:
        (tmp_path / ".duvet").write_text("")
        with pytest.raises(StoreError, match="os error"):
            open_store(store_path(str(tmp_path)), create=True)

    @pytest.mark.parametrize("name", ["a?b#c", "50%25 &=", "a'b\"c", "ä\udcff"])
    def test_folders_of_any_name(self, tmp_path: Path, name: str) -> None:
        path = store_path(str(tmp_path / name))
        with closing(open_store(path, create=True)) as store:
            fill(store)
        with closing(open_store(path)) as store:
            assert store.chunk_total() == 7
        assert os.listdir(tmp_path) == [name]


class TestVersions:
    def test_one_of_an_older_duvet_is_replaced_when_something_is_taken_in(self, file: Path) -> None:
        ##= man/spec/knowledge.md#store
        ##= type=test
        ##% A store that an older duvet has made MUST be replaced by the next run, and until then duvet MUST say so.
        with by_hand(file) as connection:
            connection.execute("CREATE TABLE 'left over' (a)")
            connection.execute("PRAGMA user_version=1")
        before = file.read_bytes()
        with pytest.raises(VersionError) as caught:
            open_store(str(file))
        assert str(caught.value) == f"{file}: an older duvet has made it: its schema is 1, and this one reads {SCHEMA}"
        assert caught.value.hint == "take everything in again: that replaces it, and it holds nothing else"
        assert file.read_bytes() == before
        with closing(open_store(str(file), create=True)) as store:
            assert (store.artifacts(), frequencies(store, "kettle")) == ({}, {"kettle": 0})
            fill(store)
        with closing(open_store(str(file))) as store:
            assert store.chunk_total() == 7

    @pytest.mark.parametrize("create", [True, False])
    def test_one_of_a_newer_duvet_is_refused(self, file: Path, create: bool) -> None:
        ##= man/spec/knowledge.md#store
        ##= type=test
        ##% A store that a newer duvet has made MUST be refused, and stay as it is.
        with by_hand(file) as connection:
            connection.execute("PRAGMA user_version=99")
        before = file.read_bytes()
        with pytest.raises(VersionError) as caught:
            open_store(str(file), create=create)
        assert str(caught.value) == f"{file}: a newer duvet has made it: its schema is 99, and this one reads {SCHEMA}"
        assert caught.value.hint.startswith("use that one; or remove store.db")
        assert file.read_bytes() == before

    def test_one_that_was_begun_and_never_made(self, tmp_path: Path) -> None:
        path = Path(store_path(str(tmp_path)))
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        with pytest.raises(DamagedError, match="it is empty"):
            open_store(str(path))
        with closing(open_store(str(path), create=True)) as store:
            assert store.artifacts() == {}


def other_program(file: Path) -> None:
    file.unlink()
    with by_hand(file) as connection:
        connection.execute("CREATE TABLE notes(a)")


def statement(text: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        with by_hand(file) as connection:
            connection.execute(text)

    return change


DAMAGES: dict[str, Callable[[Path], object]] = {
    "text": lambda file: file.write_text("no database at all\n" * 99),
    "another program's": other_program,
    "cut in two": lambda file: os.truncate(file, file.stat().st_size // 2),
    "cut to its head": lambda file: os.truncate(file, 100),
    "a table is gone": statement("DROP TABLE piece"),
    "an index is gone": statement("DROP INDEX edge_back"),
    "a view stands in for a table": statement("CREATE VIEW more AS SELECT 1"),
    "something happens by itself": statement("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END"),
    "words are gone": statement("DELETE FROM found_data"),
    "texts are others": statement("UPDATE text SET data = x'789c00112233'"),
    "texts are cut": statement("UPDATE text SET data = substr(data, 1, 9)"),
    "a kind is none": statement("UPDATE artifact SET kind = 'song'"),
    "numbers are none": statement("UPDATE artifact SET first = 'one'"),
    "a node is nothing": statement("UPDATE node SET properties = x'ff'"),
    "an edge is none": statement("UPDATE edge SET relation = 99"),
    "no state": statement("DELETE FROM state"),
}


FOREIGN = ("text", "another program's")
"""Of these nobody can tell whether they have ever been stores."""
IF_FOREIGN = "say another place below `store` if this is something else; if it was a store, "
BEGIN, LOST = "remove its files, and take everything in again", ": nothing else is lost"

ODD: dict[str, Callable[[Path], object]] = {
    **DAMAGES,
    "words are others": statement("UPDATE found_data SET block = x'00112233' WHERE id > 1"),
    "a label is none": statement("UPDATE node SET label = label + 90"),
    "pieces are elsewhere": statement("UPDATE piece SET start = 99999, end = -5"),
}
"""Some that nobody can tell from a store in which little is."""


class TestDamaged:
    @pytest.mark.parametrize("name", DAMAGES)
    def test_it_is_told_with_what_to_do(self, file: Path, name: str) -> None:
        ##= man/spec/knowledge.md#store
        ##= type=test
        ##% A store that is cut off, that makes no sense, or that is not one of duvet at all MUST be an error that names
        ##% the file and says what to do.
        DAMAGES[name](file)
        with pytest.raises(DamagedError) as caught, closing(open_store(str(file))) as store:
            everything(store)
        assert str(caught.value).startswith(f"{file}: it is damaged, or no store of duvet: ")
        begin = re.sub(r"remove store\.db( and store\.db-(wal|shm))*, ", "remove its files, ", caught.value.hint)
        assert begin == (IF_FOREIGN if name in FOREIGN else "") + BEGIN + ("" if name in FOREIGN else LOST)

    def test_no_more_is_to_be_removed_than_its_own_files(self, tmp_path: Path) -> None:
        ##= man/spec/knowledge.md#store
        ##= type=test
        ##% What is to be removed MUST be no more than the files of the store, whatever else is in their folder.
        (tmp_path / "knowledge.db").write_bytes(b"SQLite format 3\0")
        (tmp_path / "knowledge.db-wal").touch()
        (tmp_path / "work.py").touch()
        with pytest.raises(DamagedError) as caught:
            open_store(str(tmp_path / "knowledge.db"))
        assert caught.value.hint.endswith("remove knowledge.db and knowledge.db-wal, and take everything in again")

    def test_a_mistake_of_ours_is_no_damage(self, file: Path) -> None:
        with closing(open_store(str(file))) as store:
            assert isinstance(store, SqliteStore)
            with pytest.raises(TypeError):
                store.around("Subsystem:Kitchen", cast(int, "three"))
            with pytest.raises(StoreError) as caught:
                store.database.rows("SELEKT 1")
            assert not isinstance(caught.value, DamagedError)

    @pytest.mark.parametrize("name", ODD)
    def test_nothing_else_goes_wrong_when_it_is_written(self, file: Path, name: str) -> None:
        ODD[name](file)
        try:
            with closing(open_store(str(file), create=True)) as store:
                fill(store)
                everything(store)
        except DamagedError as error:
            assert error.path == str(file)

    def test_wherever_it_is_overwritten(self, file: Path) -> None:
        whole, chance, told = file.read_bytes(), random.Random(1), 0
        full = [at for at, byte in enumerate(whole) if byte]
        for _ in range(150):
            data = bytearray(whole)
            at, length = chance.choice(full), chance.choice([1, 16, 4096])
            data[at : at + length] = chance.randbytes(len(data[at : at + length]))
            file.write_bytes(data)
            try:
                with closing(open_store(str(file))) as store:
                    everything(store)
            except StoreError as error:
                told += 1
                assert error.path == str(file)
                assert error.hint
        assert told > 30

    def test_one_that_was_closed(self, file: Path) -> None:
        store = open_store(str(file))
        store.close()
        store.close()
        with pytest.raises(StoreError, match="it can't be asked"):
            store.artifacts()


class TestLinks:
    @pytest.mark.parametrize("create", [True, False])
    @pytest.mark.parametrize("place", [".duvet", ".duvet/knowledge", ".duvet/knowledge/store.db"])
    def test_nothing_is_read_or_written_through_one(self, tmp_path: Path, place: str, create: bool) -> None:
        ##= man/spec/knowledge.md#store
        ##= type=test
        ##% A store behind a link MUST be neither read nor written.
        elsewhere = tmp_path / "elsewhere"
        with closing(open_store(store_path(str(elsewhere)), create=True)) as store:
            fill(store)
        before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
        link = tmp_path / "project" / place
        link.parent.mkdir(parents=True)
        link.symlink_to(elsewhere / place)
        with pytest.raises(StoreError) as caught:
            open_store(store_path(str(tmp_path / "project")), create=create)
        assert str(caught.value) == f"{link}: it is a link, and may lead anywhere"
        assert {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()} == before

    def test_one_that_leads_nowhere(self, tmp_path: Path) -> None:
        path = Path(store_path(str(tmp_path)))
        path.parent.mkdir(parents=True)
        path.symlink_to(tmp_path / "nowhere")
        with pytest.raises(StoreError, match="it is a link"):
            open_store(str(path), create=True)
        assert not (tmp_path / "nowhere").exists()

    def test_a_folder_in_its_place(self, tmp_path: Path) -> None:
        path = Path(store_path(str(tmp_path)))
        path.mkdir(parents=True)
        with pytest.raises(DamagedError, match="it is no file"):
            open_store(str(path), create=True)


class TestRoom:
    def test_a_full_disk_leaves_everything_as_it_was(self, file: Path) -> None:
        with closing(open_store(str(file))) as store:
            before = everything(store)
            assert isinstance(store, SqliteStore)
            store.database.run("PRAGMA max_page_count=30")
            with pytest.raises(StoreError) as caught, store.writing() as writing:
                for number in range(99):
                    writing.put(taken(f"{number}.md", GUIDE, kind=Kind.DOC, vectors=random.Random(1).randbytes(99_999)))
            assert str(caught.value).startswith(f"{file}: there is no room for it: ")
            assert caught.value.hint == "make room, and try again"
            assert everything(store) == before
        with closing(open_store(str(file))) as store:
            assert everything(store) == before

    def test_whoever_goes_on_regardless_changes_nothing(self, file: Path) -> None:
        with closing(open_store(str(file))) as store:
            assert isinstance(store, SqliteStore)
            store.database.run("PRAGMA max_page_count=30")
            with pytest.raises(StoreError, match="an earlier part"), store.writing() as writing:
                with pytest.raises(StoreError, match="no room"):
                    writing.put(taken("a.md", GUIDE, vectors=bytes(9_999_999)))
                writing.put(taken("b.md", GUIDE))
            assert "b.md" not in store.artifacts()


class TestLocked:
    def test_who_writes_says_that_somebody_else_does(self, file: Path) -> None:
        with by_hand(file) as other, closing(open_store(str(file))) as store:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(BusyError) as caught, store.writing():
                pass
            assert str(caught.value) == f"{file}: somebody else is writing to it"
            assert store.chunk_total() == 7
            other.execute("ROLLBACK")
            with store.writing(patience=0.1) as writing:
                writing.remove("docs/guide.md")
            assert store.chunk_total() == 5

    def test_who_reads_sees_the_last_whole_run(self, file: Path) -> None:
        ##= man/spec/knowledge.md#store
        ##= type=test
        ##% Who reads MUST see what the last whole run has left, and MUST NOT wait for one that is under way.
        with closing(open_store(str(file))) as writer, closing(open_store(str(file))) as reader:
            before = everything(reader)
            with writer.writing() as writing:
                writing.remove("src/kettle.py")
                writing.put(taken("new.py", "kettle\n"))
                assert everything(reader) == before
                with closing(open_store(str(file))) as late:
                    assert everything(late) == before
            assert everything(reader) == everything(writer) != before


READ = """
import sys
from duvet.store.errors import StoreError
from duvet.store.opening import open_store
from duvet.store.records import Filters
store = open_store(sys.argv[1])
print(store.chunk_total(), len(store.lexical(["kettle"], Filters(), 9, every=True)))
try:
    with store.writing() as writing:
        writing.keep("a", b"b")
except StoreError as error:
    print(type(error).__name__)
"""
ASK_AGAIN = """
import sys
from duvet.config.schema import IngestRule, StoreRule
from duvet.knowledge.knowledge import Knowledge, Rules
from duvet.store.errors import BusyError
knowledge = Knowledge(lambda: Rules(sys.argv[1], IngestRule(semantic=False), StoreRule()))
def ask(wait=False):
    def question(known):
        first = len(known.store.artifacts())
        if wait:
            print("asked", flush=True)
            sys.stdin.readline()
        return first, known.store.chunk_total()
    try:
        print(*knowledge.ask(question), flush=True)
    except BusyError as error:
        print(error.message, flush=True)
ask()
sys.stdin.readline()
ask()
ask(wait=True)
ask()
"""


@contextmanager
def not_ours() -> Iterator[Path]:
    """The store of a kitchen in a folder that nobody but us can write."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(store_path(folder))
        with closing(open_store(str(path), create=True)) as store:
            fill(store)
        os.chmod(path.parent, 0o555)
        os.chmod(path, 0o444)
        try:
            yield path
        finally:
            os.chmod(path.parent, 0o755)


_RIGHTS = "-dac_override,-dac_read_search"
# Another user might not be able to run this very Python, which may stand in the home of root.
RESTRAINED = ("setpriv", f"--bounding-set={_RIGHTS}", f"--inh-caps={_RIGHTS}")
"""A command that runs another one, for which root is an owner like any other."""


def require_setpriv(errors: str) -> None:
    if errors.startswith("setpriv:"):
        pytest.skip(f"root can't lay its rights down: {errors}")


restrained = pytest.mark.skipif(not NOBODY or not shutil.which(RESTRAINED[0]), reason="rights of POSIX, and root")


@restrained
def test_a_folder_that_is_not_ours() -> None:
    ##= man/spec/knowledge.md#store
    ##= type=test
    ##% A store in a folder that can't be written MUST be readable.
    with not_ours() as path:
        command = [*RESTRAINED, sys.executable, "-c", READ, str(path)]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
        require_setpriv(done.stderr)
        assert (done.stdout, done.stderr) == ("7 4\nStoreError\n", "")
        assert sorted(os.listdir(path.parent)) == [".gitignore", "store.db"]


@restrained
def test_what_others_write_into_a_folder_that_is_not_ours_is_seen() -> None:
    ##= man/spec/knowledge.md#store
    ##= type=test
    ##% Who reads MUST see what the last whole run has left, and MUST NOT wait for one that is under way.
    def change(removed: str) -> None:
        with closing(open_store(str(path))) as store, store.writing() as writing:
            writing.remove(removed)

    with not_ours() as path:
        command = [*RESTRAINED, sys.executable, "-c", ASK_AGAIN, str(path.parents[2])]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=environment(), text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            assert process.stdin and process.stdout and process.stderr
            said = process.stdout.readline()
            if not said:
                require_setpriv(process.stderr.read())
            assert said == "3 7\n"
            change("src/kettle.py")
            process.stdin.write("\n")
            process.stdin.flush()
            assert [process.stdout.readline() for _ in range(2)] == ["2 3\n", "asked\n"]
            change("docs/guide.md")
            assert process.communicate("\n", timeout=60) == ("somebody else is writing to it\n1 1\n", "")


def test_a_store_does_nothing_of_its_own(file: Path) -> None:
    with closing(open_store(str(file))) as store:
        assert isinstance(store, SqliteStore)
        assert store.database.rows("PRAGMA trusted_schema") == [(0,)]


def test_the_file_says_whose_it_is(file: Path) -> None:
    with by_hand(file) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
