"""`duvet uncited`: what nothing cites, and the gate on it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.tables import ListFormat
from tests.cli.examples import examples
from tests.cli.made import CONFIG, SOURCE, make
from tests.cli.running import Done, Run, files, runner
from tests.cli.test_streams import unread
from tests.conftest import ROOT
from tests.unit.queries.made import FILES

COUNT = "5 of 12 requirements uncited\n"
WITH_RFC = {
    ".duvet/config.toml": FILES[".duvet/config.toml"] + "[[specification]]\nsource = 'rfc9114.md'\n",
    "rfc9114.md": "# RFC 9114\n\nIt MUST work.\n",
}
WRONG = {"src/wrong.rs": "//= tea.md#brewing\n//# The water MUST freeze.\n"}
ERRORS = "1 error in the project, so not everything counts; `duvet validate` lists what is wrong\n"


@pytest.mark.parametrize("format", ListFormat)
@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("uncited", (), COUNT),
        ("untested", ("--untested",), "8 of 12 requirements untested\n"),
        ("todo", ("--todo",), "2 of 12 requirements to do\n"),
    ],
)
def test_formats(name: str, args: tuple[str, ...], said: str, format: str, tea: Run, snapshot: Snapshot) -> None:
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST list requirements by specification and section, with their number, the total, and how many
    ##% are not applicable.
    done = tea("uncited", *args, "--format", format)
    assert (done.code, done.err) == (0, said)
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "uncited"
    snapshot.assert_match(done.out, f"{name}.{format}.txt")


def test_a_pipe_gets_plain_lines(tea: Run) -> None:
    assert tea("uncited") == tea("uncited", "--format", "plain")


@pytest.mark.parametrize(
    ("args", "said", "count"),
    [
        (("--spec", "tea"), "3 of 10 requirements uncited\n", 3),
        (("--section", "lid"), "2 of 2 requirements uncited\n", 2),
        (("--level", "must", "--level", "NONE"), "3 of 7 requirements uncited\n", 3),
        (("--status", "done"), "3 of 12 requirements with the status done\n", 3),
        (
            ("--status", "done", "--status", "needs-tests"),
            "5 of 12 requirements with the status done or needs tests\n",
            5,
        ),
        (("--untested", "--status", "in-progress"), "1 of 12 requirements untested with the status in progress\n", 1),
        (("--spec", "spoon"), "0 of 0 requirements uncited\n", 0),
        (("--limit", "2"), "5 of 12 requirements uncited; 2 listed\n", 2),
        (("--limit", "5"), COUNT, 5),
        (("--limit", "0"), COUNT, 5),
        (("-q",), "", 5),
    ],
)
def test_what_is_listed(args: tuple[str, ...], said: str, count: int, tea: Run) -> None:
    done = tea("uncited", *args)
    assert (done.code, done.out.count("\n"), done.err) == (0, count, said)


def test_what_is_not_applicable(tea: Run, tmp_path: Path) -> None:
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST list requirements by specification and section, with their number, the total, and how many
    ##% are not applicable.
    entry = "[[not-applicable]]\ntarget = 'tea.md#brewing'\nreason = 'Nobody brews.'\n"
    make(tmp_path / "tea", {".duvet/config.toml": FILES[".duvet/config.toml"] + entry})
    rest = "3 of 4 requirements uncited; 8 not applicable; 1 listed\n"
    assert tea("uncited", "--limit", "1").err == rest
    verdict = "PASS: none of them breaks --fail-on any\n"
    done = Done(0, "", "0 of 0 requirements to do; 8 not applicable\n" + verdict)
    assert tea("uncited", "--section", "brewing", "--todo", "--fail-on", "any") == done


@pytest.mark.parametrize(
    ("args", "code", "verdict"),
    [
        (("--fail-on", "must"), 1, "FAIL: 2 of them break --fail-on must\n"),
        (("--fail-on", "should"), 1, "FAIL: 3 of them break --fail-on should\n"),
        (("--fail-on", "may"), 1, "FAIL: 4 of them break --fail-on may\n"),
        (("--fail-on", "SHOULD"), 1, "FAIL: 3 of them break --fail-on should\n"),
        (("--fail-on", "any"), 1, "FAIL: 5 of them break --fail-on any\n"),
        (("--fail-on", "should", "--spec", "pot"), 1, "FAIL: 1 of them breaks --fail-on should\n"),
        (("--fail-on", "must", "--section", "serving"), 0, "PASS: none of them breaks --fail-on must\n"),
        (("--fail-on", "must", "--status", "done"), 1, "FAIL: 1 of them breaks --fail-on must\n"),
    ],
)
def test_the_gate(args: tuple[str, ...], code: int, verdict: str, tea: Run) -> None:
    ##= man/spec/queries.md#uncited
    ##% With `--fail-on`, `duvet uncited` MUST exit with 1 if it finds a requirement of that level or a stronger one,
    ##% even beyond `--limit`, or if the project has errors.
    listed = tea("uncited", *args[2:])
    assert tea("uncited", *args) == Done(code, listed.out, listed.err + verdict)
    cut = tea("uncited", *args, "--limit", "1")
    assert (cut.code, cut.out, cut.err.splitlines()[-1] + "\n") == (code, f"{listed.out.splitlines()[0]}\n", verdict)
    quiet = tea("-q", "uncited", *args)
    assert quiet == Done(code, listed.out, verdict if code else "")


def test_the_gate_on_github(tea: Run) -> None:
    ##= man/spec/problems.md#formats
    ##% When the environment variable `GITHUB_ACTIONS` is `true` and no format is requested, duvet MUST also write
    ##% problems and failures of gates as workflow commands, unless standard output is taken.
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
    about = "title=DUV063 gate-not-tested::no test cites this requirement, or only a part of it%0Ahelp: tea.md#serving:"
    assert untested.out.splitlines()[2:] == [
        f"::error file=tea.md,line=18,{about} Everybody SHOULD wait.",
        f"::error file=tea.md,line=19,{about} A biscuit MAY be offered.",
    ]
    for args in (("--format", "plain", "--fail-on", "any"), ("--todo", "--fail-on", "any"), ("--limit", "1")):
        assert "::error" not in tea("uncited", *args, environ=environ).out


@pytest.mark.parametrize("quiet", [True, False])
def test_the_gate_of_a_project_with_errors(quiet: bool, tea: Run, tmp_path: Path) -> None:
    ##= man/spec/queries.md#uncited
    ##% With `--fail-on`, `duvet uncited` MUST exit with 1 if it finds a requirement of that level or a stronger one,
    ##% even beyond `--limit`, or if the project has errors.
    make(tmp_path / "tea", WRONG)
    verdict = "FAIL: --fail-on must can't hold while the project has 1 error\n"
    said = "" if quiet else f"{ERRORS}0 of 0 requirements uncited\n"
    args = ("-q",) if quiet else ()
    assert tea(*args, "uncited", "--spec", "spoon") == Done(0, "", said)
    assert tea(*args, "uncited", "--spec", "spoon", "--fail-on", "must") == Done(1, "", said + verdict)


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--spec", "tee"), 1, 'error: there is no specification "tee"\n  = help: did you mean tea?\n'),
        (("--section", "brew"), 1, 'error: there is no section "brew"\n  = help: did you mean brewing?\n'),
        (("--section", "tea#lid"), 1, 'error: there is no section "lid" in tea.md\n'),
        (("--untested", "--todo"), 2, "Error: --untested and --todo can't be used together\n"),
        (("--fail-on", "shall"), 2, "Error: Invalid value for '--fail-on': 'shall' is not one of"),
        (("--limit", "-1"), 2, "Error: Invalid value for '--limit': -1 is not in the range x>=0.\n"),
        (("tea",), 2, "Error: Got unexpected extra argument (tea)\n"),
    ],
)
def test_what_can_not_be_asked(args: tuple[str, ...], code: int, said: str, tea: Run) -> None:
    done = tea("uncited", *args)
    assert (done.code, done.out, said in done.err) == (code, "", True), done.err


@pytest.mark.parametrize("example", examples("uncited"), ids=" ".join)
def test_examples(example: list[str], tea: Run, tmp_path: Path) -> None:
    make(tmp_path / "tea", WITH_RFC)
    done = tea(*example)
    assert (done.code, done.out != "", "error" in done.err.lower()) == ("--fail-on" in example, True, False)


def test_a_project_without_requirements(duvet: Run, kettle: Path) -> None:
    without = "error: the project has no requirements\n  = help: {}\n\nencountered 1 errors\n"
    make(kettle, {"spec.md": "# Kettle\n", "src/a.rs": ""})
    none = "no sentence of its specifications has a keyword of RFC 2119, such as MUST"
    assert duvet("uncited") == Done(1, "", without.format(none))
    make(kettle, {".duvet/config.toml": CONFIG.partition("[[specification]]")[0]})
    assert duvet("uncited") == Done(1, "", without.format(NONE_NAMED))
    make(kettle, {"src/a.rs": SOURCE})
    (kettle / "spec.md").unlink()
    errors = "2 errors in the project; `duvet validate` lists what is wrong"
    assert duvet("uncited") == Done(1, "", without.format(errors))


NONE_NAMED = "name a specification in the configuration, as `[[specification]]`"


def test_a_folder_without_configuration(tmp_path: Path, duvet_command: str) -> None:
    done = runner(duvet_command, tmp_path)("uncited")
    assert done == Done(
        1,
        "",
        "error: no configuration in this folder [DUV010]\n --> .duvet/config.toml\n"
        "  = help: write one with `duvet init`\n\nencountered 1 errors\n",
    )


def test_nothing_is_written_but_the_cache(tea: Run, tmp_path: Path) -> None:
    before = files(tmp_path)
    tea("uncited")
    assert files(tmp_path) == before
    tea("--no-cache", "uncited")
    assert files(tmp_path) == before


def test_an_answer_follows_the_files(tea: Run, tmp_path: Path) -> None:
    first = tea("uncited")
    assert tea("uncited") == tea("--no-cache", "uncited") == first
    make(tmp_path / "tea", {"src/lid.rs": "//= pot.md#lid\n//# The lid MUST fit.\n"})
    assert tea("uncited").err == tea("--no-cache", "uncited").err == "4 of 12 requirements uncited\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell and its streams")
def test_streams(tea: Run, duvet_command: str, tmp_path: Path) -> None:
    said = f"{COUNT}FAIL: 2 of them break --fail-on must\n"
    stream = unread()
    assert tea("uncited", "--fail-on", "must", stdout=stream) == Done(1, "", said)
    assert tea("uncited", "--fail-on", "must", stderr=stream).code == 1
    os.close(stream)
    shell = runner("/bin/sh", tmp_path / "tea")
    assert shell("-c", f"{duvet_command} uncited --format json <&-") == tea("uncited", "--format", "json")
    done = shell("-c", f"{duvet_command} uncited >&-")
    assert done == Done(1, "", "error: standard output is closed [DUV015]\n --> -\n\nencountered 1 errors\n")
