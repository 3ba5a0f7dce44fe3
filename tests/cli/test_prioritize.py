"""`duvet prioritize`: what to work on next, and why."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.tables import ListFormat
from tests.cli.examples import examples
from tests.cli.made import make
from tests.cli.running import Done, Run, files, runner
from tests.cli.test_streams import unread
from tests.cli.test_uncited import ERRORS, WITH_RFC, WRONG
from tests.conftest import ROOT
from tests.unit.queries.made import FILES

COUNT = "9 of 9 requirements listed, most urgent first\n"
SERVING = "[[not-applicable]]\ntarget = 'tea.md#serving'\nreason = 'Nobody comes.'\n"


@pytest.mark.parametrize("format", ListFormat)
@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("ranked", (), COUNT),
        ("explained", ("--explain", "--limit", "4"), "4 of 9 requirements listed, most urgent first\n"),
        ("all", ("--all", "--spec", "tea"), "10 of 10 requirements listed, most urgent first\n"),
    ],
)
def test_formats(name: str, args: tuple[str, ...], said: str, format: str, tea: Run, snapshot: Snapshot) -> None:
    done = tea("prioritize", *args, "--format", format)
    assert (done.code, done.err) == (0, said)
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "prioritize"
    snapshot.assert_match(done.out, f"{name}.{format}.txt")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("implement_requirement", ("--prompt",)),
        ("implement_to_do", ("--prompt", "--status", "not-started")),
        ("implement_partial", ("--status=in-progress", "--prompt=implement_requirement")),
        ("implement_may", ("--section", "serving", "--level", "may", "--prompt")),
        ("write_test", ("--prompt", "write_test")),
        ("write_test_first", ("--prompt", "write_test", "--section", "lid")),
    ],
)
def test_prompts(name: str, args: tuple[str, ...], tea: Run, snapshot: Snapshot) -> None:
    ##= man/spec/queries.md#priorities
    ##% With `--prompt`, `duvet prioritize` MUST print a prompt about the most urgent requirement, and nothing else.
    ##= man/spec/mcp.md#prompts
    ##% A prompt about a requirement MUST contain its text, id, target, level, status, and citations with the code
    ##% around them, and show the comments to write.
    done = tea("prioritize", *args)
    assert (done.code, done.err) == (0, "")
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "prioritize"
    snapshot.assert_match(done.out, f"prompt.{name}.md")


def test_a_prompt_does_not_drive_the_terminal(tea: Run, tmp_path: Path) -> None:
    make(tmp_path / "tea", {"src/brewing.rs": "// \x1b[31mred\n//= tea.md#brewing\n//# The leaves MUST be dry.\n"})
    done = tea("prioritize", "--prompt", "--status", "needs-tests")
    assert (done.code, "\x1b" in done.out, "        1  // \\u{1b}[31mred\n" in done.out) == (0, False, True)


def test_text_in_a_prompt_is_neither_markup_nor_a_template(tea: Run, tmp_path: Path) -> None:
    make(tmp_path / "tea", {"tea.md": '# Tea\n\nIt MUST be "<b>" & {{ hot }}.\n', "src/brewing.rs": ""})
    done = tea("prioritize", "--spec", "tea", "--prompt")
    assert (done.code, done.out.splitlines()[2]) == (0, '> It MUST be "<b>" & {{ hot }}.')


def test_what_is_not_applicable(tea: Run, tmp_path: Path) -> None:
    ##= man/spec/queries.md#priorities
    ##% `duvet prioritize` MUST leave out requirements that are done, excepted with a reason or not applicable, unless
    ##% it is asked for them.
    make(tmp_path / "tea", {".duvet/config.toml": FILES[".duvet/config.toml"] + SERVING})
    assert "#serving" not in tea("prioritize").out + tea("uncited").out + tea("uncited", "--untested").out
    asked = tea("prioritize", "--all", "--section", "serving", "--format", "csv").out.splitlines()
    assert [line.split(",", 5)[5] for line in asked[1:]] == [
        '"SHOULD, done: not applicable",Everybody SHOULD wait.',
        '"MAY, done: not applicable",A biscuit MAY be offered.',
    ]


def test_nothing_is_left_to_do(tea: Run, tmp_path: Path) -> None:
    help = "`duvet prioritize --all` ranks what is done, too"
    error = f"error: nothing is left to do\n  = help: {help}\n\nencountered 1 errors\n"
    make(tmp_path / "tea", {".duvet/config.toml": FILES[".duvet/config.toml"] + SERVING})
    assert tea("prioritize", "--section", "serving", "--prompt") == Done(1, "", error)
    help = "leave out some of them"
    error = f"error: no requirement is what the options ask for\n  = help: {help}\n\nencountered 1 errors\n"
    assert tea("prioritize", "--spec", "spoon", "--all", "--prompt") == Done(1, "", error)


def test_a_prompt_of_a_project_with_errors(tea: Run, tmp_path: Path) -> None:
    before = tea("prioritize", "--prompt").out
    make(tmp_path / "tea", WRONG)
    assert tea("prioritize", "--prompt") == Done(0, before, ERRORS)


def test_a_pipe_gets_plain_lines(tea: Run) -> None:
    assert tea("prioritize") == tea("prioritize", "--format", "plain")


@pytest.mark.parametrize(
    ("args", "listed", "among"),
    [
        (("--spec", "pot"), 2, 2),
        (("--section", "pot#lid", "--level", "none"), 1, 1),
        (("--status", "done"), 3, 3),
        (("--status", "in-progress", "--status", "needs-tests"), 4, 4),
        (("--all",), 12, 12),
        (("--all", "--status", "not-started"), 5, 5),
        (("--limit", "1"), 1, 9),
        (("--limit", "0"), 9, 9),
        (("--spec", "spoon"), 0, 0),
    ],
)
def test_what_is_listed(args: tuple[str, ...], listed: int, among: int, tea: Run) -> None:
    done = tea("prioritize", *args)
    noun = "requirement" if among == 1 else "requirements"
    said = f"{listed} of {among} {noun} listed, most urgent first\n"
    assert (done.code, done.out.count("\n"), done.err) == (0, listed, said)
    assert tea("-q", "prioritize", *args) == Done(0, done.out, "")


def test_twenty_are_listed(tea: Run, tmp_path: Path) -> None:
    many = "# Many\n\n" + "".join(f"It MUST be {number}.\n" for number in range(30))
    make(tmp_path / "tea", WITH_RFC | {"rfc9114.md": many})
    done = tea("prioritize")
    assert (done.out.count("\n"), done.err) == (20, "20 of 39 requirements listed, most urgent first\n")


def test_a_project_with_errors(tea: Run, tmp_path: Path) -> None:
    make(tmp_path / "tea", WRONG)
    done = tea("prioritize")
    assert (done.code, done.out.count("\n"), done.err) == (0, 9, ERRORS + COUNT)


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--spec", "tee"), 1, 'error: there is no specification "tee"\n  = help: did you mean tea?\n'),
        (("--section", "brew"), 1, 'error: there is no section "brew"\n  = help: did you mean brewing?\n'),
        (("--level", "shall"), 2, "Error: Invalid value for '--level': 'shall' is not one of"),
        (("tea",), 2, "Error: Got unexpected extra argument (tea)\n"),
        (
            ("--prompt", "write-tests"),
            1,
            'error: there is no prompt "write-tests"\n  = help: did you mean write_test?\n',
        ),
        (("--prompt", "--explain"), 2, "Error: --prompt is no list: it takes neither --explain nor --format\n"),
        (("--prompt", "--format", "json"), 2, "Error: --prompt is no list: it takes neither --explain nor --format\n"),
    ],
)
def test_what_can_not_be_asked(args: tuple[str, ...], code: int, said: str, tea: Run) -> None:
    done = tea("prioritize", *args)
    assert (done.code, done.out, said in done.err) == (code, "", True), done.err


def test_without_requirements_or_configuration(tmp_path: Path, kettle: Path, duvet: Run, duvet_command: str) -> None:
    make(kettle, {"spec.md": "# Kettle\n", "src/a.rs": ""})
    for run in (duvet, runner(duvet_command, tmp_path)):
        assert run("prioritize") == run("uncited")


@pytest.mark.parametrize("example", examples("prioritize"), ids=" ".join)
def test_examples(example: list[str], tea: Run, tmp_path: Path) -> None:
    make(tmp_path / "tea", WITH_RFC)
    done = tea(*example)
    assert (done.code, "error" in done.err.lower()) == (0, False)


def test_nothing_is_written_but_the_cache(tea: Run, tmp_path: Path) -> None:
    before = files(tmp_path)
    assert tea("prioritize") == tea("prioritize") == tea("--no-cache", "prioritize")
    assert files(tmp_path) == before


@pytest.mark.skipif(sys.platform == "win32", reason="a shell and its streams")
def test_streams(tea: Run, duvet_command: str, tmp_path: Path) -> None:
    stream = unread()
    assert tea("prioritize", stdout=stream) == Done(0, "", COUNT)
    assert tea("prioritize", stderr=stream).code == 0
    os.close(stream)
    shell = runner("/bin/sh", tmp_path / "tea")
    assert shell("-c", f"{duvet_command} prioritize <&-") == tea("prioritize")
    assert shell("-c", f"{duvet_command} prioritize | head -n 1").out.count("\n") == 1
    done = shell("-c", f"{duvet_command} prioritize >&-")
    assert done == Done(1, "", "error: standard output is closed [DUV015]\n --> -\n\nencountered 1 errors\n")
