import os
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest

from duvet.tree.cache import BlobStore
from duvet.tree.files import DiskTree
from tests.cli.command import Done
from tests.cli.damage import Damage, directory, holds, link, loop, missing, pipe, unreadable
from tests.cli.sample_project import KETTLE, SOURCE, make
from tests.edits import Edit, create, move, save_by_rename
from tests.unit.tree.random_changes import DAYS, EDITS, HOUSE, NOT_OWED, OPTIONS, fill
from tests.unit.tree.twins import LATER, SEEDS, Twins, comparable, report_here, run_here, state, tick

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes, locks and odd names")

if sys.platform != "win32":
    from fcntl import LOCK_EX, flock


@pytest.mark.seeded
@pytest.mark.parametrize("seed", range(SEEDS))
def test_cached_answers_stay_right_after_random_edits(seed: int, tmp_path: Path) -> None:
    ##= man/spec/cache.md#freshness
    ##% duvet MUST give the same answer with and without the cache.
    twins = Twins(tmp_path, fill)
    choice = random.Random(seed)
    usual = choice.sample(OPTIONS, 2)
    history: list[str] = []
    for _ in range(30):
        history += twins.change_some(EDITS, choice.choice((0, 0, 1, 1, 2)), choice)
        environ = choice.choice(({}, {}, {}, {}, {"LINK": "https://link"}, {"CI": "true"}))
        options = choice.choice(usual)
        now, day = twins.time(choice), choice.choice(DAYS)
        history.append(f"{options} {environ} {now} {day}")
        twins.check(history, *options, now=now, day=day, **environ)


def test_cached_answers_stay_right_when_days_pass(tmp_path: Path) -> None:
    twins = Twins(tmp_path, lambda folder: make(folder, {**HOUSE, ".duvet/config.toml": NOT_OWED}))
    days = (None, *DAYS, *DAYS[::-1])
    expired = [twins.check(day, now=LATER + run, day=day).err.count("[DUV080]") for run, day in enumerate(days)]
    assert expired == [0, 0, 0, 0, 1, 2, 2, 1, 0, 0, 0]


SAMPLES = int(os.environ.get("DUVET_SAMPLES", "3"))
"""At how many moments each change is tried."""


class Meddler(DiskTree):
    """A disk on which something changes right before the n-th read."""

    def __init__(self, moment: int, change: Callable[[], object]) -> None:
        super().__init__()
        self.moment = moment
        self.change = change
        self.looks = 0

    def at(self, path: str) -> str:
        self.looks += 1
        if self.looks == self.moment:
            self.change()
        return super().at(path)


def rewrite(name: str, old: str, new: str) -> Edit:
    def change(folder: Path) -> None:
        path = folder / name
        info = path.stat()
        path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))

    return change


WRONG = "//= spec.md#heating\n//# The kettle MUST cook tea.\n"
CHANGES: dict[str, Edit] = {
    "a source says something else": rewrite("src/a.rs", "boil", "cook"),
    "a source is another file": save_by_rename("src/a.rs", WRONG),
    "a source is gone": missing("src/a.rs"),
    "a source is new": create("src/deep/new.rs", WRONG),
    "a source is elsewhere": move("src/a.rs", "tests/a.rs"),
    "a folder is elsewhere": move("src/deep", "tests/deep"),
    "a wrong source is right": create("src/wrong.rs", WRONG.replace("cook tea", "boil water")),
    "a specification says something else": rewrite("spec.md", "boil", "cook"),
    "a specification is gone": missing("spec.md"),
    "git ignores a source": create("src/.gitignore", "a.rs"),
    "there is a repository that ignores a source": create(".git/info/exclude", "a.rs"),
    "there is a repository around that ignores a source": create("../.git/info/exclude", "a.rs"),
    "the configuration is another one": rewrite(".duvet/config.toml", "src/**/*.rs", "src/**/b.rs"),
    "a requirement file is by hand": create(".duvet/requirements/spec/heating.toml", "target = 'spec.md#pouring'"),
    "a stale requirement file": create(".duvet/requirements/spec/gone.toml", "target = 'spec.md#pouring'"),
    "an exception says something else": rewrite(".duvet/exceptions/e.toml", "whistle", "whisper"),
    "a report is changed": create(".duvet/snapshot.txt", "changed"),
    "a report is gone": lambda folder: (folder / ".duvet/reports/report.json").unlink(missing_ok=True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_cached_answers_stay_right_after_a_change_during_a_run(name: str, tmp_path: Path) -> None:
    choice = random.Random(name)
    for number in range(SAMPLES):
        folder = start(tmp_path / str(number))
        times = choice.choice(([None] * 4, [LATER + run for run in range(4)]))
        if choice.randrange(2):
            # What follows may know something from earlier.
            report_here(folder, now=times[0])
            create("src/deep/er/b.rs", "")(folder)
        tick(tmp_path)
        disk = Meddler(choice.randrange(2, 125), partial(CHANGES[name], folder))
        assert report_here(folder, now=times[1], disk=disk).code in (0, 1)
        if disk.looks < disk.moment:
            CHANGES[name](folder)
        for now in times[2:]:
            kept = report_here(folder, now=now)
            left = state(folder)
            plain = run_here(folder, "--no-cache", "report")
            assert (comparable(kept, folder), left) == (comparable(plain, folder), state(folder)), disk.moment


def start(folder: Path) -> Path:
    """Make a project with an error in one source, so that its position is needed."""
    config = HOUSE[".duvet/config.toml"].replace("[report.html]\n", "[report.html]\nenabled = false\n")
    return make(folder, {**HOUSE, ".duvet/config.toml": config, "src/wrong.rs": WRONG})


NAMES = ("annotations", "outputs", "report", "requirement-files", "requirements", "sections", "sources")
CACHE = ".duvet/cache"
CHANGED = {"src/a.rs": SOURCE.partition("\n\n")[0], "src/b.rs": "//= spec.md#pouring\n//# The spout MAY drip.\n"}
HELD: list[BinaryIO] = []


def cut(name: str) -> Damage:
    return lambda folder: os.truncate(folder / name, (folder / name).stat().st_size // 2)


def flip(name: str) -> Damage:
    def change(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / name).write_bytes(data)

    return change


def of_another(name: str) -> Damage:
    other = NAMES[NAMES.index(name.rpartition("/")[2]) - 1]
    return lambda folder: (folder / name).write_bytes((folder / CACHE / other).read_bytes())


def locked(name: str) -> Damage:
    def change(folder: Path) -> None:
        HELD.append((folder / name).open("rb"))
        flock(HELD[-1], LOCK_EX)

    return change


# What can stand in a file of the cache is tried with one file, in the tests of cache files.
DAMAGES: dict[str, Callable[[str], Damage]] = {
    "cut off": cut,
    "a bit": flip,
    "of another name": of_another,
    "locked": locked,
    "no rights": lambda name: lambda folder: (folder / name).chmod(0),
    "gone": missing,
    "folder": directory,
    "pipe": pipe,
    "link to nothing": lambda name: link(name, "nowhere"),
    "loop": loop,
    "fails when read": unreadable,
}
# These are left as they are.


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, dict[str, object]]:
    folder = make(tmp_path_factory.mktemp("plain") / "kettle", {**KETTLE, **CHANGED})
    return comparable(run_here(folder, "--no-cache", "report"), folder), state(folder)


def used(folder: Path) -> Path:
    """Make a project with a cache that is partly valid."""
    make(folder, KETTLE)
    report_here(folder, now=LATER)
    assert sorted(path.name for path in (folder / CACHE).iterdir()) == [".gitignore", *NAMES]
    return make(folder, CHANGED)


def answer(folder: Path, now: int) -> tuple[Done, dict[str, object]]:
    return comparable(report_here(folder, now=now), folder), state(folder)


@pytest.mark.parametrize(
    ("damage", "name"), [*((one, "all") for one in DAMAGES), ("gone", "report"), ("cut off", "report")]
)
def test_cached_answers_stay_right_with_a_damaged_cache_file(
    damage: str, name: str, right: tuple[Done, dict[str, object]], tmp_path: Path
) -> None:
    folder = used(tmp_path / "kettle")
    for one in NAMES if name == "all" else (name,):
        DAMAGES[damage](f"{CACHE}/{one}")(folder)
    for run in (1, 2):
        assert answer(folder, LATER + run) == right
    if damage not in {"folder", "pipe", "link to nothing", "loop", "fails when read"}:
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
def test_answers_stay_right_when_the_cache_is_not_a_folder(
    place: str, right: tuple[Done, dict[str, object]], tmp_path: Path
) -> None:
    folder = used(tmp_path / "kettle")
    (folder / CACHE).rename(folder.with_name("elsewhere"))
    PLACES[place](folder)
    for run in (1, 2):
        assert answer(folder, LATER + run) == right
    os.unlink(folder / CACHE)
    assert answer(folder, LATER + 4) == right


def test_the_cache_of_another_project_is_ignored(right: tuple[Done, dict[str, object]], tmp_path: Path) -> None:
    """It describes files with the same names, some of which are even the same files."""
    other = used(tmp_path / "other")
    (other / "spec.md").write_text("# Kettle\n")
    report_here(other, now=LATER + 1)
    folder = make(tmp_path / "kettle", {**KETTLE, **CHANGED})
    (folder / "src" / "a.rs").unlink()
    os.link(other / "src" / "a.rs", folder / "src" / "a.rs")
    (other / CACHE).rename(folder / CACHE)
    for run in (2, 3):
        assert answer(folder, LATER + run) == right
