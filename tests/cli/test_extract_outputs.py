"""What `duvet extract` writes, and when."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.made import SPECIFICATION, make
from tests.cli.running import Done, Run, files, times

HEATING = """\
target = "spec.md#heating"

# Heating
#
# The kettle MUST boil water. It SHOULD whistle when done.

[[spec]]
level = "MUST"
quote = '''
The kettle MUST boil water.
'''

[[spec]]
level = "SHOULD"
quote = '''
It SHOULD whistle when done.
'''

"""
RUST = """\
//! spec.md#heating
//!
//! Heating
//!
//! The kettle MUST boil water. It SHOULD whistle when done.

//= spec.md#heating
//= type=spec
//= level=MUST
//# The kettle MUST boil water.

//= spec.md#heating
//= type=spec
//= level=SHOULD
//# It SHOULD whistle when done.

"""
EXTRACT = ("extract", "-f", "md", "-o", "out", "spec.md")


def test_requirements_as_toml(kettle: Path, duvet: Run) -> None:
    before = files(kettle)
    steps = "  Extracting requirements from spec.md\n   Extracted 3 requirements across 2 sections \n"
    assert duvet(*EXTRACT) == Done(0, "", steps)
    after = files(kettle)
    assert after.keys() - before.keys() == {"out/spec/heating.toml", "out/spec/pouring.toml"}
    assert after["out/spec/heating.toml"].decode() == HEATING


def test_requirements_as_rust(kettle: Path, duvet: Run) -> None:
    assert duvet("-q", *EXTRACT, "-e", "rs") == Done(0, "", "")
    assert (kettle / "out/spec/heating.rs").read_text() == RUST


def test_what_stays_is_not_written_again(kettle: Path, duvet: Run) -> None:
    duvet("-q", *EXTRACT)
    for path in (kettle / "out/spec").iterdir():
        os.utime(path, ns=(1, 1))
    make(kettle, {"spec.md": SPECIFICATION.replace("drip", "leak")})
    assert duvet("-q", *EXTRACT) == Done(0, "", "")
    changed = times(kettle / "out/spec")
    assert (changed["heating.toml"], changed["pouring.toml"] > 1) == (1, True)


def test_pruning(kettle: Path, duvet: Run) -> None:
    duvet("-q", *EXTRACT)
    make(kettle, {"spec.md": SPECIFICATION.replace("MAY", "may"), "out/spec/mine.toml": ""})
    warned = duvet(*EXTRACT)
    assert (warned.code, "\n --> out/spec/pouring.toml:1\n" in warned.err) == (0, True)
    pruned = duvet(*EXTRACT, "--prune")
    assert (pruned.code, "     Removed out/spec/pouring.toml \n" in pruned.err) == (0, True)
    assert sorted(files(kettle / "out")) == ["spec/heating.toml", "spec/mine.toml"]


REFUSED = {
    ("-e", "json", "spec.md"): (
        'error: unsupported extraction type: "json"\n  = help: `toml` and `rs` are supported\n\nencountered 1 errors\n'
    ),
    ("-o", "out.toml", "spec.md"): (
        "error: single file extraction not supported, got out.toml\n  = help: name a folder\n\nencountered 1 errors\n"
    ),
    ("gone.md",): "error: No such file or directory (os error 2) [DUV010]\n --> gone.md\n\nencountered 1 errors\n",
    ("src",): "error: Is a directory (os error 21) [DUV012]\n --> src\n\nencountered 1 errors\n",
    ("file:///spec.md",): (
        'error: file URLs are not supported: "file:///spec.md" [DUV041]\n'
        "  = help: name the file by its path\n\nencountered 1 errors\n"
    ),
    ("--offline", "https://host.example/spec"): (
        "error: could not download https://host.example/spec: downloads are off [DUV045]\n"
        "  = help: put its text into .duvet/specifications/host.example/spec.txt\n\nencountered 1 errors\n"
    ),
    ("http://host.example/spec",): (
        "error: could not download http://host.example/spec: it is not https [DUV045]\n"
        "  = help: put its text into .duvet/specifications/host.example/spec.txt\n\nencountered 1 errors\n"
    ),
    ("ftp://host.example/spec",): (
        "error: could not download ftp://host.example/spec: downloads over ftp are not supported [DUV045]\n"
        "  = help: put its text into .duvet/specifications/host.example/spec.txt\n\nencountered 1 errors\n"
    ),
}


@pytest.mark.parametrize("args", REFUSED)
def test_what_can_not_be_extracted(args: tuple[str, ...], kettle: Path, duvet: Run) -> None:
    before = files(kettle)
    assert duvet("-q", "extract", *args) == Done(1, "", REFUSED[args])
    assert files(kettle) == before
