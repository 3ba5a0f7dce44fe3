import signal
import subprocess
from contextlib import closing
from pathlib import Path

from tests.cli.command import files, run, start
from tests.cli.indexed_project import WITHOUT_VECTORS, list_indexed_files
from tests.unit.knowledge.generated_tree import written_tree
from tests.unit.knowledge.ingest.ingest_projects import LEDGER, opened, written
from tests.unit.specs.download_server import LONGEST


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
    process = start(command, folder, "ingest", "--verbose")
    assert process.stderr is not None
    for line in process.stderr:
        if "Reading files" in line:
            break
    return process


def test_interrupted_runs_change_nothing(tmp_path: Path, duvet_command: str) -> None:
    folder = written(tmp_path, {**LEDGER, **WITHOUT_VECTORS})
    run(duvet_command, folder, "ingest")
    before = list_indexed_files(folder)
    written_tree(folder, 1500)
    for how in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        ended = start_reading(duvet_command, folder)
        ended.send_signal(how)
        ended.communicate(timeout=LONGEST)
        assert ended.returncode != 0
        assert list_indexed_files(folder) == before
    assert run(duvet_command, folder, "ingest").code == 0 and len(list_indexed_files(folder)) == len(before) + 1501


def test_files_that_are_removed_during_a_run(tmp_path: Path, duvet_command: str) -> None:
    folder = written_tree(written(tmp_path, WITHOUT_VECTORS), 1000)
    going = start_reading(duvet_command, folder)
    for path in (folder / "tests").rglob("*.py"):
        path.unlink()
    _, err = going.communicate(timeout=LONGEST)
    assert going.returncode == 0, err
    run(duvet_command, folder, "ingest")
    assert list_indexed_files(folder) == sorted(path for path in files(folder) if not path.startswith(".duvet/"))
