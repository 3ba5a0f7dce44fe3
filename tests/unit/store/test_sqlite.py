import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from duvet.store.database import StoreBusyError, StoreError
from duvet.store.location import open_store
from duvet.store.records import Artifact, FileKind, IngestRun, NodeLabel, RemovedFile
from duvet.store.sqlite import Store, StoreWriter, move_store_aside, overwrite_store
from tests.unit.store.store_files import frequencies, make_ingested_file, node, read_whole_store


def run(number: int, profile: str = "local") -> IngestRun:
    return IngestRun(run_id=f"r{number}", profile=profile, started_at=float(number))


def test_the_newest_runs_come_first(empty: Store) -> None:
    removed = RemovedFile(path="a\udcff.py", kind=FileKind.CODE, status="renamed", renamed_to="b.py")
    counts: Any = {"artifact_counts": {"code": 3}, "chunk_count": 9, "changed": 2, "removed": (removed,)}
    end: Any = {"duration_seconds": 2.5, "success": False, "error": "no room", "repo_head": "c0ffee"}
    whole = IngestRun(run_id="whole", profile="scheduled", started_at=1.5, **counts, **end)
    for one in (run(1), whole, run(2)):
        with empty.writing() as writing:
            writing.put_run(one)
    assert empty.runs() == [run(2), whole, run(1)]
    assert (empty.runs("local"), empty.runs(limit=1), empty.runs("none")) == ([run(2), run(1)], [run(2)], [])
    # The newest reports and the last value are kept.
    for number in range(4):
        with empty.writing() as writing:
            writing.put_report("coverage", f"r{number}", b"%d" % number, 3)
            writing.put_report("lifecycle", f"r{number}", b"\0\xff%d" % number, 1)
            writing.keep("space", b"\0%d" % number)
    assert empty.reports("coverage", 9) == [b"3", b"2", b"1"]
    assert (empty.reports("coverage"), empty.reports("lifecycle", 9)) == ([b"3"], [b"\0\xff3"])
    assert (empty.reports("none"), empty.kept("space")) == ([], b"\x003")


def test_each_change_has_a_new_revision(kitchen: Store) -> None:
    changes: Sequence[Callable[[StoreWriter], None]] = (
        lambda writing: writing.put(make_ingested_file("a.py", "a\n")),
        lambda writing: writing.touch(Artifact(path="a.py", kind=FileKind.TEST)),
        lambda writing: writing.replace_vectors("a.py", b"v"),
        lambda writing: writing.keep("space", b"s"),
        lambda writing: writing.replace_graph([], []),
        lambda writing: writing.remove("a.py"),
    )
    seen = [kitchen.revision]
    for change in changes:
        with kitchen.writing() as writing:
            change(writing)
        seen.append(kitchen.revision)
    assert len(set(seen)) == 7

    # A writer reads its own change in any thread.
    def work() -> int:
        with kitchen.writing() as writing:
            writing.remove("src/kettle.py")
            with kitchen.reading():
                return kitchen.chunk_total()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == kitchen.chunk_total() == 3


def test_a_reader_sees_one_moment(kitchen: Store) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% Readers MUST see the index of the last completed ingest run, and MUST NOT wait for a running one.
    path = kitchen.database.path
    with closing(open_store(path)) as other:
        before = read_whole_store(kitchen)
        with kitchen.reading():
            with other.writing() as writing:
                writing.remove("src/kettle.py")
                writing.put(make_ingested_file("new.py", "kettle\n"))
                assert read_whole_store(kitchen) == before
                with closing(open_store(path)) as late:
                    assert read_whole_store(late) == before
            with kitchen.reading():
                assert kitchen.revision == before[0] != other.revision
            assert read_whole_store(kitchen) == before
            with pytest.raises(StoreBusyError), kitchen.writing():
                pass
        assert read_whole_store(kitchen) == read_whole_store(other) != before
        assert kitchen.chunk_total() == 4 and kitchen.is_current


def test_a_failed_change_leaves_nothing(kitchen: Store) -> None:
    before = read_whole_store(kitchen), frequencies(kitchen, "new", "import")
    with pytest.raises(KeyboardInterrupt), kitchen.writing() as writing:
        writing.put(make_ingested_file("new.py", "new kettle\n"))
        writing.remove("src/kettle.py")
        writing.remove("tests/test_kettle.py")
        writing.replace_graph([node("SourceFile:new.py")], [])
        writing.put_run(run(1))
        writing.keep("space", b"s")
        assert frequencies(kitchen, "new", "import") == {"new": 1, "import": 0}
        raise KeyboardInterrupt
    assert (read_whole_store(kitchen), frequencies(kitchen, "new", "import")) == before
    with kitchen.writing() as writing:
        writing.put(make_ingested_file("new.py", "new kettle\n"))
    assert frequencies(kitchen, "kettle", "new") == {"kettle": 5, "new": 1}
    # A change is not committed if a part of it failed.
    with pytest.raises(StoreError, match="an earlier part"), kitchen.writing() as writing:
        writing.put(make_ingested_file("other.py", "other\n"))
        with pytest.raises(StoreError, match=r"unknown\.py is not indexed yet"):
            writing.touch(Artifact(path="unknown.py", kind=FileKind.CODE))
    assert "other.py" not in kitchen.artifacts()
    with pytest.raises(ZeroDivisionError), kitchen.writing() as writing:
        writing.replace_graph((node(f"SourceFile:{1 // n}") for n in (1, 0)), [])
    assert kitchen.node(NodeLabel.SOURCE_FILE, "src/kettle.py")


def test_a_copy_is_of_one_moment_and_can_overwrite_an_open_store(kitchen: Store, tmp_path: Path) -> None:
    before, copy = read_whole_store(kitchen), str(tmp_path / "copy.db")
    with closing(open_store(kitchen.database.path)) as other:
        with other.writing() as writing:
            writing.put(make_ingested_file("a.md", "kettle\n"))
            writing.remove("docs/guide.md")
            kitchen.copy_to(copy)
            with pytest.raises(StoreBusyError):
                overwrite_store(kitchen.database, copy, 0.0)
        with closing(open_store(copy)) as copied:
            assert read_whole_store(copied) == before
        with pytest.raises(OSError, match="exists"):
            kitchen.copy_to(copy)
        assert read_whole_store(other) == read_whole_store(kitchen) != before
        overwrite_store(kitchen.database, copy, 1.0)
        assert read_whole_store(other) == read_whole_store(kitchen) == before
        with other.writing() as writing:
            writing.put(make_ingested_file("a.md", "kettle\n"))
        assert frequencies(kitchen, "kettle") == {"kettle": 5}


def test_a_broken_store_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "kept/store.db"
    path.parent.mkdir()
    for end in ("", "-wal"):
        Path(f"{path}{end}").write_text(f"no store{end}")
    moved = move_store_aside(str(path), str(tmp_path / "aside"))
    assert [os.path.relpath(one, tmp_path) for one in moved] == ["aside/store.db-wal", "aside/store.db"]
    assert (os.listdir(path.parent), (tmp_path / "aside/store.db").read_text()) == ([], "no store")
    with pytest.raises(StoreError, match="exists"):
        move_store_aside(str(path), str(tmp_path / "aside"))
