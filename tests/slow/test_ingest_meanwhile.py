"""`duvet ingest` beside another run, ended, and while files come and go"""

from __future__ import annotations

import signal
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.ingesting import WITHOUT_VECTORS, known, ledger, started
from tests.cli.running import files, run
from tests.unit.knowledge.generated import written_tree
from tests.unit.knowledge.ingest.made import LEDGER, opened, written
from tests.unit.specs.serving import LONGEST

__all__ = ["ledger"]  # fixtures, which tests ask for by name


def test_a_second_run_waits_and_says_so(ledger: Path, duvet_command: str) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% A second run at the same time MUST say so, wait up to 10 seconds, and then fail.
    run(duvet_command, ledger, "ingest")
    with closing(opened(ledger)) as store, store.writing():
        waiting = started(duvet_command, ledger)
        assert waiting.stderr is not None
        assert waiting.stderr.readline().strip() == "Waiting for another run to end"
    _, err = waiting.communicate(timeout=LONGEST)
    assert waiting.returncode == 0 and "0 new, 0 changed, 0 removed" in err


def test_two_at_once_leave_what_one_would(tmp_path: Path, duvet_command: str) -> None:
    folder = written_tree(written(tmp_path, WITHOUT_VECTORS), 300)
    both = [started(duvet_command, folder) for _ in range(2)]
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
    ended = started(duvet_command, folder)
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
    going = started(duvet_command, folder)
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
