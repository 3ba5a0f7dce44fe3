"""`duvet report --ci`: the committed snapshot where one is configured, else code and tests for everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import CONFIG, SOURCE, SPECIFICATION, make
from tests.cli.running import Done, Run, files

SNAPSHOT = ".duvet/snapshot.txt"
WITHOUT_SNAPSHOT = {".duvet/config.toml": CONFIG.partition("[report.snapshot]")[0]}
MISSING = """\
error: Could not read report snapshot. This is required to enforce CI checks. [DUV060]
 --> .duvet/snapshot.txt
  = help: No such file or directory (os error 2); run `duvet report` and commit .duvet/snapshot.txt

encountered 1 errors
"""
DIFFERS = """\

Differences detected in .duvet/snapshot.txt:

@@ -1,7 +1,7 @@
 SPECIFICATION: [Kettle](spec.md)
   SECTION: [Heating](#heating)
-    TEXT[!MUST,implementation,test]: The kettle MUST boil water.
+    TEXT[!MUST,implementation]: The kettle MUST boil water.
     TEXT[!SHOULD]: It SHOULD whistle when done.
 
   SECTION: [Pouring](#pouring)
     TEXT[!MAY]: The spout MAY drip.
error: Report snapshot does not match with CI mode enabled. [DUV061]
 --> .duvet/snapshot.txt
  = help: if the change is meant, run `duvet report` and commit .duvet/snapshot.txt

encountered 1 errors
"""
NOT_CITED = """\
error: Specification requirements missing citation. [DUV062]
  --> spec.md:11
   |
11 | The spout MAY drip.
   | ^^^^^^^^^^^^^^^^^^^
   = help: spec.md#pouring: The spout MAY drip.

"""
NOT_TESTED = """\
error: Citation missing test. [DUV063]
 --> spec.md:5
  |
5 | The kettle MUST boil water.
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: spec.md#heating: The kettle MUST boil water.

"""


def test_a_snapshot_that_is_the_same(reported: Path, duvet: Run) -> None:
    before = files(reported)
    assert duvet("-q", "report", "--ci") == Done(0, "", "")
    assert files(reported) == before


def test_a_snapshot_that_is_missing(reported: Path, duvet: Run) -> None:
    (reported / SNAPSHOT).unlink()
    before = files(reported)
    assert duvet("-q", "report", "--ci") == Done(1, "", MISSING)
    assert files(reported).keys() == before.keys()


def test_a_snapshot_that_differs(reported: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci`, or when the environment variable `CI` is true, `duvet report` MUST compare a configured snapshot
    ##% instead of writing it.
    before = files(make(reported, {"src/a.rs": SOURCE.partition("\n\n")[0]}))
    assert duvet("-q", "report", "--ci") == Done(1, "", DIFFERS)
    after = files(reported)
    assert after[SNAPSHOT] == before[SNAPSHOT]
    assert after[".duvet/reports/report.json"] != before[".duvet/reports/report.json"]


@pytest.mark.parametrize(
    ("environ", "args", "code"),
    [
        ({}, (), 0),
        ({"CI": "false"}, (), 0),
        ({"CI": "0"}, (), 0),
        ({"CI": "true"}, (), 1),
        ({"CI": "1"}, (), 1),
        ({"CI": "False"}, (), 1),
        ({"CI": ""}, (), 1),
        ({"CI": "true"}, ("--ci", "false"), 0),
        ({"CI": "true"}, ("--ci=false",), 0),
        ({"CI": "false"}, ("--ci",), 1),
        ({"CI": "false"}, ("--ci", "true"), 1),
    ],
)
def test_when_a_snapshot_is_checked(
    environ: dict[str, str], args: tuple[str, ...], code: int, kettle: Path, duvet: Run
) -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci`, or when the environment variable `CI` is true, `duvet report` MUST compare a configured snapshot
    ##% instead of writing it.
    done = duvet("-q", "report", *args, environ=environ)
    assert (done.code, done.out, done.err) == (code, "", MISSING if code else "")
    assert (kettle / SNAPSHOT).exists() == (code == 0)


@pytest.mark.parametrize("args", [(), ("--require-tests", "false", "--require-citations", "false")])
def test_requirements_do_not_matter_to_a_snapshot(args: tuple[str, ...], kettle: Path, duvet: Run) -> None:
    assert duvet("-q", "report", "--ci", *args) == Done(1, "", MISSING)


@pytest.mark.parametrize(
    ("args", "problems"),
    [
        ((), [NOT_TESTED, NOT_CITED]),
        (("--require-citations", "--require-tests", "true"), [NOT_TESTED, NOT_CITED]),
        (("--require-tests=false",), [NOT_CITED]),
        (("--require-citations", "false"), [NOT_TESTED]),
        (("--require-citations", "false", "--require-tests", "false"), []),
    ],
)
def test_without_a_snapshot(args: tuple[str, ...], problems: list[str], kettle: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--ci` and no snapshot, `duvet report` MUST list the lines of specifications that lack code, or have code
    ##% but no test, except for what `--require-citations false` or `--require-tests false` waives.
    lines = SPECIFICATION.replace(". It SHOULD", ".\n\nIt should")
    make(kettle, {**WITHOUT_SNAPSHOT, "spec.md": lines, "src/a.rs": SOURCE.partition("\n\n")[0]})
    count = f"encountered {len(problems)} errors\n" if problems else ""
    assert duvet("-q", "report", "--ci", *args) == Done(1 if problems else 0, "", "".join(problems) + count)
    assert (kettle / ".duvet/reports/report.json").exists()


@pytest.mark.parametrize("value", ["true", ""])
def test_the_environment_alone_asks_for_no_requirements(value: str, kettle: Path, duvet: Run) -> None:
    make(kettle, WITHOUT_SNAPSHOT)
    assert duvet("-q", "report", environ={"CI": value}) == Done(0, "", "")
