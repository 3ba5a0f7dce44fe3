"""`duvet diff --fail-on`: what fails, and how that is said."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cli.diffing import diff, folder
from tests.cli.made import KETTLE, SOURCE, make
from tests.cli.running import Run, environment
from tests.histories import ENVIRON, commit

__all__ = ["diff", "folder"]  # fixtures, which tests ask for by name


def test_a_deleted_citation(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#gates
    ##% `duvet diff` MUST exit with 1 for lost coverage or a stale citation with `--fail-on regression`, for an uncited
    ##% new requirement with `--fail-on new`, and for no difference otherwise.
    make(folder, {"src/a.rs": SOURCE.partition("\n\n")[0]})
    assert (diff().code, diff("--fail-on", "new").code) == (0, 0)
    done = diff("--fail-on", "regression")
    assert (done.code, done.err) == (1, "FAIL: 1 requirement lost coverage\n")
    assert diff("--fail-on", "regression", "-q") == done
    assert diff("--fail-on", "new", "-q").err == ""


def test_a_stale_citation(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#gates
    ##% `duvet diff` MUST exit with 1 for lost coverage or a stale citation with `--fail-on regression`, for an uncited
    ##% new requirement with `--fail-on new`, and for no difference otherwise.
    title = "\n//= spec.md#pouring\n"
    make(folder, {"src/a.rs": SOURCE + title})
    commit(folder)
    make(folder, {"spec.md": KETTLE["spec.md"].replace("## Pouring", "## Brewing")})
    done = diff("--fail-on", "regression")
    assert (done.code, done.err.splitlines()[-1]) == (1, "FAIL: 1 citation went stale")


def test_annotations_on_github(folder: Path, diff: Run) -> None:
    ##= man/spec/problems.md#formats
    ##% When the environment variable `GITHUB_ACTIONS` is `true` and no format is requested, duvet MUST also write
    ##% problems and failures of gates as workflow commands, unless standard output is taken.
    make(folder, {"spec.md": KETTLE["spec.md"].replace("boil water.", "boil all water. It MUST sing.")})
    environ = {**ENVIRON, "GITHUB_ACTIONS": "true"}
    done = diff("--fail-on", "regression", "--fail-on", "new", environ=environ)
    stale = 'this citation was right and is wrong: could not find text in section "heating" of spec.md\n'
    assert done.out.partition("\nnow: ")[2].partition("\n")[2] == (
        "::error file=spec.md,line=5,title=DUV067 coverage-lost::this requirement was done and is not started, and it has "
        "lost its implementation and its tests%0Ahelp: spec.md#heating: The kettle MUST boil all water.\n"
        f"::error file=src/a.rs,line=1,title=DUV068 citation-stale::{stale}"
        f"::error file=src/a.rs,line=5,title=DUV068 citation-stale::{stale}"
        "::error file=spec.md,line=5,title=DUV069 requirement-uncited::this requirement is new, and nothing cites it"
        "%0Ahelp: spec.md#heating: It MUST sing.\n"
    )
    assert "::error" not in diff("--fail-on", "regression", "--format", "json", environ=environ).out
    assert "::error" not in diff(environ=environ).out + diff("--fail-on", "regression").out


def test_a_new_requirement(folder: Path, diff: Run) -> None:
    ##= man/spec/diff.md#gates
    ##% `duvet diff` MUST exit with 1 for lost coverage or a stale citation with `--fail-on regression`, for an uncited
    ##% new requirement with `--fail-on new`, and for no difference otherwise.
    make(folder, {"spec.md": KETTLE["spec.md"] + "\nIt MUST be red.\n"})
    assert diff("--fail-on", "regression").code == 0
    done = diff("--fail-on", "new", "--fail-on", "regression")
    assert (done.code, done.err) == (1, "FAIL: 1 new requirement without a citation\n")
    make(folder, {"src/b.rs": "//= spec.md#pouring\n//# It MUST be red.\n"})
    assert diff("--fail-on", "new").code == 0


def test_a_closed_pipe(folder: Path, duvet_command: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"'{duvet_command}' diff --fail-on regression | true"],
        cwd=folder,
        env=environment(**ENVIRON),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "PASS\n"
