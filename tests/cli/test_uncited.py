"""`duvet uncited`: the list, and its gate."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.tables import ListFormat
from tests.cli.command import Done, Run
from tests.cli.sample_project import make
from tests.unit.queries.query_projects import FILES

COUNT = "5 of 12 requirements uncited or to do\n"


@pytest.mark.parametrize(
    ("name", "args", "said", "format"),
    [
        *(("uncited", "", COUNT, format) for format in ListFormat),
        ("untested", "--untested", "8 of 12 requirements untested\n", "plain"),
        *(("todo", "--todo", "2 of 12 requirements with a todo\n", format) for format in ("table", "json")),
    ],
)
def test_uncited_requirements_in_every_format(
    name: str, args: str, said: str, format: str, tea: Run, gold: Snapshot
) -> None:
    done = tea("uncited", *args.split(), "--format", format)
    assert (done.code, done.err) == (0, said)
    gold.assert_match(done.out, f"{name}.{format}.txt")
    if format == ListFormat.PLAIN:
        assert tea("uncited", *args.split()) == done


LISTED = {
    "--spec tea": ("3 of 10 requirements uncited or to do\n", 3),
    "--section lid": ("2 of 2 requirements uncited or to do\n", 2),
    "--level must --level NONE": ("3 of 7 requirements uncited or to do\n", 3),
    "--status done": ("2 of 12 requirements with the state done\n", 2),
    "--status done --status needs-tests": ("3 of 12 requirements with the state done or needs tests\n", 3),
    "--untested --status in-progress": ("2 of 12 requirements untested with the state in progress\n", 2),
    "--spec spoon": ("0 of 0 requirements uncited or to do\n", 0),
    "--limit 2": ("5 of 12 requirements uncited or to do; 2 listed\n", 2),
    "--limit 5": (COUNT, 5),
    "--limit 0": (COUNT, 5),
    "-q": ("", 5),
}
"""What is said, and how many requirements are listed."""


def test_listed_requirements(tea: Run) -> None:
    done = {args: tea("uncited", *args.split()) for args in LISTED}
    assert {args: (one.err, one.out.count("\n")) for args, one in done.items()} == LISTED
    assert {one.code for one in done.values()} == {0}


def test_not_applicable_requirements(tea: Run, tmp_path: Path) -> None:
    entry = "[[not-applicable]]\ntarget = 'tea.md#brewing'\nreason = 'Nobody brews.'\n"
    make(tmp_path / "tea", {".duvet/config.toml": FILES[".duvet/config.toml"] + entry})
    rest = "3 of 4 requirements uncited or to do; 8 not applicable; 1 listed\n"
    assert tea("uncited", "--limit", "1").err == rest
    done = Done(0, "", "0 of 0 requirements with a todo; 8 not applicable\nPASS: no requirement in the list\n")
    assert tea("uncited", "--section", "brewing", "--todo", "--fail-on", "any") == done
    listed = tea("uncited", "--status", "not-applicable")
    assert (listed.out.count("\n"), listed.err) == (8, "8 of 12 requirements with the state not applicable\n")


VERDICTS = [
    ("must", "", 1, "FAIL: --fail-on must: 2 requirements\n"),
    ("should", "", 1, "FAIL: --fail-on should: 3 requirements\n"),
    ("may", "", 1, "FAIL: --fail-on may: 4 requirements\n"),
    ("SHOULD", "", 1, "FAIL: --fail-on should: 3 requirements\n"),
    ("any", "", 1, "FAIL: --fail-on any: 5 requirements\n"),
    ("should", "--spec pot", 1, "FAIL: --fail-on should: 1 requirement\n"),
    ("must", "--section serving", 0, "PASS: no MUST requirement in the list\n"),
    ("must", "--status done", 1, "FAIL: --fail-on must: 1 requirement\n"),
]


def test_the_gate_fails_for_uncited_requirements(tea: Run) -> None:
    ##= man/spec/queries.md#uncited
    ##% With `--fail-on LEVEL`, `duvet uncited` MUST exit with 1 if it finds a requirement of this or a stronger level,
    ##% or if the project has errors.
    for level, more, code, verdict in VERDICTS:
        listed = tea("uncited", *more.split())
        args = ("uncited", "--fail-on", level, *more.split())
        assert tea(*args) == Done(code, listed.out, listed.err + verdict)
        cut = tea(*args, "--limit", "1")
        assert (cut.code, cut.out, cut.err.splitlines()[-1] + "\n") == (
            code,
            f"{listed.out.splitlines()[0]}\n",
            verdict,
        )
        assert tea("-q", *args) == Done(code, listed.out, verdict if code else "")


def test_the_gate_on_github(tea: Run) -> None:
    environ = {"GITHUB_ACTIONS": "true"}
    before = tea("uncited", "--fail-on", "must", "--limit", "1")
    done = tea("uncited", "--fail-on", "must", "--limit", "1", environ=environ)
    uncited = "title=DUV062 gate-not-cited::nothing cites this requirement%0Ahelp:"
    commands = (
        f"::error file=pot.md,line=6,{uncited} pot.md#lid: The lid MUST fit.\n"
        f"::error file=tea.md,line=9,{uncited} tea.md#brewing: The leaves MUST NOT be old.\n"
    )
    assert done == Done(1, before.out + commands, before.err)
    untested = tea("uncited", "--untested", "--fail-on", "may", "--section", "serving", "--limit", "0", environ=environ)
    about = "title=DUV063 gate-not-tested::no test cites all of this requirement%0Ahelp: tea.md#serving:"
    assert untested.out.splitlines()[2:] == [
        f"::error file=tea.md,line=18,{about} Everybody SHOULD wait.",
        f"::error file=tea.md,line=19,{about} A biscuit MAY be offered.",
    ]
    for args in (("--format", "plain", "--fail-on", "any"), ("--todo", "--fail-on", "any"), ("--limit", "1")):
        assert "::error" not in tea("uncited", *args, environ=environ).out


@pytest.mark.parametrize("quiet", [True, False])
def test_the_gate_of_a_project_with_errors(quiet: bool, tea: Run, tmp_path: Path) -> None:
    make(tmp_path / "tea", {"src/wrong.rs": "//= tea.md#brewing\n//# The water MUST freeze.\n"})
    verdict = "FAIL: --fail-on must: not checked because of 1 error in the project\n"
    errors = "1 error in the project; results may be incomplete; run `duvet validate` to list them\n"
    said = "" if quiet else f"{errors}0 of 0 requirements uncited or to do\n"
    args = ("-q",) if quiet else ()
    assert tea(*args, "uncited", "--spec", "spoon") == Done(0, "", said)
    assert tea(*args, "uncited", "--spec", "spoon", "--fail-on", "must") == Done(1, "", said + verdict)
