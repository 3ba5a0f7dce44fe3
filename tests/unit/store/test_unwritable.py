"""Stores that can't be written: for want of room, while somebody else writes, in a folder of others."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from duvet.store.database import StoreBusyError, StoreError
from duvet.store.location import open_store
from duvet.store.records import FileKind
from duvet.store.sqlite import SqliteStore
from tests.cli.running import NOBODY, environment
from tests.unit.store.conftest import fill
from tests.unit.store.contents import by_hand, everything
from tests.unit.store.engines import store_path
from tests.unit.store.made import GUIDE, taken


class TestRoom:
    def test_a_full_disk_leaves_everything_as_it_was(self, file: Path) -> None:
        with closing(open_store(str(file))) as store:
            before = everything(store)
            assert isinstance(store, SqliteStore)
            store.database.run("PRAGMA max_page_count=30")
            with pytest.raises(StoreError) as caught, store.writing() as writing:
                for number in range(99):
                    writing.put(
                        taken(f"{number}.md", GUIDE, kind=FileKind.DOC, vectors=random.Random(1).randbytes(99_999))
                    )
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
            with pytest.raises(StoreBusyError) as caught, store.writing():
                pass
            assert str(caught.value) == f"{file}: somebody else is writing to it"
            assert store.chunk_total() == 7
            other.execute("ROLLBACK")
            with store.writing(patience=0.1) as writing:
                writing.remove("docs/guide.md")
            assert store.chunk_total() == 5

    def test_who_reads_sees_the_last_whole_run(self, file: Path) -> None:
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
from duvet.store.database import StoreError
from duvet.store.location import open_store
from duvet.store.records import ChunkFilters
store = open_store(sys.argv[1])
print(store.chunk_total(), len(store.lexical(["kettle"], ChunkFilters(), 9, every=True)))
try:
    with store.writing() as writing:
        writing.keep("a", b"b")
except StoreError as error:
    print(type(error).__name__)
"""
ASK_AGAIN = """
import sys
from duvet.config.settings import IngestRule, StoreSection
from duvet.knowledge.index import Knowledge
from duvet.knowledge.settings import KnowledgeSettings
from duvet.store.database import StoreBusyError
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
    ##= man/spec/knowledge.md#storage
    ##= type=test
    ##% duvet MUST read an index in a folder that is read-only, and MUST NOT read or write one behind a symbolic link.
    with not_ours() as path:
        command = [*RESTRAINED, sys.executable, "-c", READ, str(path)]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
        require_setpriv(done.stderr)
        assert (done.stdout, done.stderr) == ("7 4\nStoreError\n", "")
        assert sorted(os.listdir(path.parent)) == [".gitignore", "store.db"]


@restrained
def test_what_others_write_into_a_folder_that_is_not_ours_is_seen() -> None:
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
