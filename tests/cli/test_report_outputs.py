"""What `duvet report` writes, and when."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.made import CONFIG, SOURCE, SPECIFICATION, make
from tests.cli.running import Done, Run, files, times
from tests.conftest import ROOT

WRITTEN = [
    ".duvet/reports/report.html",
    ".duvet/reports/report.json",
    ".duvet/requirements/spec/heating.toml",
    ".duvet/requirements/spec/pouring.toml",
    ".duvet/snapshot.txt",
]
PROGRESS = """\
  Extracting requirements
   Extracted requirements from 1 specifications\x20
    Scanning sources
     Scanned 3 sources\x20
     Parsing annotations
      Parsed 5 annotations\x20
     Loading specifications
      Loaded 1 specifications\x20
     Mapping sections
      Mapped 2 sections\x20
    Matching references
     Matched 5 references\x20
     Sorting references
      Sorted 5 references\x20
     Writing .duvet/reports/report.json
       Wrote .duvet/reports/report.json\x20
     Writing .duvet/reports/report.html
       Wrote .duvet/reports/report.html\x20
     Writing .duvet/snapshot.txt
       Wrote .duvet/snapshot.txt\x20
"""
SUMMARY = """\
                                             needs        in      not
specification  MUST  SHOULD  MAY  done       tests  progress  started  excepted
Kettle          1/1     0/1  0/1   1/3  33%      0         0        2         0

PASS: 1 of 3 applicable requirements done (33 %), 0 excepted
"""
WRONG = """\
//= spec.md#nowhere
//# The kettle MUST boil water.

//= spec.md#heating
//# The kettle MUST sing.

//= type=test
//# The kettle MUST boil water.
"""


def test_all_is_well(kettle: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#reports
    ##% `duvet report` MUST write nothing to standard output, except for a report or problems that are sent there.
    ##= man/spec/trace.md#reports
    ##% `duvet report` and `duvet validate` MUST end with a summary on standard error, unless only errors are requested.
    before = files(kettle)
    assert duvet("report") == Done(0, "", PROGRESS + SUMMARY)
    assert sorted(files(kettle).keys() - before.keys()) == WRITTEN


def test_several_reports_in_one_run(reported: Path, duvet: Run) -> None:
    before = files(reported)
    options = ("--json", "a.json", "--json-v2", "-", "--html", "new/a.html", "--lcov", "lcov")
    done = duvet("-q", "report", *options)
    assert (done.code, done.out[:1], done.err) == (0, "{", "")
    found = files(reported)
    assert sorted(found.keys() - before.keys()) == ["a.json", "lcov/compliance.0.lcov", "new/a.html"]
    assert found["a.json"] == before[".duvet/reports/report.json"]
    assert found["new/a.html"] == before[".duvet/reports/report.html"]


def test_the_same_again_writes_the_same(reported: Path, duvet: Run) -> None:
    before = files(reported)
    assert duvet("-q", "report") == Done(0, "", "")
    assert files(reported) == before


def test_requirements_that_stay_are_not_written_again(reported: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#requirements
    ##% `duvet extract` MUST write the requirement files that awslabs duvet writes, inside the folder of the
    ##% specification, and leave unchanged ones alone.
    for path in (reported / ".duvet/requirements/spec").iterdir():
        os.utime(path, ns=(1, 1))
    make(reported, {"spec.md": SPECIFICATION.replace("drip", "leak")})
    assert duvet("-q", "report") == Done(0, "", "")
    changed = times(reported / ".duvet/requirements/spec")
    assert (changed["heating.toml"], changed["pouring.toml"] > 1) == (1, True)


def test_wrong_content_shows_on_the_page_alone(reported: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#reports
    ##% When an annotation is wrong, `duvet report` MUST write the HTML report with every problem, but no JSON, LCOV or
    ##% snapshot.
    before = files(make(reported, {"src/a.rs": WRONG}))
    done = duvet("report", "--json", "new.json")
    after = files(reported)
    assert (done.code, done.out) == (1, "")
    assert {name for name in after if after[name] != before.get(name)} == {".duvet/reports/report.html"}
    page = after[".duvet/reports/report.html"].decode()
    verdict = done.err.splitlines()[-1]
    assert verdict == "FAIL: 3 problems, 3 requirements not cited"
    assert verdict in page
    for problem in ("missing section", "could not find text in section", "comment is missing source specification"):
        assert problem in page and problem in done.err


def test_every_problem_of_every_phase_by_place(kettle: Path, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#diagnostics
    ##% Once it can read the configuration, duvet MUST report all problems of a run, sorted by path and place.
    more = '[[specification]]\nsource = "gone.md"\n[[source]]\npattern = "a**"\n'
    make(kettle, {".duvet/config.toml": CONFIG + more, ".duvet/todos/a.toml": "todo = 1\n", "src/b.rs": WRONG})
    make(kettle, {"src/a.rs": "//# stray\n\n" + SOURCE.replace("The kettle MUST boil", "The kettle MUST b0il")})
    (kettle / "src/c.rs").write_bytes(b"\xff")
    done = duvet("report")
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "report"
    snapshot.assert_match(done.err.partition("references \n")[2], "every_problem.txt")
    assert (done.code, done.out) == (1, "")


def test_a_report_without_requirements(kettle: Path, duvet: Run) -> None:
    make(kettle, {"spec.md": "# Kettle\n\n## Heating\n\nThe kettle boils.\n", "src/a.rs": "//= spec.md#heating\n"})
    done = duvet("report")
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith(" \n1 specification cited without requirements\nPASS: no requirements\n")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_line_ends_make_no_difference(ends: str, reported: Path, duvet: Run) -> None:
    before = files(reported)
    make(reported, {"src/a.rs": SOURCE.replace("\n", ends), "spec.md": SPECIFICATION.replace("\n", ends)})
    assert duvet("-q", "report") == Done(0, "", "")
    kept = [*(name for name in WRITTEN if name.endswith("toml")), ".duvet/snapshot.txt"]
    after = files(reported)
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_an_empty_source_is_one_without_annotations(reported: Path, duvet: Run) -> None:
    before = files(make(reported, {"src/b.rs": ""}))
    assert duvet("-q", "report") == Done(0, "", "")
    assert files(reported) == before
