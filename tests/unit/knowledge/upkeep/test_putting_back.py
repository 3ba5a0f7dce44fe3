"""Stores that are put in the place of others, whatever else happens to these meanwhile."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from duvet.knowledge.backup import create_backup
from duvet.knowledge.restore import restore_backup, swap_store
from duvet.knowledge.settings import StorePaths
from duvet.store.database import StoreBusyError
from duvet.store.location import open_store
from duvet.store.records import IngestRun
from tests.unit.knowledge.stored import fill
from tests.unit.knowledge.upkeep.made import CLOCK, STAMP, places
from tests.unit.store.contents import everything
from tests.unit.store.made import taken


@pytest.fixture
def kept(tmp_path: Path) -> StorePaths:
    return places(fill(tmp_path / "tea"))


@pytest.fixture
def copy(kept: StorePaths, tmp_path: Path) -> str:
    path = str(tmp_path / "copy.db")
    with closing(open_store(kept.store)) as store:
        store.copy_to(path)
    return path


def run(kept: StorePaths, name: str) -> None:
    """One that has found nothing new."""
    with closing(open_store(kept.store)) as store, store.writing() as writing:
        writing.put_run(IngestRun(run_id=name, profile="local", started_at=1.0))


def runs(path: str) -> list[str]:
    with closing(open_store(path)) as store:
        return [one.run_id for one in store.runs()]


def test_a_run_that_ends_meanwhile_is_kept(kept: StorePaths, copy: str) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `duvet restore` MUST restore the feedback, replace the index in one step even while servers use it, and first
    ##% save what it replaces unless `--force` is given.
    names = iter(["late", "later"])

    def keep() -> str:
        path = create_backup(kept, kept.backups, CLOCK).path
        for name in names:
            run(kept, name)
            break
        return path

    archive = swap_store(kept, copy, keep, "", 1.0)
    assert runs(kept.store) == ["r1"]
    assert os.listdir(kept.backups) == [os.path.basename(archive)]
    restore_backup(kept, archive, CLOCK, keeps=False)
    assert runs(kept.store) == ["later", "late", "r1"]


def test_runs_that_never_end(kept: StorePaths, copy: str) -> None:
    def keep() -> str:
        path = create_backup(kept, kept.backups, CLOCK).path
        run(kept, path)
        return path

    with pytest.raises(StoreBusyError, match="again and again"):
        swap_store(kept, copy, keep, "", 1.0)
    assert (len(runs(kept.store)), os.listdir(kept.backups)) == (6, [])


@pytest.mark.parametrize("keeps", [True, False])
def test_what_is_left_of_a_store_that_is_gone(kept: StorePaths, tmp_path: Path, keeps: bool) -> None:
    archive = create_backup(kept, str(tmp_path / "a.tgz"), CLOCK).path
    with closing(open_store(kept.store)) as store:
        before = everything(store)
        with store.writing() as writing:
            for number in range(50):
                writing.put(taken(f"new/{number}.md", f"kettle {number}\n" * 500))
        with closing(open_store(kept.store)) as reader, reader.reading():
            reader.chunk_total()
            # Who reads has it stay where it is.
            with store.writing() as writing:
                writing.remove("docs/tea.md")
            log = Path(f"{kept.store}-wal").read_bytes()
    assert len(log) > 32
    os.unlink(kept.store)
    Path(f"{kept.store}-wal").write_bytes(log)
    found = restore_backup(kept, archive, CLOCK, keeps=keeps)
    with closing(open_store(kept.store)) as store:
        assert everything(store) == before
    if keeps:
        assert os.path.basename(found.kept).startswith(f"km-backup-replaced-{STAMP}")
        assert Path(found.kept, "store.db-wal").read_bytes() == log
    else:
        assert (found.kept, os.listdir(kept.backups)) == ("", [])
