import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.problems import ProblemFormat
from tests.cli.command import Done, Run, files, play
from tests.cli.sample_project import SOURCE, WRONG, make
from tests.conftest import ROOT

TEXT = "error: could not find text in section"
FOR_PROGRAMS = [one for one in ProblemFormat if one is not ProblemFormat.TEXT]
SUFFIXES = {"json": "json", "sarif": "sarif", "github": "github", "junit": "xml"}
STRAY = {"src/a.rs": f"//# stray\n\n{SOURCE}"}


@pytest.fixture
def wrong(kettle: Path) -> Path:
    return make(kettle, {"src/a.rs": WRONG})


@pytest.mark.parametrize("format", FOR_PROGRAMS)
def test_a_format_goes_to_standard_output(format: ProblemFormat, wrong: Path, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/problems.md#formats
    ##% Without `--output`, duvet MUST write text to standard error, and any other format to standard output.
    ##= man/spec/problems.md#formats
    ##% In the formats `json`, `sarif` and `junit`, duvet MUST write a result even if there are no problems.
    done = duvet("report", "--format", format)
    assert done.code == 1
    assert done.err.endswith("\n\ncoverage: 0 % (0 of 3)\n") and TEXT not in done.err
    snapshot.snapshot_dir = ROOT / "tests/gold/problems"
    snapshot.assert_match(done.out, f"report.{SUFFIXES[format]}")


def test_every_format_without_problems(kettle: Path, duvet: Run) -> None:
    for format in FOR_PROGRAMS:
        expected = (ROOT / f"tests/gold/problems/none.{SUFFIXES[format]}").read_text()
        assert duvet("-q", "report", "--format", format) == Done(0, expected, "")
        assert duvet("-q", "report", "--format", format, "--output", "new/x") == Done(0, "", "")
        assert files(kettle)["new/x"].decode() == expected


@pytest.mark.parametrize("format", [ProblemFormat.TEXT, ProblemFormat.SARIF])
def test_a_file_holds_the_same_and_people_read_on(format: ProblemFormat, wrong: Path, duvet: Run) -> None:
    ##= man/spec/problems.md#formats
    ##% duvet MUST write problems to the file that `--output` names. Without `--output`, duvet MUST write text to standard
    ##% error, and any other format to standard output.
    options = ("report", "--format", format, "--output", "-")
    found, known, uncached = duvet(*options), duvet(*options), duvet("--no-cache", *options)
    assert "Checked that nothing has changed" in known.err
    assert found.out == known.out == uncached.out != ""
    assert duvet("-q", *options) == Done(1, found.out, "")
    written = duvet("-q", "report", "--format", format, "--output", "problems")
    assert (written.code, written.out, files(wrong)["problems"].decode()) == (1, "", found.out)
    assert written.err == duvet("-q", "report").err
    if format is ProblemFormat.TEXT:
        assert found.out == written.err


def test_a_configuration_that_cannot_be_read(kettle: Path, duvet: Run) -> None:
    ##= man/spec/problems.md#formats
    ##% duvet MUST use the requested format even for an error that ends the run.
    make(kettle, {".duvet/config.toml": "'$schema' = 1\nwhat = 2\n"})
    for format in FOR_PROGRAMS:
        done = duvet("report", "--format", format)
        assert (done.code, done.err, "DUV002" in done.out, "DUV004" in done.out) == (1, "", True, True)


ON_GITHUB, COMMANDS = "$ GITHUB_ACTIONS=true duvet", "| grep -o '^::.*DUV...'"
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    # Warnings are written although only errors are printed.
    "warnings": (
        *(STRAY, "-q report --format json --output problems.json", "$ grep warnings problems.json"),
        "$ duvet -q report --strict --format sarif | grep level",
    ),
    "github": (
        *("$ duvet report --format github >out", f"{ON_GITHUB} report | cmp - out", f"{ON_GITHUB} report >out"),
        *(STRAY, f"{ON_GITHUB} -q report", f"{ON_GITHUB} report {COMMANDS}", "-q report --format github"),
        # Another result has standard output.
        f"{ON_GITHUB} report --json - 2>out | cmp - .duvet/reports/report.json",
    ),
    "no commands": tuple(
        f"$ GITHUB_ACTIONS={value} duvet -q report {args} 2>&1 >out | grep -c ^error; cat out"
        for value, args in (
            *(("true", args) for args in ("--format text", "--output problems", "--format sarif --output s")),
            *(("false", ""), ("", "")),
        )
    ),
    "workspace": (
        *(
            f"$ GITHUB_WORKSPACE=$(dirname $PWD){more} duvet report --format github 2>out {COMMANDS}"
            for more in ("/kett", "")
        ),
        f"$ mkdir ../.git; duvet report --format github 2>out {COMMANDS}",
        f"$ echo gitdir: x >.git; GITHUB_WORKSPACE=$(dirname $PWD) duvet report --format github 2>out {COMMANDS}",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_standard_output(name: str, wrong: Path, duvet: Run, gold: Snapshot) -> None:
    gold.assert_match(play(duvet, wrong, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


def test_files_of_problems(wrong: Path, duvet: Run) -> None:
    done = duvet("-q", "report", "--format", "json", "--output", "src")
    assert (done.code, done.out, done.err.count(TEXT)) == (1, "", 1)
    assert "error: can't write this file: it is a folder [DUV015]\n --> src\n" in done.err
    # One that holds it already is left alone.
    for _ in range(3):
        duvet("report", "--format", "junit", "--output", "problems.xml")
        os.utime(wrong / "problems.xml", ns=(1, 1))
    duvet("report", "--format", "junit", "--output", "problems.xml")
    assert (wrong / "problems.xml").stat().st_mtime_ns == 1
    make(wrong, {"src/a.rs": SOURCE})
    done = duvet("-q", "report", "--json", "-", "--format", "junit", "--output", "problems.xml")
    assert (done.code, done.out[:1], done.err) == (0, "{", "")
    assert ElementTree.fromstring(files(wrong)["problems.xml"]).tag == "testsuites"
