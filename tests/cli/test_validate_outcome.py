"""`duvet validate`: what it says, in which formats, and how it exits."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.problems import ProblemFormat
from tests.cli.examples import examples
from tests.cli.made import make
from tests.cli.running import Done, Run, files
from tests.cli.test_streams import unread
from tests.cli.validating import ALL_COUNT, GOLD, duvet, folder
from tests.conftest import ROOT
from tests.unit.project.made import RIGHT

__all__ = ["duvet", "folder"]  # fixtures, which tests ask for by name


def kept(folder: Path) -> bool:
    """Whether the cache holds what a run has found out."""
    return (folder / ".duvet/cache/validate").exists()


@pytest.mark.parametrize("format", ProblemFormat)
def test_formats(format: ProblemFormat, folder: Path, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% `duvet validate` MUST check only the configuration and the files and folders that it is given, or all inputs of
    ##% the project.
    ##= man/spec/validate.md#exit-code
    ##% `duvet validate` MUST exit with 0 if there are no errors, and with 1 otherwise.
    before = files(folder)
    done = duvet("validate", "--format", format, "--output", "-")
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(done.out, f"all.{format}.txt")
    assert (done.code, done.err) == (1, ALL_COUNT)
    ##= man/spec/cache.md#freshness
    ##% When nothing has changed since the last run with the same options, `duvet report` MUST leave its report files
    ##% alone, and `duvet validate` MUST NOT read the sources again.
    assert kept(folder) and files(folder) == before
    assert duvet("validate", "--format", format, "--output", "-") == done
    assert duvet("--no-cache", "validate", "--format", format, "--output", "-") == done


def test_colours(duvet: Run, snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(duvet("--color", "always", "validate", "src/broken.rs").err, "colours.txt")


def test_without_a_configuration(folder: Path, duvet: Run) -> None:
    shutil.rmtree(folder / ".duvet")
    done = duvet("validate")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")


def test_warnings(folder: Path, duvet: Run) -> None:
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--strict`, `duvet report` and `duvet validate` MUST fail on warnings.
    (folder / "src/right.py").write_text(RIGHT + RIGHT)
    done = duvet("validate", "src/right.py")
    assert (done.code, done.err.splitlines()[-1]) == (0, "checked 2 annotations in 1 file: 1 warning")
    done = duvet("validate", "--strict", "src/right.py")
    assert (done.code, done.err.splitlines()[-1]) == (1, "checked 2 annotations in 1 file: 1 error")


@pytest.mark.parametrize("edit", ["src/right.py", "tea.md", ".duvet/config.toml", "src/new.py"])
def test_what_is_known_is_forgotten_when_anything_changes(edit: str, folder: Path, duvet: Run) -> None:
    duvet("validate")
    path = folder / edit
    path.write_text(
        (path.read_text() if path.exists() else "##= tea.md#gone\n")
        .replace("boil", "cook")
        .replace("src/**/*.py", "*.py")
    )
    assert duvet("validate") == duvet("--no-cache", "validate")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-",), "`-` and --stdin-path belong together"),
        (("--stdin-path", "a.rs", "src"), "`-` and --stdin-path belong together"),
        (("--stdin-path", "", "-"), "`-` and --stdin-path belong together"),
        (("--fix", "--stdin-path", "src/a.rs", "-"), "standard input can't be mended; --diff shows how to"),
        (("--diff", "--format", "json"), "only one result can go to standard output; give the others a file"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], message: str, duvet: Run) -> None:
    done = duvet("validate", *args)
    assert (done.code, done.out, done.err.splitlines()[-1]) == (2, "", f"Error: {message}")


def test_the_page_of_a_rule(duvet: Run) -> None:
    ##= man/spec/problems.md#rules
    ##% `duvet validate --explain` MUST print the page of the rule with that code or name, or suggest similar rules.
    page = (ROOT / "templates/rules/DUV091.md").read_text(encoding="utf-8")
    assert duvet("validate", "--explain", "duv091") == Done(0, page, "")
    assert duvet("validate", "--explain", "citation-repeated", "nowhere") == Done(0, page, "")
    done = duvet("validate", "--explain", "DUV999")
    assert (done.code, done.out, done.err.startswith('error: there is no rule "DUV999"\n')) == (1, "", True)


def test_nobody_reads(duvet: Run) -> None:
    stream = unread()
    assert duvet("-q", "validate", "--format", "json", "src/right.py", stdout=stream) == Done(0, "", "")
    assert duvet("-q", "validate", "--diff", "src/broken.rs", stdout=stream).code == 1
    os.close(stream)


def test_examples(folder: Path, duvet: Run) -> None:
    """Each one is understood, in a project that has what it names."""
    make(folder, {"src/heating.rs": "", "docs/x": ""})
    found = [args[: args.index("<")] if "<" in args else args for args in examples("validate")]
    assert len(found) == 7
    assert all(duvet(*args).code in (0, 1) for args in found)
