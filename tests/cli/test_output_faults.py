"""Outputs that can't be written: each is named, the exit code is 1, and no file of the run is replaced."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.damage import Damage, directory, holds, link, loop, pipe
from tests.cli.made import CONFIG, SOURCE, make
from tests.cli.running import NOBODY, Done, Run, files, run, runner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the words and devices of Linux")

PAGE = ".duvet/reports/report.html"


def refused(reason: str, path: str, hint: str = "") -> str:
    """What a report says when it can't write a file."""
    help = f"  = help: {hint}\n" if hint else ""
    return f"error: can't write this file: {reason} [DUV015]\n --> {path}\n{help}\nencountered 1 errors\n"


PLACES: dict[str, tuple[Damage, str, str]] = {
    "folder": (directory("out"), "out", refused("Is a directory (os error 21)", "out")),
    "pipe": (
        pipe("out"),
        "out",
        refused("No such device or address (os error 6)", "out", "nobody reads from this pipe; start its reader first"),
    ),
    "full device": (link("out", "/dev/full"), "out", refused("No space left on device (os error 28)", "out")),
    "loop": (loop("out"), "out", refused("Too many levels of symbolic links (os error 40)", "out")),
    "below a file": (holds("out", b""), "out/x", refused("Not a directory (os error 20)", "out/x")),
    "no name": (directory("out"), "out/", refused("Is a directory (os error 21)", "out/")),
    "long name": (directory("out"), "x" * 256, refused("File name too long (os error 36)", "x" * 256)),
}


@pytest.fixture
def changed(reported: Path) -> Path:
    """A project whose reports are not what they were."""
    return make(reported, {"src/a.rs": SOURCE.partition("\n\n")[0]})


@pytest.mark.parametrize("option", ["--json", "--json-v2", "--html"])
@pytest.mark.parametrize("place", PLACES)
def test_a_place_that_takes_no_file(place: str, option: str, changed: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST write all of its reports completely, or none of them.
    damage, path, message = PLACES[place]
    damage(changed)
    before = files(changed)
    assert duvet("-q", "report", option, path) == Done(1, "", message)
    assert files(changed) == before


def test_a_name_that_no_file_can_have(reported: Path, duvet: Run) -> None:
    config = CONFIG.replace("[report.json]\n", '[report.json]\npath = "a\\u0000b"\n')
    before = files(make(reported, {".duvet/config.toml": config, "src/a.rs": ""}))
    assert duvet("-q", "report") == Done(1, "", refused("a path can't hold a NUL", "a\\u{0}b"))
    assert files(reported) == before


def test_a_file_that_grows_too_large(changed: Path, duvet: Run) -> None:
    before = files(changed)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    message = refused("File too large (os error 27)", ".duvet/reports/report.json")
    assert duvet("-q", "report", preexec_fn=limit) == Done(1, "", message)
    assert files(changed) == before


@pytest.fixture
def small_disk(changed: Path) -> Iterator[Path]:
    """The folder of reports on a disk that has room for the reports that are there and not for more."""
    folder = changed / ".duvet" / "reports"
    old = {path.name: path.read_bytes() for path in folder.iterdir()}
    size = f"size={sum(-(-len(data) // 4096) for data in old.values()) * 4096 + 8192}"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no disk of its own: {mounted.stderr.decode().strip()}")
    try:
        for name, data in old.items():
            (folder / name).write_bytes(data)
        yield changed
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_disk(small_disk: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST write all of its reports completely, or none of them.
    before = files(small_disk)
    message = refused("No space left on device (os error 28)", ".duvet/reports/report.json")
    assert duvet("-q", "report") == Done(1, "", message)
    assert files(small_disk) == before


@pytest.mark.parametrize(
    ("folder", "named"), [(".duvet/reports", ".duvet/reports/report.json"), (".duvet", ".duvet/snapshot.txt")]
)
def test_a_folder_that_may_not_be_written(folder: str, named: str, public: Path, duvet_command: str) -> None:
    make(public, {"src/a.rs": ""})
    (public / folder).chmod(0o555)
    before = files(public)
    done = run(duvet_command, public, "-q", "report", before=NOBODY)
    (public / folder).chmod(0o755)
    assert done == Done(1, "", refused("Permission denied (os error 13)", named))
    assert files(public) == before


@pytest.mark.parametrize("name", ["src/a.rs", "spec.md", ".duvet/config.toml", ".duvet/requirements/spec/heating.toml"])
def test_a_file_that_may_not_be_read(name: str, public: Path, duvet_command: str) -> None:
    snapshot = (public / ".duvet/snapshot.txt").read_bytes()
    (public / name).chmod(0)
    done = run(duvet_command, public, "-q", "report", before=NOBODY)
    assert (done.code, done.out, done.err.count("Permission denied (os error 13)"), done.err.count("error:")) == (
        (0, "", 0, 0) if name.endswith("heating.toml") else (1, "", 1, 1)
    )
    assert (public / ".duvet/snapshot.txt").read_bytes() == snapshot


REQUIREMENTS: dict[str, tuple[Damage, str]] = {
    "folder": (directory(".duvet/requirements/spec/heating.toml"), "Is a directory (os error 21)"),
    "loop": (loop(".duvet/requirements/spec/heating.toml"), "Too many levels of symbolic links (os error 40)"),
}


@pytest.mark.parametrize("place", REQUIREMENTS)
def test_requirements_that_can_not_be_written(place: str, reported: Path, duvet: Run) -> None:
    damage, reason = REQUIREMENTS[place]
    damage(reported)
    before = {name: data for name, data in files(reported).items() if name != PAGE}
    message = refused(reason, ".duvet/requirements/spec/heating.toml")
    assert duvet("-q", "report") == Done(1, "", message)
    assert {name: data for name, data in files(reported).items() if name != PAGE} == before


def test_extract_and_init_say_it_too(kettle: Path, duvet_command: str, duvet: Run) -> None:
    before = files(make(kettle, {"out": ""}))
    message = refused("Not a directory (os error 20)", "out/spec/heating.toml")
    assert duvet("-q", "extract", "-f", "md", "-o", "out", "spec.md") == Done(1, "", message)
    (kettle / "empty").mkdir()
    (kettle / "empty/.duvet").touch()
    message = refused("Not a directory (os error 20)", ".duvet/config.toml")
    assert runner(duvet_command, kettle / "empty")("-q", "init") == Done(1, "", message)
    assert files(kettle) == {**before, "empty/.duvet": b""}
