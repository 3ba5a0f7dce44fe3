from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.tables import ListFormat
from tests.cli.command import Done, Run, play
from tests.cli.sample_project import make
from tests.unit.queries.query_projects import FILES

COUNT = "5 of 12 requirements uncited or `to do`\n"


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


LISTED = (
    *("--spec tea", "--section lid", "--level must --level NONE", "--status done", "--spec spoon", "-q"),
    *("--status done --status needs-tests", "--untested --status in-progress"),
    *("--limit 2", "--limit 5", "--limit 0"),
)


def test_listed_requirements(tea: Run, tmp_path: Path, gold: Snapshot) -> None:
    gold.assert_match(play(tea, tmp_path, *(f"uncited {args}" for args in LISTED)), "listed.txt")


def test_not_applicable_requirements(tea: Run, tmp_path: Path) -> None:
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST leave out requirements that are not applicable, unless `--status` selects them and neither
    ##% `--untested` nor `--todo` is given.
    entry = "[[not-applicable]]\ntarget = 'tea.md#brewing'\nreason = 'Nobody brews.'\n"
    make(tmp_path / "tea", {".duvet/config.toml": FILES[".duvet/config.toml"] + entry})
    rest = "3 of 4 requirements uncited or `to do`; 8 not applicable; 1 listed\n"
    assert tea("uncited", "--limit", "1").err == rest
    done = Done(0, "", "0 of 0 requirements with a todo; 8 not applicable\nPASS: no requirement in the list\n")
    assert tea("uncited", "--section", "brewing", "--todo", "--fail-on", "any") == done
    listed = tea("uncited", "--status", "not-applicable")
    assert (listed.out.count("\n"), listed.err) == (8, "8 of 12 requirements in the state `not applicable`\n")
    for kind in ("--todo", "--untested"):
        assert tea("uncited", "--status", "not-applicable", kind).out == ""


GATES = (
    *("must", "should", "may", "SHOULD", "any", "should --spec pot", "must --section serving", "must --status done"),
    *("must --limit 1", "must --section serving -q", "must -q"),
)


def test_the_gate_fails_for_uncited_requirements(tea: Run, tmp_path: Path, gold: Snapshot) -> None:
    ##= man/spec/queries.md#uncited
    ##% With `--fail-on LEVEL`, `duvet uncited` MUST exit with 1 if it finds a requirement of this or a stronger level,
    ##% or if the project has errors.
    gold.assert_match(play(tea, tmp_path, *(f"uncited --fail-on {args}" for args in GATES)), "gates.txt")


def test_the_gate_on_github(tea: Run) -> None:
    environ = {"GITHUB_ACTIONS": "true"}
    before = tea("uncited", "--fail-on", "must", "--limit", "1")
    done = tea("uncited", "--fail-on", "must", "--limit", "1", environ=environ)
    uncited = "title=DUV062 gate-not-cited::no code or test cites this requirement%0Ahelp:"
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


def test_the_gate_of_a_project_with_errors(tea: Run, tmp_path: Path, gold: Snapshot) -> None:
    wrong = {"src/wrong.rs": "//= tea.md#brewing\n//# The water MUST freeze.\n"}
    lines = [f"{quiet}uncited --spec spoon{gate}" for quiet in ("", "-q ") for gate in ("", " --fail-on must")]
    gold.assert_match(play(tea, tmp_path / "tea", wrong, *lines), "errors.txt")
