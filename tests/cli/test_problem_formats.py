import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.problems import ProblemFormat
from tests.cli.command import Done, Run, files, refuses
from tests.cli.sample_project import SOURCE, WRONG, make
from tests.conftest import ROOT

TEXT = "error: could not find text in section"
COMMAND = "::error file=src/a.rs,line=5,col=5,endColumn=26,title=DUV050 quote-not-found::could not find text in"
ON_GITHUB = {"GITHUB_ACTIONS": "true"}
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
    ##% In a format other than `text`, duvet MUST write a result even if there are no problems.
    done = duvet("report", "--format", format)
    assert done.code == 1
    assert done.err.endswith("\n\ncoverage: 0 % (0 of 3)\n")
    assert TEXT not in done.err
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


def test_warnings_are_written_though_only_errors_are_told(kettle: Path, duvet: Run) -> None:
    make(kettle, STRAY)
    assert duvet("-q", "report", "--format", "json", "--output", "problems.json") == Done(0, "", "")
    assert json.loads(files(kettle)["problems.json"])["warnings"] == 1
    done = duvet("-q", "report", "--strict", "--format", "sarif")
    run = json.loads(done.out)["runs"][0]
    levels = [run["results"][0]["level"], run["tool"]["driver"]["rules"][0]["defaultConfiguration"]["level"]]
    assert (done.code, levels) == (1, ["error", "warning"])


def test_a_configuration_that_cannot_be_read(kettle: Path, duvet: Run) -> None:
    ##= man/spec/problems.md#formats
    ##% duvet MUST use the requested format even for an error that ends the run.
    make(kettle, {".duvet/config.toml": "'$schema' = 1\nwhat = 2\n"})
    for format in FOR_PROGRAMS:
        done = duvet("report", "--format", format)
        assert (done.code, done.err, "DUV002" in done.out, "DUV004" in done.out) == (1, "", True, True)


def test_problems_are_annotations_on_github(wrong: Path, duvet: Run) -> None:
    done = duvet("report", environ=ON_GITHUB)
    assert done.out == duvet("report", "--format", "github").out
    assert done.err.count(TEXT) == 1
    assert COMMAND in done.out
    make(wrong, STRAY)
    assert duvet("-q", "report", environ=ON_GITHUB) == Done(0, "", "")
    assert duvet("report", environ=ON_GITHUB).out.startswith("::warning file=src/a.rs,line=1,")
    assert duvet("-q", "report", "--format", "github").out.startswith("::warning file=src/a.rs,line=1,")
    # Another result has standard output.
    done = duvet("report", "--json", "-", environ=ON_GITHUB)
    assert list(json.loads(done.out)) == list(json.loads(files(wrong)[".duvet/reports/report.json"]))


def test_no_workflow_commands(wrong: Path, duvet: Run) -> None:
    for args, github in (
        ("--format text", "true"),
        ("--output problems.txt", "true"),
        ("--format sarif --output problems.sarif", "true"),
        ("", "false"),
        ("", ""),
    ):
        done = duvet("report", *args.split(), environ={"GITHUB_ACTIONS": github})
        assert (done.code, done.out, done.err.count(TEXT)) == (1, "", 1)


def test_a_folder_of_a_repository(tmp_path: Path, wrong: Path, duvet: Run) -> None:
    workspace = {"GITHUB_WORKSPACE": str(tmp_path)}
    inside = COMMAND.replace("src/", "kettle/src/")
    assert COMMAND in duvet("report", "--format", "github", environ={"GITHUB_WORKSPACE": str(tmp_path / "kett")}).out
    assert inside in duvet("report", "--format", "github", environ=workspace).out
    (tmp_path / ".git").mkdir()
    assert inside in duvet("report", "--format", "github").out
    (tmp_path / "kettle/.git").write_text("gitdir: elsewhere\n")
    assert COMMAND in duvet("report", "--format", "github", environ=workspace).out


def test_two_results_for_standard_output(kettle: Path, duvet: Run) -> None:
    ##= man/spec/problems.md#formats
    ##% duvet MUST refuse to write two results to standard output.
    before = files(kettle)
    message = "Error: two results would be written to standard output; write one of them to a file\n"
    for args in (
        *("--format json --json -", "--format json --html -", "--format sarif --output - --html /dev/stdout"),
        *("--output - --json-v2 -", "--json - --html -"),
    ):
        refuses(duvet, f"report {args}", 2, message)
    assert files(kettle) == before


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
