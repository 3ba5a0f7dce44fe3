"""Runs that go wrong, and what goes on beside a run."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from duvet.errors import DuvetError
from duvet.knowledge.ingest.run import ingest_project
from duvet.knowledge.settings import IngestOptions
from duvet.progress import Progress
from duvet.project.project import Project
from duvet.store.database import StoreBusyError
from duvet.trace.catalogue import Catalogue
from tests.unit.knowledge.ingest.made import LEDGER, PLAIN, found, last, opened, taken, written


def test_a_trace_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% `duvet ingest` MUST continue with a warning when git fails or the trace cannot be read.
    folder = written(tmp_path, {**LEDGER, ".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\nsource = 1\n"})
    outcome = taken(folder)
    assert outcome.run.success and outcome.run.chunk_count == 7
    assert [words.partition(":")[0] for words in outcome.run.warnings] == [".duvet/config.toml"]


def test_a_run_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% A run that fails or is killed MUST leave the index unchanged, and a failure MUST be recorded with its reason.
    folder = written(tmp_path, LEDGER)
    taken(folder)
    with closing(opened(folder)) as store:
        before = store.artifacts()
    written(folder, {"tool.sh": "echo other\n", "subsystems.yaml": "a: 1\n"})
    with pytest.raises(DuvetError, match="invalid type"):
        taken(folder)
    with closing(opened(folder)) as store:
        assert store.artifacts() == before and found(folder, "other") == []
        failed = store.runs(limit=1)[0]
    assert not failed.success and failed.error.startswith("subsystems.yaml:1: ")


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ValueError("a \udcff"), "ValueError: a \\xff"), (KeyboardInterrupt(), "KeyboardInterrupt")],
)
def test_a_run_that_fails_in_a_way_that_nobody_thought_of(tmp_path: Path, error: BaseException, reason: str) -> None:
    folder = written(tmp_path, LEDGER)
    taken(folder)
    written(folder, {"tool.sh": "echo other\n"})

    def catalogue() -> Catalogue:
        raise error

    with pytest.raises(type(error)):
        taken(folder, catalogue=catalogue)
    assert (last(folder).success, last(folder).error, found(folder, "other")) == (False, reason, [])


def test_whoever_asks_meanwhile_is_answered_as_before(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% Readers MUST see the last completed run, and MUST NOT wait for one in progress.
    folder = written(tmp_path, LEDGER)
    taken(folder)
    written(folder, {"tool.sh": "echo other\n"})
    asked: list[list[str]] = []

    class Asking(Progress):
        """Asks once the files are written down."""

        def end(self, outcome: str) -> None:
            if outcome.startswith("Read "):
                asked.extend((found(folder, "echo"), found(folder, "other")))

    with closing(opened(folder)) as store:
        ingest_project(Project(str(folder), environ={}, progress=Asking()), store, PLAIN)
    assert asked == [["tool.sh::0"], []]
    assert found(folder, "other") == ["tool.sh::0"]


def test_a_run_waits_for_another_one_only_for_a_while(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% A second run at the same time MUST say so, wait up to 10 seconds, and then fail.
    assert IngestOptions().patience == 10
    folder = written(tmp_path, LEDGER)
    with closing(opened(folder)) as store, store.writing(), pytest.raises(StoreBusyError):
        taken(folder, wishes=IngestOptions(patience=0.1))
    assert taken(folder).run.success
