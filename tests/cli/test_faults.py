"""Inputs that can't be read: each is named with its place, the exit code is 1, and what was written before stays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.damage import Damage, directory, holds, link, loop, missing, pipe, unreadable
from tests.cli.made import CONFIG
from tests.cli.running import Run, files
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the words and files of Linux")

CONFIGURATION = ".duvet/config.toml"
DAMAGE: dict[str, Damage] = {
    "source not UTF-8": holds("src/b.rs", b"//= spec.md#heating\n//# caf\xe9\n"),
    "source binary": holds("src/b.rs", bytes(range(256)) * 4),
    "source with carriage returns alone": holds("src/b.rs", b"//= spec.md#heating\r//# The kettle MUST boil water.\r"),
    "source a pipe": pipe("src/b.rs"),
    "source a folder": directory("src/b.rs"),
    "source a loop": loop("src/b.rs"),
    "source a link to nothing": link("src/b.rs", "gone"),
    "source unreadable": unreadable("src/b.rs"),
    "specification missing": missing("spec.md"),
    "specification not UTF-8": holds("spec.md", b"# Kettle\n\n## caf\xe9\n"),
    "specification empty": holds("spec.md", b""),
    "specification with carriage returns alone": holds("spec.md", b"# Kettle\r\r## Heating\r\rIt MUST boil.\r"),
    "specification a pipe": pipe("spec.md"),
    "specification a folder": directory("spec.md"),
    "specification a loop": loop("spec.md"),
    "specification unreadable": unreadable("spec.md"),
    "requirements not UTF-8": holds(".duvet/todos/a.toml", b"# caf\xe9\n"),
    "requirements not TOML": holds(".duvet/todos/a.toml", b"target = \n"),
    "requirements of wrong types": holds(
        ".duvet/todos/a.toml", b"target = 1\ntodo = [1, {quote = 2, tags = [1]}, {quote = 'x', tags = 'y'}]\n[spec]\n"
    ),
    "requirements a pipe": pipe(".duvet/todos/a.toml"),
    "requirements a folder": directory(".duvet/todos/a.toml"),
    "requirements a loop": loop(".duvet/todos/a.toml"),
    "requirements unreadable": unreadable(".duvet/todos/a.toml"),
    "configuration not UTF-8": holds(CONFIGURATION, b"# caf\xe9\n"),
    "configuration empty": holds(CONFIGURATION, b""),
    "configuration of wrong types": holds(
        CONFIGURATION,
        b"'$schema' = 3\nsource = 'x'\nrequirement = [1, {pattern = 2}]\n[report]\nhtml = true\n"
        b"json = { enabled = 'yes', path = [] }\n[specification]\nsource = 1\n",
    ),
    "configuration nested deeply": holds(CONFIGURATION, b"a = " + b"[" * 100_000),
    "configuration with a NUL in a pattern": holds(CONFIGURATION, CONFIG.replace("src/", "s\\u0000/").encode()),
    "configuration with a NUL in a specification": holds(CONFIGURATION, CONFIG.replace("spec.", "s\\u0000.").encode()),
    "configuration a pipe": pipe(CONFIGURATION),
    "configuration a folder": directory(CONFIGURATION),
    "configuration a loop": loop(CONFIGURATION),
    "configuration unreadable": unreadable(CONFIGURATION),
}


def kept(folder: Path) -> dict[str, bytes]:
    """What a failed run leaves alone: everything but the page, which shows what is wrong."""
    return {name: data for name, data in files(folder).items() if name != ".duvet/reports/report.html"}


@pytest.mark.parametrize("name", DAMAGE)
def test_an_input(name: str, reported: Path, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#diagnostics
    ##% An input MUST NOT cause a traceback or control the terminal.
    DAMAGE[name](reported)
    before = kept(reported)
    code, out, err = duvet("-q", "report")
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "faults"
    snapshot.assert_match(err, f"{name.replace(' ', '_')}.txt")
    assert (code, out, kept(reported)) == (1, "", before)


# A NUL is no mistake of a configuration, but of who uses its patterns and paths.
@pytest.mark.parametrize("name", [name for name in DAMAGE if name.startswith("configuration ") and "NUL" not in name])
def test_duvet_config_says_the_same(name: str, kettle: Path, duvet: Run) -> None:
    DAMAGE[name](kettle)
    assert duvet("-q", "config") == duvet("-q", "report")
