"""Whatever has become of the cache, the answer is what it is without one."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from duvet.tree.cache import BlobStore
from tests.cli.damage import Damage, directory, holds, link, loop, pipe, unreadable
from tests.cli.made import KETTLE, SOURCE, make
from tests.cli.running import Done
from tests.unit.cache.here import report_here, run_here
from tests.unit.cache.twins import LATER, comparable, state

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")

if sys.platform != "win32":
    from fcntl import LOCK_EX, flock

NAMES = ("annotations", "outputs", "report", "requirement-files", "requirements", "sections", "sources")
CACHE = ".duvet/cache"
CHANGED = {"src/a.rs": SOURCE.partition("\n\n")[0], "src/b.rs": "//= spec.md#pouring\n//# The spout MAY drip.\n"}


def cut(name: str, part: float) -> Damage:
    """A part of the file is all there is."""
    return lambda folder: os.truncate(folder / name, int((folder / name).stat().st_size * part))


def flip(name: str, seed: int) -> Damage:
    """A bit is not what it was."""

    def change(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        bit = random.Random(seed).randrange(len(data) * 8)
        data[bit // 8] ^= 1 << bit % 8
        (folder / name).write_bytes(data)

    return change


def overwrite(name: str, data: bytes, start: int) -> Damage:
    """Other bytes stand at some place."""

    def change(folder: Path) -> None:
        with (folder / name).open("r+b") as file:
            file.seek(start)
            file.write(data)

    return change


def rights(name: str, mode: int) -> Damage:
    return lambda folder: (folder / name).chmod(mode)


def of_another(name: str) -> Damage:
    """The file of another name stands there."""
    other = NAMES[NAMES.index(name.rpartition("/")[2]) - 1]
    return lambda folder: (folder / name).write_bytes((folder / CACHE / other).read_bytes())


def grown(name: str) -> Damage:
    """The file is larger than memory, with hardly anything on disk."""
    return lambda folder: os.truncate(folder / name, 1 << 40)


def locked(name: str) -> Damage:
    """Somebody holds a lock on the file."""

    def change(folder: Path) -> None:
        HELD.append((folder / name).open("rb"))
        flock(HELD[-1], LOCK_EX)

    return change


HELD: list[BinaryIO] = []
DAMAGES: dict[str, Callable[[str], Damage]] = {
    "empty": lambda name: cut(name, 0),
    "cut off early": lambda name: cut(name, 0.1),
    "cut off in the middle": lambda name: cut(name, 0.5),
    "cut off late": lambda name: cut(name, 0.99),
    "a bit": lambda name: flip(name, 1),
    "another bit": lambda name: flip(name, 2),
    "one more bit": lambda name: flip(name, 3),
    "not ours": lambda name: holds(name, b"hello"),
    "of another build": lambda name: overwrite(name, bytes(32), 12),
    "of another name": of_another,
    "huge": grown,
    "locked": locked,
    "no rights": lambda name: rights(name, 0),
    "folder": directory,
    "pipe": pipe,
    "link to nothing": lambda name: link(name, "nowhere"),
    "loop": loop,
    "fails when read": unreadable,
    "gone": lambda name: lambda folder: (folder / name).unlink(),
}
# These are left as they are.
LASTING = {"folder", "pipe", "link to nothing", "loop", "fails when read"}


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, dict[str, object]]:
    """The answer without a cache, and the files that there are then."""
    folder = make(tmp_path_factory.mktemp("plain") / "kettle", {**KETTLE, **CHANGED})
    return comparable(run_here(folder, "--no-cache", "report"), folder), state(folder)


def used(folder: Path) -> Path:
    """A project with a cache of which a part still holds."""
    make(folder, KETTLE)
    report_here(folder, now=LATER)
    assert sorted(path.name for path in (folder / CACHE).iterdir()) == [".gitignore", *NAMES]
    return make(folder, CHANGED)


def answer(folder: Path, now: int) -> tuple[Done, dict[str, object]]:
    return comparable(report_here(folder, now=now), folder), state(folder)


@pytest.mark.parametrize("name", ["report", "annotations", "all"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file(damage: str, name: str, right: tuple[Done, dict[str, object]], tmp_path: Path) -> None:
    folder = used(tmp_path / "kettle")
    for one in NAMES if name == "all" else (name,):
        DAMAGES[damage](f"{CACHE}/{one}")(folder)
    for run in range(1, 4):
        assert answer(folder, LATER + run) == right
    if damage not in LASTING:
        blobs = BlobStore(str(folder / CACHE))
        assert [one for one in NAMES if blobs.load(one, object) is None] == []
        assert "Checked that nothing has changed" in report_here(folder, now=LATER + 5).err


PLACES: dict[str, Damage] = {
    "a file": holds(CACHE, b"hello"),
    "a pipe": pipe(CACHE),
    "a link": link(CACHE, "../elsewhere"),
    "a link to nothing": link(CACHE, "nowhere"),
    "a loop": loop(CACHE),
    "a link to a file": link(CACHE, "config.toml"),
}


@pytest.mark.parametrize("place", PLACES)
def test_something_in_the_place_of_the_cache(place: str, right: tuple[Done, dict[str, object]], tmp_path: Path) -> None:
    folder = used(tmp_path / "kettle")
    (folder / CACHE).rename(folder.with_name("elsewhere"))
    PLACES[place](folder)
    for run in range(1, 4):
        assert answer(folder, LATER + run) == right
    os.unlink(folder / CACHE)
    assert answer(folder, LATER + 4) == right


def test_the_cache_of_another_project(right: tuple[Done, dict[str, object]], tmp_path: Path) -> None:
    """It is about files of the same names, some of which are even the same files."""
    other = used(tmp_path / "other")
    (other / "spec.md").write_text("# Kettle\n")
    report_here(other, now=LATER + 1)
    folder = make(tmp_path / "kettle", {**KETTLE, **CHANGED})
    (folder / "src" / "a.rs").unlink()
    os.link(other / "src" / "a.rs", folder / "src" / "a.rs")
    (other / CACHE).rename(folder / CACHE)
    for run in range(2, 4):
        assert answer(folder, LATER + run) == right
