"""How much room a restore needs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duvet.errors import OutputError
from duvet.knowledge.backup import create_backup
from duvet.knowledge.restore import advise_force, restore_backup
from duvet.knowledge.settings import StorePaths
from duvet.store.location import open_store
from tests.unit.knowledge.stored import fill
from tests.unit.knowledge.upkeep.made import CLOCK, asked, places
from tests.unit.store.made import taken

FORCE = "make room, or keep no backup of what is there, with --force"


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[StorePaths]:
    """On a small disk of its own."""
    found = places(tmp_path / "tea")
    os.makedirs(found.folder)
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", found.folder]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk of its own")
    try:
        fill(tmp_path / "tea")
        yield found
    finally:
        subprocess.run(["umount", found.folder], check=True)


def large(kept: StorePaths) -> int:
    """Have more in the store, which hardly can be packed; its size."""
    with closing(open_store(kept.store)) as store, store.writing() as writing:
        writing.put(taken("large.md", "\n".join(os.urandom(500).hex() for _ in range(2000))))
    return os.path.getsize(kept.store)


def leave(kept: StorePaths, size: int) -> Path:
    """Let so many bytes be free."""
    filler = Path(kept.folder, "filler")
    filler.write_bytes(bytes(shutil.disk_usage(kept.folder).free - size))
    return filler


@pytest.mark.parametrize("share", [2.1, 2.5, 3.2])
def test_a_backup_of_as_much_as_is_there(kept: StorePaths, tmp_path: Path, share: float) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `duvet restore` MUST change nothing for an archive that contains anything but a backup, differs from its
    ##% manifest, or does not fit on the disk.
    size = large(kept)
    before, archive = asked(kept.store), create_backup(kept, str(tmp_path / "a.tgz"), CLOCK).path
    with closing(open_store(kept.store)) as store, store.writing() as writing:
        writing.remove("docs/tea.md")
    after = asked(kept.store)
    leave(kept, int(share * size))
    if share < 3:
        with pytest.raises(OutputError, match="there is no room for this backup and one of what is there") as caught:
            restore_backup(kept, archive, CLOCK)
        assert (caught.value.path, caught.value.hint) == (kept.folder, FORCE)
        assert sorted(os.listdir(kept.folder)) == [".gitignore", "filler", "store.db"]
        assert asked(kept.store) == after != before
    restore_backup(kept, archive, CLOCK, keeps=share > 3)
    assert asked(kept.store) == before


@pytest.mark.parametrize("keeps", [True, False])
def test_a_backup_of_more_than_is_there(kept: StorePaths, tmp_path: Path, keeps: bool) -> None:
    before, small = asked(kept.store), create_backup(kept, str(tmp_path / "small.tgz"), CLOCK).path
    size = large(kept)
    archive = create_backup(kept, str(tmp_path / "a.tgz"), CLOCK).path
    restore_backup(kept, small, CLOCK, keeps=False)
    filler = leave(kept, int(2.8 * size))
    with pytest.raises(OutputError, match="there is no room for this backup") as caught:
        restore_backup(kept, archive, CLOCK, keeps=keeps)
    assert (caught.value.hint, asked(kept.store)) == ("make room", before)
    filler.unlink()
    leave(kept, int(3.3 * size))
    restore_backup(kept, archive, CLOCK, keeps=keeps)
    assert "large.md" in asked(kept.store, lambda store: store.artifacts())


def test_room_that_is_gone_meanwhile(kept: StorePaths) -> None:
    leave(kept, 1 << 16)
    with pytest.raises(OutputError) as caught, advise_force():
        create_backup(kept, kept.backups, CLOCK)
    assert caught.value.hint == FORCE
