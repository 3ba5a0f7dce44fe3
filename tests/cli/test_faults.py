import os
import re
import resource
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import LINUX, NOBODY, Done, Run, failed_like_upstream, files, play, run
from tests.cli.damage import Damage, directory, holds, link, loop, missing, pipe, small_disk, unreadable
from tests.cli.sample_project import CONFIG, HALF, SOURCE, make
from tests.unit.tree.twins import without_steps

pytestmark = LINUX

CACHE, CONFIGURATION, HEATING = ".duvet/cache", ".duvet/config.toml", ".duvet/requirements/spec/heating.toml"
PAGE = ".duvet/reports/report.html"
RESULTS = (".duvet/snapshot.txt", PAGE, ".duvet/reports/report.json")
"""They may be read whatever else may not."""
INPUTS = {
    "source": "src/b.rs",
    "specification": "spec.md",
    "requirements": ".duvet/todos/a.toml",
    "configuration": CONFIGURATION,
}
KINDS = {"a pipe": pipe, "a folder": directory, "a loop": loop, "unreadable": unreadable}
CONTENTS: dict[str, bytes] = {
    "source not UTF-8": b"//= spec.md#heating\n//# caf\xe9\n",
    "source binary": bytes(range(256)) * 4,
    "source with carriage returns alone": b"//= spec.md#heating\r//# The kettle MUST boil water.\r",
    "specification not UTF-8": b"# Kettle\n\n## caf\xe9\n",
    "specification empty": b"",
    "specification with carriage returns alone": b"# Kettle\r\r## Heating\r\rIt MUST boil.\r",
    "requirements not UTF-8": b"# caf\xe9\n",
    "requirements not TOML": b"target = \n",
    "requirements of wrong types": (
        b"target = 1\ntodo = [1, {quote = 2, tags = [1]}, {quote = 'x', tags = 'y'}]\n[spec]\n"
    ),
    "configuration not UTF-8": b"# caf\xe9\n",
    "configuration empty": b"",
    "configuration of wrong types": (
        b"'$schema' = 3\nsource = 'x'\nrequirement = [1, {pattern = 2}]\n[report]\nhtml = true\n"
        b"json = { enabled = 'yes', path = [] }\n[specification]\nsource = 1\n"
    ),
    "configuration nested deeply": b"a = " + b"[" * 100_000,
    "configuration with a NUL in a pattern": CONFIG.replace("src/", "s\\u0000/").encode(),
    "configuration with a NUL in a specification": CONFIG.replace("spec.", "s\\u0000.").encode(),
}
DAMAGE: dict[str, Damage] = {
    **{f"{input} {kind}": KINDS[kind](path) for input, path in INPUTS.items() for kind in KINDS},
    **{name: holds(INPUTS[name.split()[0]], data) for name, data in CONTENTS.items()},
    "source a link to nothing": link("src/b.rs", "gone"),
    "specification missing": missing("spec.md"),
}


def read_kept_files(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files(folder).items() if name != PAGE}


def test_damaged_inputs(reported: Path, duvet: Run, gold: Snapshot) -> None:
    right, told = files(reported), []
    for name, damage in DAMAGE.items():
        damage(reported)
        before = read_kept_files(reported)
        code, out, err = duvet("-q", "report")
        told.append(f"{name}:\n{err}")
        assert (code, out, read_kept_files(reported)) == (1, "", before)
        # NUL is valid in a configuration; it fails where patterns and paths are used.
        if name.startswith("configuration ") and "NUL" not in name:
            assert duvet("-q", "config") == Done(code, out, err)
        for path in INPUTS.values():
            if (reported / path).is_dir() and not (reported / path).is_symlink():
                (reported / path).rmdir()
            (reported / path).unlink(missing_ok=True)
            if path in right:
                (reported / path).write_bytes(right[path])
    gold.assert_match("\n".join(told), "damaged.txt")


def rights(folder: Path, mode: int) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(mode | 0o111 if path.is_dir() and mode else mode)


def answer(command: str, folder: Path, *args: str) -> Done:
    done = run(command, folder, *args, before=NOBODY)
    return Done(done.code, done.out, without_steps(done.err))


DENIED: dict[str, tuple[Callable[[Path], object], int]] = {
    "a source": (lambda folder: (folder / "src/a.rs").chmod(0), 1),
    "the list of sources": (lambda folder: (folder / "src").chmod(0o311), 1),
    "the folder of sources": (lambda folder: (folder / "src").chmod(0o644), 1),
    "a specification": (lambda folder: (folder / "spec.md").chmod(0), 1),
    "the configuration": (lambda folder: (folder / CONFIGURATION).chmod(0), 1),
    "an extracted file": (lambda folder: (folder / HEATING).chmod(0), 0),
    "requirements": (lambda folder: rights(folder / ".duvet/requirements", 0o200), 3),
    "new files in the cache": (lambda folder: (folder / CACHE).chmod(0o555), 0),
    "writing to the cache": (lambda folder: rights(folder / CACHE, 0o444), 0),
    "entering the cache": (lambda folder: (folder / CACHE).chmod(0), 0),
    "listing the cache": (lambda folder: (folder / CACHE).chmod(0o311), 0),
    "reading the cache": (lambda folder: rights(folder / CACHE, 0o200), 0),
}
"""What somebody may not do, and how many errors that makes."""


def test_unreadable_inputs_are_not_served_from_the_cache(public: Path, duvet_command: str) -> None:
    """An input's content is in the cache, but users who may not read the input don't get it."""
    snapshot = (public / ".duvet/snapshot.txt").read_bytes()
    for name, (deny, errors) in DENIED.items():
        make(public, {"src/a.rs": HALF if "cache" in name else SOURCE})
        # A run that was denied something leaves nothing in the cache for the next one.
        for _ in range(1 if "cache" in name else 2):
            deny(public)
            found, left = answer(duvet_command, public, "report"), [(public / name).read_bytes() for name in RESULTS]
            plain = answer(duvet_command, public, "--no-cache", "report")
            assert (found, left) == (plain, [(public / name).read_bytes() for name in RESULTS]), name
            assert (found.code, len(re.findall("[Pp]ermission denied", found.err))) == (min(errors, 1), errors), name
            rights(public, 0o755)
        assert "cache" in name or (public / ".duvet/snapshot.txt").read_bytes() == snapshot
        if "cache" in name:
            # The next case begins with the same cache.
            make(public, {"src/a.rs": SOURCE})
            answer(duvet_command, public, "report")


@pytest.mark.parametrize("has_cache", [True, False], ids=["with a cache", "without one"])
def test_a_tree_that_is_only_read(has_cache: bool, public: Path, duvet_command: str) -> None:
    if not has_cache:
        shutil.rmtree(public / CACHE)
    before = files(public)
    rights(public, 0o555)
    found = answer(duvet_command, public, "report")
    assert found == answer(duvet_command, public, "--no-cache", "report")
    assert (found.code, found.err.count("can't write this file: Permission denied")) == (1, 1)
    assert (public / CACHE).exists() is has_cache
    rights(public, 0o755)
    assert files(public) == before


def test_reports_that_are_there_already_need_not_be_written(public: Path, duvet_command: str) -> None:
    right = answer(duvet_command, public, "report")
    folders = [public, *(path for path in public.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    assert answer(duvet_command, public, "report") == right
    for folder in folders:
        folder.chmod(0o755)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_inputs_of_another_user(public: Path, duvet_command: str) -> None:
    make(public, {CONFIGURATION: CONFIG + "[report.html]\nenabled = false\n"})
    (public / "src/a.rs").chmod(0)
    os.chown(public / "src/a.rs", 0, 0)
    assert run(duvet_command, public, "-q", "report") == Done(0, "", "")
    for cache in ((), ("--no-cache",)):
        done = run(duvet_command, public, *cache, "-q", "report", before=NOBODY)
        assert done == failed_like_upstream("Permission denied (os error 13) [DUV010]", "src/a.rs")


def refused(reason: str, path: str, hint: str = "") -> Done:
    return failed_like_upstream(f"can't write this file: {reason} [DUV015]", path, hint)


PLACES = {
    "mkdir out": ("--html out", "--json-v2 out", "--json out", "--json out/"),
    **dict.fromkeys(("mkfifo out", "ln -s /dev/full out", "ln -s out out"), ("--json out",)),
    "touch out": ("--json out/x", f"--json {'x' * 256}"),
}
NUL = CONFIG.replace("[report.json]\n", '[report.json]\npath = "a\\u0000b"\n')
KEEP, KEPT = "$ cp -r .duvet ../before", "$ diff -r -x cache ../before .duvet"
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "places": (
        *({"src/a.rs": HALF}, KEEP),
        *(f"$ rm -rf out; {made}; duvet -q report {args}" for made in PLACES for args in PLACES[made]),
        KEPT,
    ),
    "name": ({CONFIGURATION: NUL, "src/a.rs": ""}, KEEP, "-q report", KEPT),
    "requirements": (f"$ rm {HEATING}; mkdir {HEATING}", KEEP, "-q report", f"{KEPT} -x report.html"),
    "extract and init": (
        *(
            "$ touch out; mkdir empty; touch empty/.duvet",
            "-q extract -f md -o out spec.md",
            "-C empty -q init --nested",
        ),
        "$ find out empty -type f -empty",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_files_that_can_not_be_written(name: str, reported: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST write all of its reports completely, or none of them.
    gold.assert_match(play(duvet, reported, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


@pytest.fixture
def changed(reported: Path) -> Path:
    return make(reported, {"src/a.rs": HALF})


def test_a_file_that_grows_too_large(changed: Path, duvet: Run) -> None:
    before = files(changed)
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (4096, 4096))
    done = refused("File too large (os error 27)", ".duvet/reports/report.json")
    assert duvet("-q", "report", preexec_fn=limit) == done
    assert files(changed) == before


def test_reports_on_a_full_disk(changed: Path, duvet: Run) -> None:
    folder = changed / ".duvet" / "reports"
    blocks = sum(-(-path.stat().st_size // 4096) for path in folder.iterdir())
    with small_disk(folder, blocks * 4096 + 8192):
        before = files(changed)
        done = refused("No space left on device (os error 28)", ".duvet/reports/report.json")
        assert duvet("-q", "report") == done
        assert files(changed) == before


def test_a_cache_on_a_full_disk(kettle: Path, duvet: Run) -> None:
    (kettle / CACHE).mkdir()
    with small_disk(kettle / CACHE, 8192):
        for text in (HALF, SOURCE, HALF):
            make(kettle, {"src/a.rs": text})
            found, left = duvet("report"), files(kettle)
            plain = duvet("--no-cache", "report")
            assert (found.code, without_steps(found.err), left) == (plain.code, without_steps(plain.err), files(kettle))
        assert sum(path.stat().st_size for path in (kettle / CACHE).iterdir()) < 8192
        assert not list((kettle / CACHE).glob("*.new"))


def test_folders_that_may_not_be_written(public: Path, duvet_command: str) -> None:
    make(public, {"src/a.rs": ""})
    for named in (".duvet/reports/report.json", ".duvet/snapshot.txt"):
        folder = (public / named).parent
        folder.chmod(0o555)
        before = files(public)
        done = run(duvet_command, public, "-q", "report", before=NOBODY)
        folder.chmod(0o755)
        assert done == refused("Permission denied (os error 13)", named)
        assert files(public) == before
