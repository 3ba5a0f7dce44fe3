"""Stores that several processes use, some of which are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from duvet.store.database import StoreBusyError
from duvet.store.location import open_store
from duvet.store.records import ChunkFilters
from tests.cli.running import environment
from tests.unit.store.conftest import fill
from tests.unit.store.engines import store_path
from tests.unit.store.made import frequencies, taken

WRITE = """
import sys
from duvet.store.database import StoreBusyError
from duvet.store.location import open_store
from tests.unit.store.engines import store_path
from duvet.store.records import Artifact, FileKind, TextPiece, IngestedFile
path, name, count, patience = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
store = open_store(path, create=True)
try:
    with store.writing(patience) as writing:
        for number in range(count):
            text = f"kettle {name} {number} " * 99
            piece = TextPiece(start=0, end=len(text), line_start=1, line_end=1)
            writing.put(IngestedFile(artifact=Artifact(path=f"{name}/{number}", kind=FileKind.DOC), text=text, pieces=(piece,)))
        writing.remove("docs/guide.md")
        writing.flush()
        print("written", flush=True)
        sys.stdin.readline()
except StoreBusyError:
    print("busy", flush=True)
else:
    print("done", flush=True)
"""
"""Puts files, says so, and goes on when it is told to."""


def writer(
    path: Path, name: str, count: int, patience: float = 0.0, stdin: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITE, str(path), name, str(count), str(patience)],
        env=environment(),
        stdin=stdin,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(store_path(str(tmp_path)))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
@pytest.mark.parametrize("count", [1, 6000])
def test_one_that_is_killed_leaves_what_there_was(file: Path, count: int) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% A run that fails or is killed MUST leave the index unchanged, and a failure MUST be recorded with its reason.
    with closing(open_store(str(file), create=True)) as store:
        fill(store)
        before = store.revision, store.artifacts(), frequencies(store, "kettle")
    with writer(file, "killed", count) as process:
        assert said(process) == "written"
        process.send_signal(signal.SIGKILL)
    with closing(open_store(str(file))) as store:
        assert (store.revision, store.artifacts(), frequencies(store, "kettle")) == before
        with store.writing() as writing:
            writing.put(taken("a.md", "kettle\n"))
        assert frequencies(store, "kettle") == {"kettle": 5}
    assert sorted(path.name for path in file.parent.iterdir()) == [".gitignore", "store.db"]


def test_of_two_at_once_one_waits_or_fails(file: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% A second run at the same time MUST say so, wait up to 10 seconds, and then fail.
    with writer(file, "first", 9) as first:
        assert said(first) == "written"
        with writer(file, "hasty", 1) as hasty:
            assert said(hasty) == "busy"
        with closing(open_store(str(file), create=True)) as store:
            assert store.artifacts() == {}
            with pytest.raises(StoreBusyError), store.writing(patience=0.05):
                pass
        with writer(file, "patient", 9, 30.0) as patient:
            first.communicate("\n", timeout=60)
            assert said(patient) == "written"
            patient.communicate("\n", timeout=60)
    with closing(open_store(str(file))) as store:
        assert sorted(store.artifacts()) == sorted(f"{name}/{n}" for name in ("first", "patient") for n in range(9))
        assert frequencies(store, "first", "patient", "hasty") == {"first": 9, "patient": 9, "hasty": 0}


def test_many_that_make_it_at_once(file: Path) -> None:
    processes = [writer(file, f"n{number}", 3, 60.0, subprocess.DEVNULL) for number in range(5)]
    for process in processes:
        with process:
            assert process.communicate(timeout=120)[0].split() == ["written", "done"]
    with closing(open_store(str(file))) as store:
        assert (len(store.artifacts()), store.chunk_total()) == (15, 15)
        assert len(store.lexical(["kettle"], ChunkFilters(), 99, every=True)) == 15
