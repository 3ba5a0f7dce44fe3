import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import NOBODY, Run, run, runner
from tests.cli.indexed_project import WITHOUT_VECTORS
from tests.cli.sample_project import KETTLE, make
from tests.cli.watch_process import Watch, Watched
from tests.conftest import ROOT
from tests.unit.knowledge.ingest.ingest_projects import LEDGER, written
from tests.unit.llm.conftest import wire
from tests.unit.queries.query_projects import FILES

__all__ = ["wire"]  # a fixture, which tests ask for by name


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    project: dict[str, str] | None = getattr(request.module, "PROJECT", None)
    return make(tmp_path / "project", project) if project else make(tmp_path / "kettle", KETTLE)


@pytest.fixture
def kettle(folder: Path) -> Path:
    return folder


@pytest.fixture
def duvet(duvet_command: str, folder: Path) -> Run:
    return runner(duvet_command, folder)


@pytest.fixture
def tea(duvet_command: str, tmp_path: Path) -> Run:
    return runner(duvet_command, make(tmp_path / "tea", FILES))


@pytest.fixture
def gold(request: pytest.FixtureRequest, snapshot: Snapshot) -> Snapshot:
    snapshot.snapshot_dir = ROOT / "tests/gold" / request.module.__name__.rpartition("test_")[2]
    return snapshot


@pytest.fixture(scope="session")
def reported_once(duvet_command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make(tmp_path_factory.mktemp("reported") / "kettle", KETTLE)
    assert runner(duvet_command, folder)("report").code == 0
    return folder


@pytest.fixture
def public(duvet_command: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as temporary:
        os.chmod(temporary, 0o755)
        folder = make(Path(temporary) / "kettle", KETTLE)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, *((65534, 65534) if NOBODY else (-1, -1)))
        try:
            done = run(duvet_command, folder, "-q", "report", before=NOBODY)
        except FileNotFoundError:
            pytest.skip("no setpriv to step down with")
        if done.code:
            pytest.skip(f"a user without rights can't run the command: {done.err}")
        yield folder


@pytest.fixture
def reported(reported_once: Path, kettle: Path) -> Path:
    shutil.copytree(reported_once, kettle, dirs_exist_ok=True)
    return kettle


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return written(tmp_path / "ledger", {**LEDGER, **WITHOUT_VECTORS})


@pytest.fixture
def unread() -> Iterator[int]:
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.fixture
def watch(kettle: Path, duvet_command: str) -> Iterator[Watch]:
    begun: list[Watched] = []

    def begin(*args: str, **environ: str) -> Watched:
        begun.append(Watched(duvet_command, kettle, *args, **environ))
        return begun[-1]

    yield begin
    for one in begun:
        one.end()
