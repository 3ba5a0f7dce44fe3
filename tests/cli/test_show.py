"""`duvet show`, as a process in a project"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet import Project
from duvet.trace.coverage import compute_totals
from duvet.trace.records import Status
from tests.cli.examples import examples
from tests.cli.made import make
from tests.cli.made_tea import TEA_PROJECT
from tests.cli.running import Done, Run, environment, files, runner
from tests.cli.terminals import shown
from tests.conftest import ROOT

GOLD = ROOT / "tests" / "gold" / "show"
THINGS = {
    "requirement": "1dd64a53",
    "requirement_uncited": "5bfbf88b",
    "section": "tea.md#pot",
    "section_of_pages": "rfc7168#2",
    "section_cited": "tea.md#sugar",
    "specification": "tea",
    "place": "src/pot.rs:8",
    "file": "src/pot.rs",
    "requirement_file": ".duvet/exceptions/coffee.toml",
}
ENDINGS = {"text": "txt", "json": "json", "markdown": "md"}

ERRORS = "2 errors in the project, so not everything counts; `duvet validate` lists what is wrong\n"
ONE_ERROR = ERRORS.replace("2 errors", "1 error")

TWO = """\
error: "tea.md:7" could mean 2 requirements
  = help: give one of these ids:
          1dd64a535306  The pot MUST be warm.
          a5415b83517f  It SHOULD be round, and nobody MAY drop it.
"""


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", TEA_PROJECT)


@pytest.fixture
def duvet(duvet_command: str, tea: Path) -> Run:
    return runner(duvet_command, tea)


@pytest.mark.parametrize("name", THINGS)
def test_everything_in_every_format(name: str, duvet: Run, snapshot: Snapshot) -> None:
    ##= man/spec/show.md#details
    ##% For a requirement that occurs in several places, duvet MUST show the worst status and list all places.
    ##= man/spec/show.md#details
    ##% `duvet show` MUST show a requirement with the reason for its status and its citations by type, and a citation
    ##% with its place, its problems and the code around it.
    ##= man/spec/trace.md#specifications
    ##% duvet MUST leave the headers and footers of pages out of sections.
    snapshot.snapshot_dir = GOLD
    for format, ending in ENDINGS.items():
        code, out, err = duvet("show", THINGS[name], "--format", format)
        assert (code, err) == (0, ERRORS)
        snapshot.assert_match(out, f"{name}.{ending}")


@pytest.mark.parametrize("format", ENDINGS)
def test_why_a_requirement_is_not_owed(format: str, duvet: Run, tea: Path, snapshot: Snapshot) -> None:
    ##= man/spec/show.md#details
    ##% `duvet show` MUST show a requirement with the reason for its status and its citations by type, and a citation
    ##% with its place, its problems and the code around it.
    entry = """\
[[not-applicable]]
target = "tea.md#pot"
quote = "The lid MUST fit"
reason = "Our pots are open."
owner = "Ann"
expiry = 2999-12-31
"""
    make(tea, {".duvet/config.toml": TEA_PROJECT[".duvet/config.toml"] + entry})
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(duvet("show", "5bfbf88b", "--format", format).out, f"not_owed.{ENDINGS[format]}")


def test_text_is_the_usual_format(duvet: Run) -> None:
    assert duvet("show", "tea") == duvet("show", "tea", "--format=text") == duvet("--no-cache", "show", "tea")


@pytest.mark.parametrize(("context", "numbers"), [("0", [3, 4]), ("1", [2, 3, 4, 5]), ("1000", [*range(1, 37)])])
def test_context(context: str, numbers: list[int], duvet: Run) -> None:
    _, out, _ = duvet("show", "src/pot.rs:3", "--context", context)
    lines = [line.split() for line in out.splitlines()]
    assert [int(line[0]) for line in lines if len(line) > 1 and line[0].isdigit() and line[1] in "|>"] == numbers


def test_nothing_is_written(duvet: Run, tea: Path) -> None:
    ##= man/spec/trace.md#reports
    ##% `duvet search`, `duvet show`, `duvet ask` and the library MUST write nothing into a project but downloads and
    ##% the cache.
    before = files(tea)
    for reference in THINGS.values():
        assert duvet("show", reference).code == 0
    assert files(tea) == before


def test_the_numbers_are_those_of_a_report(duvet: Run, tea: Path) -> None:
    ##= man/spec/trace.md#coverage
    ##% All commands, reports and tools MUST take their numbers from the same computation.
    for total in compute_totals(Project(str(tea)).requirements):
        if total.specification is None or total.level is not None:
            continue
        shown = json.loads(duvet("show", total.specification.id, "--format", "json").out)
        assert shown["numbers"] == {
            "requirements": total.requirements,
            "not_started": total.with_status(Status.NOT_STARTED),
            "in_progress": total.with_status(Status.IN_PROGRESS),
            "needs_tests": total.with_status(Status.NEEDS_TESTS),
            "done": total.done,
            "excepted": total.excepted,
            "not_applicable": total.not_applicable,
            "applicable": total.applicable,
            "percent": total.percent,
        }
        for key in ("requirements", "done", "excepted", "applicable"):
            parts = [section["numbers"][key] for section in shown["sections"]]
            levels = [level[key] for level in shown["levels"]]
            assert sum(parts) == sum(levels) == shown["numbers"][key]


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("5bfa", 'error: there is no requirement "5bfa"\n  = help: did you mean 5bfbf88bbb38?\n'),
        ("tea#pots", 'error: there is no section "pots" in tea.md\n  = help: did you mean pot?\n'),
        ("tea.md:7", TWO),
    ],
)
def test_what_can_not_be_shown(reference: str, words: str, duvet: Run) -> None:
    assert duvet("show", reference) == (1, "", f"{ERRORS}{words}\nencountered 1 errors\n")


def test_a_file_that_has_gone_bad(duvet: Run, tea: Path) -> None:
    (tea / "src" / "pot.rs").write_bytes(b"//= tea.md#cup\n//# A cup MUST NOT leak.\nfn \xff() {}\n")
    done = duvet("show", "src/pot.rs:3")
    assert done == Done(1, "", f'{ONE_ERROR}error: there is no annotation in "src/pot.rs"\n\nencountered 1 errors\n')


def test_a_specification_that_has_gone(duvet: Run, tea: Path) -> None:
    (tea / "tea.md").unlink()
    done = duvet("show", "tea#pot")
    words = 'error: there is no specification "tea"\n  = help: there are rfc7168\n\nencountered 1 errors\n'
    assert done == Done(1, "", ONE_ERROR + words)


def test_without_a_project(duvet_command: str, tmp_path: Path) -> None:
    code, out, err = runner(duvet_command, tmp_path)("show", "tea")
    assert (code, out) == (1, "")
    assert err.startswith("error: no configuration in this folder")


def test_wrong_usage(duvet: Run) -> None:
    code, out, err = duvet("show")
    assert (code, out) == (2, "")
    assert "the following required arguments were not provided:\n  <REF>" in err
    assert duvet("show", "tea", "--format", "csv").code == 2


def test_a_reader_that_has_read_enough(duvet_command: str, tea: Path) -> None:
    command = f"'{duvet_command}' show src/pot.rs --context 1000 | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=tea, env=environment(), capture_output=True, text=True, check=False
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "src/pot.rs  8 annotations\n", ERRORS)


def test_closed_streams(duvet_command: str, tea: Path) -> None:
    script = f"'{duvet_command}' show tea <&- >&- 2>errors.txt"
    assert subprocess.run(["sh", "-c", script], cwd=tea, env=environment(), check=False).returncode == 1
    assert (
        tea / "errors.txt"
    ).read_text() == f"{ERRORS}error: standard output is closed [DUV015]\n --> -\n\nencountered 1 errors\n"
    script = f"'{duvet_command}' show tea <&- 2>&- | head -n 1"
    done = subprocess.run(["sh", "-c", script], cwd=tea, env=environment(), capture_output=True, check=False)
    assert done.stdout == b"Tea  tea\n"


def test_colours_and_width_of_a_terminal(duvet_command: str, tea: Path, snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = GOLD
    snapshot.assert_match(
        shown(duvet_command, tea, "--color", "always", "show", "1dd64a53", columns=64), "terminal.txt"
    )


@pytest.mark.parametrize("example", examples("show"), ids=" ".join)
def test_examples(example: list[str], duvet_command: str, tmp_path: Path) -> None:
    rfc = "RFC 9114\n\n4.1.  Messages\n\n   A client MUST send only a single request on a given stream.\n"
    config = """
    '$schema' = "duvet-cli/config/v1"
    source = [{ language = "rust" }]
    specification = [{ source = "rfc9114.txt", format = "ietf" }]
    """
    lines = "//= rfc9114.txt#4.1\n//# A client MUST send only a single request on a given stream.\n"
    texts = {".duvet/config.toml": config, "rfc9114.txt": rfc, "src/lib.rs": "\n" * 40 + lines}
    done = runner(duvet_command, make(tmp_path / "example", texts))(*example)
    assert (done.code, done.err) == (0, "") and done.out
