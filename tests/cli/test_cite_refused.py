"""`duvet cite`: what is refused, and that nothing is written then."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.errors import OutputError
from duvet.project.project import Project
from duvet.queries.new_citation import CiteOptions, insert_citation, write_cited_file
from duvet.queries.references import CitableText
from tests.cli.citing import LID, duvet, tea
from tests.cli.made import make
from tests.cli.running import Run, environment, files
from tests.conftest import ROOT

__all__ = ["duvet", "tea"]  # fixtures, which tests ask for by name


@pytest.fixture
def snapshot(snapshot: Snapshot) -> Snapshot:
    """Golden files beside those of other commands."""
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "cite"
    return snapshot


def test_what_validate_would_refuse(duvet: Run, tea: Path, snapshot: Snapshot) -> None:
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST NOT write a citation in which `duvet validate` would find a problem.
    lid = (LID, "--at", "src/lid.rs:1")
    asked = (
        ("a5415b83", "--at", "src/pot.rs:9"),
        ("2c796587", "--at", "src/pot.rs:1"),
        (LID, "--at", "src/text.rs:2"),
        (*lid, "--type", "exception"),
        (*lid, "--type", "exception", "--reason", " "),
        (*lid, "--type", "todo", "--reason", "x"),
        (*lid, "--feature", "x"),
    )
    snapshot.assert_match(refused(asked, duvet, tea), "validate.txt")


def test_files_that_are_no_sources(duvet: Run, tea: Path, snapshot: Snapshot) -> None:
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST refuse a file that no source pattern matches, a line that the file does not have, and a place
    ##% inside an annotation or a continued line.
    places = ("notes.txt:1", "rfc7168.txt:1", "src:1", "c:1", "src/no.rs:1", "-:1", "src/lid.rs")
    snapshot.assert_match(refused([(LID, "--at", place) for place in places], duvet, tea), "files.txt")


def test_lines_that_are_refused(duvet: Run, tea: Path, snapshot: Snapshot) -> None:
    places = ("src/pot.rs:4", "src/pot.rs:6", "src/pot.rs:3", "src/lid.rs:4", "src/lid.rs:0", "src/program.rs:1")
    make(tea, {"src/program.rs": "#!/usr/bin/env run\nfn lid() {}\n"})
    snapshot.assert_match(refused([("tea#cup", "--at", place) for place in places], duvet, tea), "lines.txt")


def test_what_can_not_be_cited(duvet: Run, tea: Path, snapshot: Snapshot) -> None:
    ##= man/spec/cite.md#what-is-refused
    ##% `duvet cite` MUST refuse the id of a requirement that occurs in several places, and list these places.
    here = ("--at", "src/lid.rs:1")
    references = ("1dd6", "src/pot.rs:9", "src/pot.rs:25", "tea", "src/pot.rs", "5bfa", "tea#pots")
    parts = ((LID, "a pot"), (LID, " "), ("tea#pot", "Pot"))
    asked = [(one, *here) for one in references] + [(one, *here, "--part", part) for one, part in parts]
    snapshot.assert_match(refused(asked, duvet, tea), "references.txt")


def refused(asked: Iterable[tuple[str, ...]], duvet: Run, tea: Path) -> str:
    """All that is said where nothing is written."""
    before, said = files(tea), []
    for args in asked:
        code, out, err = duvet("cite", *args)
        assert (code, out) == (1, "")
        said.append(f"$ duvet cite {shlex.join(args)}\n{err}")
    assert files(tea) == before
    return "\n".join(said)


def test_wrong_usage(duvet: Run) -> None:
    for args in (("cite", LID), ("cite", "--at", "a:1"), ("cite", LID, "--at", "a:1", "--type", "spec")):
        code, out, _ = duvet(*args)
        assert (code, out) == (2, "")


def test_a_source_that_is_not_utf_8(duvet: Run, tea: Path) -> None:
    (tea / "src/lid.rs").write_bytes(b"fn lid() {}\n\xff\n")
    code, out, err = duvet("cite", LID, "--at", "src/lid.rs:1")
    assert (code, out) == (1, "")
    assert err.startswith("error: invalid utf-8 sequence of 1 bytes from index 12 [DUV011]\n --> src/lid.rs:2\n")


def test_a_byte_order_mark_stays(duvet: Run, tea: Path) -> None:
    (tea / "src/lid.rs").write_bytes(b"\xef\xbb\xbf// Lids\nfn lid() {}\n")
    said = refused([(LID, "--at", "src/lid.rs:1")], duvet, tea)
    assert said.splitlines()[1] == "error: the file has to begin with a byte order mark"
    assert duvet("cite", "tea#cup", "--at", "src/lid.rs:2").code == 0
    assert (tea / "src/lid.rs").read_bytes() == b"\xef\xbb\xbf// Lids\n//= tea.md#cup\nfn lid() {}\n"


def test_a_file_that_changes_meanwhile(tea: Path) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% `duvet cite` MUST write the file completely or not at all, through links and with its permissions, unless the
    ##% file has changed since it was read.
    project = Project(str(tea))
    found = insert_citation(project, CitableText("tea.md#pot", ""), CiteOptions("src/lid.rs", 1))
    (tea / "src/lid.rs").write_text("fn other() {}\n")
    with pytest.raises(OutputError, match="this file has changed meanwhile"):
        write_cited_file(project, found)
    assert (tea / "src/lid.rs").read_text() == "fn other() {}\n"
    write_cited_file(
        Project(str(tea)),
        insert_citation(Project(str(tea)), CitableText("tea.md#pot", ""), CiteOptions("src/lid.rs", 1)),
    )
    assert (tea / "src/lid.rs").read_text() == "//= tea.md#pot\nfn other() {}\n"


def test_a_quote_that_is_not_there_is_found_out(tea: Path) -> None:
    project = Project(str(tea))
    for wanted, words in (
        (CitableText("tea.md#pot", "The pot MUST be blue."), 'could not find text in section "pot" of tea.md'),
        (CitableText("tea.md#pots", ""), 'missing section "pots" in tea.md'),
    ):
        with pytest.raises(Exception, match=words):
            insert_citation(project, wanted, CiteOptions("src/lid.rs", 1))


def test_closed_streams_and_readers_that_have_gone(duvet_command: str, tea: Path) -> None:
    before = files(tea)
    script = f"'{duvet_command}' cite tea#cup --at src/lid.rs:1 <&- >&- 2>errors.txt"
    subprocess.run(["sh", "-c", script], cwd=tea, env=environment(), check=False)
    assert (tea / "errors.txt").read_text().startswith("error: standard output is closed")
    (tea / "errors.txt").unlink()
    assert files(tea) == before
    reader, writer = os.pipe()
    os.close(reader)
    command = [duvet_command, "cite", "tea#pot", "--at", "src/text.rs:1"]
    done = subprocess.run(command, cwd=tea, env=environment(), stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tea / "src/text.rs").read_text().startswith("//= tea.md#pot\n")
