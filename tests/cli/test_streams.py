import os
import select
import subprocess
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import LINUX, Done, Run, failed, files, interrupt, play, runner, shell, start
from tests.cli.sample_project import CONFIG, make
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.project.faulty_project import FILES as WRONG
from tests.unit.queries.query_projects import FILES as QUERIES
from tests.unit.specs.download_server import LONGEST, Held, text

CLOSED = "standard output is closed [DUV015]", "-"
INTERRUPTED = Done(130, "", "\ninterrupted\n")
SNAPSHOT = ".duvet/snapshot.txt"
COMMANDS: dict[str, dict[str, str]] = {
    "uncited --fail-on must": QUERIES,
    "show src/pot.rs --context 1000": TEA_PROJECT,
    "-q validate --format json src/right.py": WRONG,
    "-q validate --diff src/broken.rs": WRONG,
    "cite tea#cup --at src/pot.rs:7 --dry-run": TEA_PROJECT,
}
"""Commands that write a result to standard output, each in a project."""


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_minds_its_streams(line: str, duvet_command: str, unread: int, tmp_path: Path) -> None:
    args = line.split()
    folder = make(tmp_path / "project", COMMANDS[line])
    duvet = runner(duvet_command, folder)
    code, out, err = duvet(*args)
    before = files(folder)
    assert out
    assert duvet(*args, stdout=unread) == Done(code, "", err)
    assert duvet(*args, stderr=unread) == Done(code, out, "")
    first = f"{out.splitlines()[0]}\n"
    piped = shell(duvet_command, folder, f"duvet {line} <&- | head -n 1; exit ${{PIPESTATUS[0]}}")
    assert piped == Done(code, first, err)
    done = shell(duvet_command, folder, f"duvet {line} >&-")
    assert (done.code, done.err.endswith(failed(*CLOSED).err)) == (1, True)
    assert files(folder) == before


def test_a_citation_is_written_only_where_it_can_be_shown(duvet_command: str, unread: int, tmp_path: Path) -> None:
    folder = make(tmp_path / "tea", TEA_PROJECT)
    before = files(folder)
    assert shell(duvet_command, folder, "duvet cite tea#cup --at src/pot.rs:7 <&- >&-") == failed(*CLOSED)
    assert files(folder) == before
    assert runner(duvet_command, folder)("cite", "tea#cup", "--at", "src/pot.rs:1", stdout=unread) == Done(0, "", "")
    assert files(folder)["src/pot.rs"].startswith(b"//= tea.md#cup\n")


def test_nobody_reads_standard_output(duvet: Run, unread: int) -> None:
    for line in ("-q report --json -", "config", "--help", "--version"):
        assert duvet(*line.split(), stdout=unread) == Done(0, "", "")


def test_nobody_reads_standard_error_or_the_report(kettle: Path, duvet: Run, unread: int) -> None:
    for line, code in {"frobnicate": 2, "": 2, "extract": 2, "report": 0}.items():
        assert duvet(*line.split(), stderr=unread) == Done(code, "", "")
        assert (kettle / ".duvet/reports/report.json").exists() == (line == "report")
    (kettle / SNAPSHOT).unlink()
    assert duvet("report", "--ci", stderr=unread) == Done(1, "", "")
    done = duvet("-q", "report", "--ci", "--json", "-", stdout=unread)
    assert (done.code, done.err.count("error: Could not read report snapshot.")) == (1, 1)


AGAIN = f"rm -f {SNAPSHOT}; duvet -q report {{}}; ls {SNAPSHOT}"
REPORT = ".duvet/reports/report.json"
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "closed": (
        *(f"$ {AGAIN.format(closed)}" for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-")),
        *("$ duvet -q report --json - | head -c 1", "$ duvet -q report --json - >&-", "$ duvet frobnicate 2>&-"),
        "$ echo //= spec.md#nowhere >src/a.rs; duvet report 2>&-",
    ),
    "full": (
        *({"src/a.rs": ""}, "$ cp -r .duvet ../before"),
        *(f"$ duvet {line} >/dev/full" for line in ("-q report --json -", "-q config", "--help", "--version")),
        "$ diff -r -x cache ../before .duvet && echo unchanged",
    ),
    # Standard output under each of its names.
    "names": tuple(
        f"$ duvet -q report --json {name} | cmp - {REPORT}; duvet -q report --json {name} >out; cmp out {REPORT}"
        for name in ("-", "/dev/stdout", "/dev/fd/1")
    ),
}


@LINUX
@pytest.mark.parametrize("name", SCENARIOS)
def test_standard_streams(name: str, reported: Path, duvet: Run, gold: Snapshot) -> None:
    gold.assert_match(play(duvet, reported, *SCENARIOS[name]), f"{name}.txt")


def test_a_pipe_with_a_reader(reported: Path, duvet: Run) -> None:
    expected = (reported / ".duvet/reports/report.json").read_bytes()
    os.mkfifo(reported / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=reported, stdout=subprocess.PIPE) as reader:
        # Opening it waits for the reader; from here on there is one.
        with open(reported / "pipe", "wb"):
            assert duvet("-q", "report", "--json", "pipe") == Done(0, "", "")
        assert reader.communicate(timeout=60)[0] == expected


def test_an_interruption_while_downloading(held: Held, reported: Path, duvet_command: str) -> None:
    held.held = None
    url = f"{held.url}/good/spec"
    before = files(make(reported, {".duvet/config.toml": CONFIG.replace('"spec.md"', f'"{url}"')}))
    process = start(duvet_command, reported, "report", "--allow-http")
    assert interrupt(process, "  Extracting requirements\n", f" Downloading {url}\n") == INTERRUPTED
    assert files(reported) == before


def test_an_interruption_while_downloading_several(held: Held, reported: Path, duvet_command: str) -> None:
    held.held = {"/good/slow", "/good/stuck"}
    urls = [f"{held.url}/good/{name}" for name in ("slow", "quick", "stuck")]
    configured = "[[specification]]\n".join(f'source = "{url}"\n' for url in urls)
    before = files(make(reported, {".duvet/config.toml": CONFIG.replace('source = "spec.md"\n', configured)}))
    process = start(duvet_command, reported, "report", "--allow-http")
    assert {held.asked.get(timeout=LONGEST) for _ in urls} == {"/good/slow", "/good/quick", "/good/stuck"}
    assert interrupt(process, *(f" Downloading {url}\n" for url in urls), f"  Downloaded {urls[1]} \n") == INTERRUPTED
    assert files(reported) == {**before, ".duvet/specifications/127.0.0.1/good/quick.txt": text("quick")}


def test_an_interruption_while_writing(reported: Path, duvet_command: str) -> None:
    make(reported, {"src/a.rs": "//= spec.md#heating\n//# The kettle MUST boil water.\n" * 2000})
    before = files(reported)
    os.mkfifo(reported / "pipe")
    reader = os.open(reported / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    process = start(duvet_command, reported, "-q", "report", "--json", "pipe")
    # What comes first is in the pipe, and the rest does not fit.
    assert select.select([reader], [], [], 60)[0] == [reader]
    assert interrupt(process) == INTERRUPTED
    os.close(reader)
    assert files(reported) == before
