import random
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from duvet.store.location import open_store
from duvet.store.records import ChunkFilters
from duvet.store.sqlite import Store
from tests.unit.knowledge.stored_project import Fork, Say
from tests.unit.store.store_files import fill, frequencies, make_ingested_file, read_whole_store, store_path


def write_files(file: Path, name: str, count: int, wait: float, say: Say) -> None:
    with open_store(str(file), create=True).writing(60) as writing:
        for number in range(count):
            writing.put(make_ingested_file(f"{name}/{number}", f"kettle {name} {number} " * 99))
        writing.remove("docs/guide.md")
        writing.flush()
        say("written")
        time.sleep(wait)
    say("done")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(store_path(tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
@pytest.mark.parametrize("count", [1, 6000])
def test_a_killed_writer_changes_nothing(file: Path, count: int) -> None:
    with closing(open_store(str(file), create=True)) as store:
        fill(store)
        before = read_whole_store(store)
    with Fork(partial(write_files, file, "killed", count, 60)) as process:
        assert process.lines.readline() == "written\n"
        process.kill()
    with closing(open_store(str(file))) as store:
        assert read_whole_store(store) == before
        with store.writing() as writing:
            writing.put(make_ingested_file("a.md", "kettle\n"))
        assert frequencies(store, "kettle") == {"kettle": 5}
    assert sorted(path.name for path in file.parent.iterdir()) == [".gitignore", "store.db"]


def test_many_writers_that_create_a_store_at_once(file: Path) -> None:
    for process in [Fork(partial(write_files, file, f"n{number}", 3, 0)) for number in range(5)]:
        with process:
            assert process.lines.read().split() == ["written", "done"]
    with closing(open_store(str(file))) as store:
        assert (len(store.artifacts()), store.chunk_total()) == (15, 15)
        assert frequencies(store, "kettle") == {"kettle": 15}


WORDS = [f"w{number}" for number in range(3000)]


def put_many(store: Store, files: int) -> None:
    made = random.Random(1)
    with store.writing() as writing:
        for number in range(files):
            text = "".join(" ".join(made.choices(WORDS, k=20)) + "\n" for _ in range(8))
            writing.put(make_ingested_file(f"{number}.md", text, vectors=made.randbytes(4 * 260)))


def test_removed_and_replaced_files_take_no_space(file: Path) -> None:
    with closing(open_store(str(file), create=True)) as store:
        put_many(store, 1000)
        full = file.stat().st_size
        put_many(store, 1000)
        assert file.stat().st_size < full * 1.2
        with store.writing() as writing:
            for number in range(10, 1000):
                writing.remove(f"{number}.md")
        assert file.stat().st_size < full / 3
        assert (store.chunk_total(), len(store.artifacts())) == (40, 10)
        hits = store.find_by_words(WORDS, ChunkFilters(), 99, every=False)
        assert {int(one.artifact.path[:-3]) for one in store.chunks([number for number, _ in hits])} <= set(range(10))
        put_many(store, 200)
        small = file.stat().st_size
        for _ in range(10):
            put_many(store, 200)
        assert file.stat().st_size < small * 1.5
    assert sorted(one.name for one in file.parent.iterdir()) == [".gitignore", "store.db"]
