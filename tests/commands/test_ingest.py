"""`duvet ingest`, as people see it."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from duvet.store.opening import open_store
from tests.commands.running import NOBODY, environment, files, listen, run
from tests.knowledge.generated import written_tree
from tests.knowledge.ingest.made import LEDGER, opened, written
from tests.specs.serving import LONGEST

WITHOUT_VECTORS = {"duvet.config.yaml": "ingest: {semantic: false}\n"}
STORE = ".duvet/knowledge/store.db"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return written(tmp_path / "ledger", {**LEDGER, **WITHOUT_VECTORS})


def known(folder: Path) -> list[str]:
    with closing(opened(folder)) as store:
        return list(store.artifacts())


def test_what_is_said(ledger: Path, duvet_command: str) -> None:
    first = run(duvet_command, ledger, "ingest", "--profile", "nightly")
    assert first.code == 0 and first.out == ""
    lines = [line.strip() for line in first.err.splitlines()]
    assert lines[:4] == [
        "Looking for files",
        "Found 8 files",
        "Reading files",
        "Read 8 files that are new or have changed",
    ]
    assert lines[4] == "holds 8 files (3 code, 2 config, 2 doc, 1 test) in 8 pieces"
    assert lines[5].startswith("8 new, 0 changed, 0 removed; run ") and " of profile nightly, " in lines[5]
    # Nobody wants vectors here, and nobody is told to install what makes them.
    assert len(lines) == 6
    assert run(duvet_command, ledger, "-q", "ingest") == (0, "", "")


def test_json(ledger: Path, duvet_command: str) -> None:
    done = run(duvet_command, ledger, "-q", "ingest", "--format", "json", "--dry-run")
    found = json.loads(done.out)
    assert done.err == "" and not (ledger / STORE).exists()
    assert sorted(found) == [
        "added_files",
        "artifact_counts",
        "changed",
        "changed_files",
        "chunk_count",
        "dry_run",
        "duration_seconds",
        "error",
        "profile",
        "removed",
        "repo_head",
        "run_id",
        "started_at",
        "success",
        "warnings",
    ]
    assert found["added_files"] == sorted({**LEDGER, **WITHOUT_VECTORS}) and found["dry_run"] is True


def test_a_dry_run_lists_what_would_change(ledger: Path, duvet_command: str) -> None:
    run(duvet_command, ledger, "ingest")
    (ledger / "tool.sh").rename(ledger / "tools.sh")
    (ledger / "docs/spec.md").unlink()
    written(ledger, {"src/app/mail/send.py": "def other(): ...\n"})
    said = run(duvet_command, ledger, "-q", "ingest", "--dry-run", "--format", "json")
    assert json.loads(said.out)["changed_files"] == ["src/app/mail/send.py"]
    would = [line for line in run(duvet_command, ledger, "ingest", "--dry-run").err.splitlines() if "would" in line]
    assert would == [
        "would add tools.sh",
        "would read again src/app/mail/send.py",
        "would forget docs/spec.md",
        "would forget tool.sh -> tools.sh",
        "would hold 7 files (3 code, 2 config, 1 doc, 1 test) in 7 pieces",
    ]


def test_mistakes(ledger: Path, duvet_command: str) -> None:
    assert "can't be the name of a profile" in run(duvet_command, ledger, "ingest", "--profile", "a b").err
    written(ledger, {"duvet.config.yaml": "ingest: {symbol: true}\n"})
    done = run(duvet_command, ledger, "ingest")
    assert done.code == 1 and "ingest.symbol: unknown field `symbol`" in done.err
    assert not (ledger / STORE).exists()


def test_a_second_run_waits_and_says_so(ledger: Path, duvet_command: str) -> None:
    ##= man/spec/knowledge.md#runs
    ##= type=test
    ##% A second run at the same time MUST wait for the first for up to 10 seconds, MUST say so, and then fail.
    run(duvet_command, ledger, "ingest")
    with closing(opened(ledger)) as store, store.writing():
        waiting = _started(duvet_command, ledger)
        assert waiting.stderr is not None
        assert waiting.stderr.readline().strip() == "Waiting for another run to end"
    _, err = waiting.communicate(timeout=LONGEST)
    assert waiting.returncode == 0 and "0 new, 0 changed, 0 removed" in err


def test_two_at_once_leave_what_one_would(tmp_path: Path, duvet_command: str) -> None:
    ##= man/spec/knowledge.md#store
    ##= type=test
    ##% Of two runs at once, one MUST wait, or fail and say that somebody else is writing.
    folder = written_tree(written(tmp_path, WITHOUT_VECTORS), 300)
    both = [_started(duvet_command, folder) for _ in range(2)]
    for one in both:
        one.communicate(timeout=LONGEST)
    assert [one.returncode for one in both] == [0, 0]
    assert len(known(folder)) == 302
    with closing(opened(folder)) as store:
        assert sorted(run.changed for run in store.runs()) == [0, 302]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_leaves_the_store_as_it_was(
    how: signal.Signals, tmp_path: Path, duvet_command: str
) -> None:
    folder = written(tmp_path, {**LEDGER, **WITHOUT_VECTORS})
    run(duvet_command, folder, "ingest")
    before = known(folder)
    written_tree(folder, 3000)
    ended = _started(duvet_command, folder)
    assert ended.stderr is not None
    for line in ended.stderr:
        if "Reading files" in line:
            break
    ended.send_signal(how)
    ended.communicate(timeout=LONGEST)
    assert ended.returncode != 0
    assert known(folder) == before
    done = run(duvet_command, folder, "ingest")
    assert done.code == 0 and len(known(folder)) == len(before) + 3001


def test_files_that_come_and_go_meanwhile(tmp_path: Path, duvet_command: str) -> None:
    folder = written_tree(written(tmp_path, WITHOUT_VECTORS), 2000)
    going = _started(duvet_command, folder)
    assert going.stderr is not None
    for line in going.stderr:
        if "Reading files" in line:
            break
    gone = sorted(path for path in (folder / "tests").rglob("*.py"))
    for path in gone:
        path.unlink()
    _, err = going.communicate(timeout=LONGEST)
    assert going.returncode == 0, err
    run(duvet_command, folder, "ingest")
    assert known(folder) == sorted(path for path in files(folder) if not path.startswith(".duvet/"))


def test_a_file_that_may_not_be_read(public: Path, duvet_command: str) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% A file that is empty, larger than `ingest.maxFileBytes`, no UTF-8 text, or that can't be read MUST be kept by its
    ##% name alone; the last one with a warning.
    written(public, {"secret.md": "x", **WITHOUT_VECTORS})
    (public / "secret.md").chmod(0)
    done = run(duvet_command, public, "-q", "ingest", "--format", "json", before=NOBODY)
    assert done.code == 0
    assert json.loads(done.out)["warnings"] == ["secret.md: Permission denied (os error 13)"]
    with closing(opened(public)) as store:
        assert store.artifacts()["secret.md"].skipped == "unreadable"


def torn(data: bytes) -> bytes:
    """Much of every block of a file is others."""
    chance = random.Random(1)
    return b"".join(
        data[at : at + 100] + chance.randbytes(800) + data[at + 900 : at + 4096] for at in range(0, len(data), 4096)
    )


@pytest.mark.parametrize(
    "damage", [torn, lambda data: b"no database at all\n" * 100, lambda data: data[: len(data) // 2]]
)
def test_a_store_that_is_damaged_is_replaced(
    damage: Callable[[bytes], bytes], ledger: Path, duvet_command: str
) -> None:
    ##= man/spec/knowledge.md#runs
    ##= type=test
    ##% With `--full`, a store that is damaged MUST be replaced, unless it may be a file of another program.
    assert run(duvet_command, ledger, "ingest").code == 0
    before = known(ledger)
    for elsewhere in (False, True):
        if elsewhere:
            written(ledger, {"duvet.config.yaml": "ingest: {semantic: false}\nstore: {path: kept/all.db}\n"})
            assert run(duvet_command, ledger, "ingest").code == 0
        file = ledger / ("kept/all.db" if elsewhere else STORE)
        written(ledger, {str(file.relative_to(ledger)): damage(file.read_bytes())})
        told = run(duvet_command, ledger, "ingest")
        assert told.code == 1 and "Traceback" not in told.err and "it is damaged" in told.err and file.name in told.err
        is_ours = not elsewhere or file.read_bytes().startswith(b"SQLite")
        assert ("`duvet ingest --full` replaces it" in told.err) is is_ours
        assert run(duvet_command, ledger, "ingest", "--full", "--dry-run").code == (0 if is_ours else 1)
        done = run(duvet_command, ledger, "ingest", "--full")
        assert (done.code, "Replacing" in done.err) == ((0, True) if is_ours else (1, False))
        if is_ours:
            with closing(open_store(str(file))) as store:
                assert list(store.artifacts()) == before


def test_a_dry_run_does_not_mind_a_store_of_an_older_duvet(ledger: Path, duvet_command: str) -> None:
    ##= man/spec/knowledge.md#runs
    ##= type=test
    ##% A dry run MUST take a store that the next run replaces for one that isn't there.
    run(duvet_command, ledger, "ingest")
    with closing(sqlite3.connect(ledger / STORE)) as database:
        database.execute("PRAGMA user_version=1")
    before = (ledger / STORE).read_bytes()
    done = run(duvet_command, ledger, "ingest", "--dry-run")
    assert done.code == 0 and "8 new, 0 changed, 0 removed" in done.err
    assert (ledger / STORE).read_bytes() == before
    with closing(sqlite3.connect(ledger / STORE)) as database:
        database.execute("PRAGMA user_version=99")
    assert run(duvet_command, ledger, "ingest", "--dry-run").code == 1


def test_a_folder_inside_of_a_project(ledger: Path, duvet_command: str) -> None:
    ##= man/spec/knowledge.md#runs
    ##= type=test
    ##% In a folder that is no project, below one that is, `duvet ingest` and the error that nothing was taken in yet MUST name
    ##% that one, and `-C`.
    inner = ledger / "src/app"
    asked = run(duvet_command, inner, "call", "--pack", "knowledge", "km-search", "--query", "x")
    assert asked.code == 1 and "nothing was taken in" in asked.err and "`duvet -C ../.. call`" in asked.err
    first = run(duvet_command, inner, "ingest", "--dry-run")
    assert first.code == 0 and "warning: this folder is taken for a project of its own" in first.err
    assert "`duvet -C ../.. ingest`" in first.err
    (inner / ".duvet").mkdir()
    assert "-C" not in run(duvet_command, inner, "ingest", "--dry-run").err
    assert "-C" not in run(duvet_command, ledger, "ingest", "--dry-run").err


def test_the_folder_can_be_removed(ledger: Path, duvet_command: str) -> None:
    run(duvet_command, ledger, "ingest")
    first = known(ledger)
    for path in (ledger / ".duvet/knowledge").iterdir():
        path.unlink()
    assert run(duvet_command, ledger, "ingest").code == 0 and known(ledger) == first
    with closing(sqlite3.connect(ledger / STORE)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _started(command: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [command, "ingest"],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listen,  # noqa: PLW1509 - there are no threads that hold anything
    )
