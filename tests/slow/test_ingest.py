"""`duvet ingest` and its reports: repeated, interrupted, and during changes."""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import files, run, start
from tests.cli.indexed_project import WITHOUT_VECTORS, list_indexed_files
from tests.histories import ENVIRON, git
from tests.unit.knowledge.generated_tree import written_tree
from tests.unit.knowledge.ingest.ingest_projects import LEDGER, opened, written
from tests.unit.specs.download_server import LONGEST


def commit(folder: Path, when: str = "") -> None:
    git(folder, "add", "--all")
    dates = {name: when for name in ENVIRON if name.endswith("_DATE") and when}
    environ = {name: value for name, value in ENVIRON.items() if not name.endswith("_DATE")}
    command = ["git", "commit", "--quiet", "--allow-empty", "--message=change"]
    subprocess.run(command, cwd=folder, env={**environ, **dates}, check=True)


def lifecycle(command: str, folder: Path) -> dict[str, Any]:
    """Return the report after another run, with paths instead of nodes."""
    assert run(command, folder, "-q", "ingest")[::2] == (0, "")
    asked = ("call", "--pack", "knowledge", "km-lifecycle-report", "--limit", "1000")
    told = json.loads(run(command, folder, *asked).out)
    assert told["status"] == "ok"
    return {
        "isolated": {label: [one["path"] for one in nodes] for label, nodes in told["isolated"].items() if nodes},
        "stale": [one["path"] for one in told["stale_docs"]],
        "untested": [one["subsystem"] for one in told["missing_tests"]],
        "removed": {one["path"]: one["status"] for one in told["removed_artifacts"]},
    }


def test_the_lifecycle_report_follows_changes(tmp_path: Path, duvet_command: str) -> None:
    folder, old = written(written_tree(tmp_path, 160), WITHOUT_VECTORS), "docs/pricing/old.md"
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    written(folder, {old: "# Old\n"})
    commit(folder, "2020-01-01T00:00:00Z")
    whole = lifecycle(duvet_command, folder)
    # The numbers of their files are never those of tests.
    untested = whole["untested"]
    assert whole == {"isolated": {}, "stale": [old], "untested": untested, "removed": {}}

    kept, moved = (
        min((folder / name).iterdir()).relative_to(folder).as_posix() for name in ("docs/billing", "src/gateway")
    )
    text = (folder / kept).read_text()
    (folder / kept).unlink()
    (folder / moved).rename(folder / "src/gateway/moved.txt")
    written(folder, {"src/lonely/a.py": "x = 1\n", "stray.sh": "echo\n", old: "# Written anew\n"})
    commit(folder)
    assert lifecycle(duvet_command, folder) == {
        "isolated": {"SourceFile": ["stray.sh"]},
        "stale": [],
        "untested": sorted([*untested, "lonely"]),
        "removed": {kept: "deleted", moved: "renamed"},
    }

    written(folder, {kept: text, "tests/lonely/test_a.py": "assert True\n"})
    (folder / "stray.sh").unlink()
    (folder / "src/gateway/moved.txt").rename(folder / moved)
    for removed in ({"stray.sh": "deleted", "src/gateway/moved.txt": "renamed"}, {}):
        commit(folder)
        found = lifecycle(duvet_command, folder)
        assert found == {"isolated": {}, "stale": [], "untested": untested, "removed": removed}


def test_a_second_run_waits_and_says_so(ledger: Path, duvet_command: str) -> None:
    run(duvet_command, ledger, "ingest")
    with closing(opened(ledger)) as store, store.writing():
        waiting = start(duvet_command, ledger, "ingest")
        assert waiting.stderr is not None
        assert waiting.stderr.readline().strip() == "Waiting for another ingest run to finish"
    _, err = waiting.communicate(timeout=LONGEST)
    assert waiting.returncode == 0 and "0 new, 0 changed, 0 removed" in err


def test_two_runs_at_once_index_what_one_would(tmp_path: Path, duvet_command: str) -> None:
    folder = written_tree(written(tmp_path, WITHOUT_VECTORS), 300)
    both = [start(duvet_command, folder, "ingest") for _ in range(2)]
    for one in both:
        one.communicate(timeout=LONGEST)
    assert [one.returncode for one in both] == [0, 0]
    assert len(list_indexed_files(folder)) == 302
    with closing(opened(folder)) as store:
        assert sorted(run.changed for run in store.runs()) == [0, 302]


def start_reading(command: str, folder: Path) -> subprocess.Popen[str]:
    """Start a run, and return once it reads files."""
    process = start(command, folder, "ingest")
    assert process.stderr is not None
    for line in process.stderr:
        if "Reading files" in line:
            break
    return process


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_changes_nothing(how: signal.Signals, tmp_path: Path, duvet_command: str) -> None:
    folder = written(tmp_path, {**LEDGER, **WITHOUT_VECTORS})
    run(duvet_command, folder, "ingest")
    before = list_indexed_files(folder)
    written_tree(folder, 3000)
    ended = start_reading(duvet_command, folder)
    ended.send_signal(how)
    ended.communicate(timeout=LONGEST)
    assert ended.returncode != 0
    assert list_indexed_files(folder) == before
    done = run(duvet_command, folder, "ingest")
    assert done.code == 0 and len(list_indexed_files(folder)) == len(before) + 3001


def test_files_that_are_removed_during_a_run(tmp_path: Path, duvet_command: str) -> None:
    folder = written_tree(written(tmp_path, WITHOUT_VECTORS), 2000)
    going = start_reading(duvet_command, folder)
    gone = sorted(path for path in (folder / "tests").rglob("*.py"))
    for path in gone:
        path.unlink()
    _, err = going.communicate(timeout=LONGEST)
    assert going.returncode == 0, err
    run(duvet_command, folder, "ingest")
    assert list_indexed_files(folder) == sorted(path for path in files(folder) if not path.startswith(".duvet/"))
