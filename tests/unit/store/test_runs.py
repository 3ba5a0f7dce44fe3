"""Runs, reports, and what is kept beside them, whatever keeps them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from duvet.store.database import StoreBusyError, StoreError
from duvet.store.records import Artifact, FileKind, IngestRun, RemovedFile, Store
from tests.unit.store.engines import Engine
from tests.unit.store.made import frequencies, node, taken


def run(number: int, profile: str = "local") -> IngestRun:
    return IngestRun(run_id=f"r{number}", profile=profile, started_at=float(number))


class TestRuns:
    def test_the_newest_come_first(self, empty: Store) -> None:
        whole = IngestRun(
            run_id="whole",
            profile="scheduled",
            started_at=1.5,
            duration_seconds=2.5,
            success=False,
            artifact_counts={"code": 3},
            chunk_count=9,
            repo_head="c0ffee",
            changed=2,
            removed=(RemovedFile(path="a\udcff.py", kind=FileKind.CODE, status="renamed", renamed_to="b.py"),),
            error="no room",
        )
        for one in (run(1), whole, run(2)):
            with empty.writing() as writing:
                writing.put_run(one)
        assert empty.runs() == [run(2), whole, run(1)]
        assert (empty.runs("local"), empty.runs(limit=1), empty.runs("none")) == ([run(2), run(1)], [run(2)], [])

    def test_reports_are_kept_while_they_are_few(self, empty: Store) -> None:
        with empty.writing() as writing:
            for number in range(4):
                writing.put_report("coverage", f"r{number}", b"%d" % number, 3)
            writing.put_report("lifecycle", "r0", b"\0\xff" * 9, 1)
        assert empty.reports("coverage", 9) == [b"3", b"2", b"1"]
        assert (empty.reports("coverage"), empty.reports("lifecycle")) == ([b"3"], [b"\0\xff" * 9])
        assert empty.reports("none") == []

    def test_what_is_kept_under_a_name_is_the_last(self, empty: Store) -> None:
        for data in (b"first", b"\0last"):
            with empty.writing() as writing:
                writing.keep("space", data)
        assert empty.kept("space") == b"\0last"


class TestReading:
    def test_it_is_of_one_moment(self, kitchen: Store, engine: Engine, tmp_path: Path) -> None:
        ##= man/spec/knowledge.md#ingest-runs
        ##= type=test
        ##% Readers MUST see the last completed run, and MUST NOT wait for one in progress.
        with closing(engine(tmp_path)) as other:
            with kitchen.reading():
                before = kitchen.revision
                with other.writing() as writing:
                    writing.remove("src/kettle.py")
                with kitchen.reading():
                    assert kitchen.revision == before != other.revision
                assert (kitchen.chunk_total(), other.chunk_total()) == (7, 3)
                with pytest.raises(StoreBusyError), kitchen.writing():
                    pass
            assert kitchen.chunk_total() == 3 and kitchen.is_current

    def test_a_change_reads_itself(self, kitchen: Store) -> None:
        with kitchen.writing() as writing:
            writing.remove("src/kettle.py")
            with kitchen.reading():
                assert kitchen.chunk_total() == 3
        assert kitchen.chunk_total() == 3


class TestFailing:
    def test_nothing_of_it_is_left(self, kitchen: Store) -> None:
        ##= man/spec/knowledge.md#ingest-runs
        ##= type=test
        ##% A run that fails or is killed MUST leave the index unchanged, and a failure MUST be recorded with its
        ##% reason.
        before = kitchen.revision, kitchen.artifacts(), kitchen.chunk_total(), frequencies(kitchen, "kettle", "new")
        with pytest.raises(KeyboardInterrupt), kitchen.writing() as writing:
            writing.put(taken("new.py", "new kettle\n"))
            writing.remove("src/kettle.py")
            writing.replace_graph([node("SourceFile:new.py")], [])
            writing.put_run(run(1))
            writing.keep("space", b"s")
            assert frequencies(kitchen, "new") == {"new": 1}
            raise KeyboardInterrupt
        after = kitchen.revision, kitchen.artifacts(), kitchen.chunk_total(), frequencies(kitchen, "kettle", "new")
        assert (after, kitchen.runs(), kitchen.kept("space")) == (before, [], None)
        with kitchen.writing() as writing:
            writing.put(taken("new.py", "new kettle\n"))
        assert frequencies(kitchen, "kettle", "new") == {"kettle": 5, "new": 1}

    def test_a_change_of_which_a_part_has_failed_is_not_done(self, kitchen: Store) -> None:
        unknown = Artifact(path="unknown.py", kind=FileKind.CODE)
        with pytest.raises(StoreError, match="an earlier part"), kitchen.writing() as writing:
            writing.put(taken("new.py", "new\n"))
            with pytest.raises(StoreError, match="was not taken in"):
                writing.touch(unknown)
        assert "new.py" not in kitchen.artifacts()

    def test_what_comes_from_others_stays_their_fault(self, kitchen: Store) -> None:
        with pytest.raises(ZeroDivisionError), kitchen.writing() as writing:
            writing.replace_graph((node(f"SourceFile:{1 // n}") for n in (1, 0)), [])
        assert kitchen.node(kitchen.artifacts()["src/kettle.py"].label, "src/kettle.py")

    def test_one_change_at_a_time(self, empty: Store) -> None:
        with empty.writing(), pytest.raises(StoreBusyError), empty.writing():
            pass
        with empty.writing() as writing:
            writing.put(taken("a", "a\n"))
        assert list(empty.artifacts()) == ["a"]
