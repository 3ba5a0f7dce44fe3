"""`duvet cite`, as a process in a project"""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.errors import OutputError
from duvet.project import Project
from duvet.queries.citable import Citable
from duvet.validation.citing import Wish, cited, write_cited
from tests.commands.examples import examples
from tests.commands.made import make
from tests.commands.made_tea import TEA_PROJECT
from tests.commands.running import Done, Run, environment, files, runner
from tests.conftest import ROOT

LID = "5bfbf88b"
PATHS = [f"/specifications/tea/sections/{section}/requirements/1dd64a535306" for section in ("pot", "cup")]
MORE = {
    ".duvet/config.toml": TEA_PROJECT[".duvet/config.toml"]
    + '[[source]]\npattern = "c/*.c"\ncomment-style = { meta = "*=", content = "*#" }\n',
    "c/pot.c": "int pot;\n",
    "src/lid.rs": "fn lid() {\r\n\tturn();\r\n}",
    "src/text.rs": 'const TEXT: &str = "\nfn lid() {\n";\n',
    "notes.txt": "A lid.\n",
}


@pytest.fixture
def snapshot(snapshot: Snapshot) -> Snapshot:
    """Golden files beside those of other commands."""
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "cite"
    return snapshot


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", {**TEA_PROJECT, **MORE})


@pytest.fixture
def duvet(duvet_command: str, tea: Path) -> Run:
    return runner(duvet_command, tea)


def test_a_citation_is_inserted_and_shown(duvet: Run, tea: Path) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% What has been written MUST be shown with its place on standard output.
    ##= man/spec/cite.md#what-is-written
    ##% No other byte of the file may change: line ends, a byte order mark and a missing end of the last line MUST stay as
    ##% they are.
    before = files(tea)
    assert duvet("cite", LID, "--at", "src/lid.rs:2", "--width", "60") == Done(0, SHOWN, "")
    after = files(tea)
    assert after.pop("src/lid.rs") == (
        b"fn lid() {\r\n"
        b"\t//= tea.md#pot\r\n"
        b"\t//# The lid MUST fit the pot, unless there is none,\r\n"
        b"\t//# which is a pity that many a tea party has seen\r\n"
        b"\t//# already.\r\n"
        b"\tturn();\r\n}"
    )
    assert before.items() >= after.items()
    code, out, _ = duvet("show", LID)
    assert code == 0 and "needs tests" in out and "\nsrc/lid.rs:2\n" in out


SHOWN = """\
src/lid.rs:2
    //= tea.md#pot
    //# The lid MUST fit the pot, unless there is none,
    //# which is a pity that many a tea party has seen
    //# already.
"""


def test_a_dry_run_shows_the_difference(duvet: Run, tea: Path) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% With `--dry-run`, a unified diff MUST be shown, and nothing written.
    before = files(tea)
    done = duvet("cite", LID, "--at", "src/lid.rs:3:1", "--dry-run", "--part", "The lid MUST\nfit")
    assert done == Done(0, DIFFERENCE, "")
    assert files(tea) == before


DIFFERENCE = """\
--- a/src/lid.rs
+++ b/src/lid.rs
@@ -1,3 +1,5 @@
 fn lid() {\r
 \tturn();\r
+//= tea.md#pot\r
+//# The lid MUST fit\r
 }
\\ No newline at end of file
"""


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (
            (LID, "--at", "tests/test_pot.py:4", "--part", "The lid"),
            "tests/test_pot.py:4\n    \x23#= tea.md#pot\n    \x23#% The lid\n",
        ),
        (
            (LID, "--at", "tests/test_pot.py:4", "--part", "The lid", "--type", "citation"),
            "tests/test_pot.py:4\n    \x23#= tea.md#pot\n    \x23#= type=implementation\n    \x23#% The lid\n",
        ),
        (
            (LID, "--at", "src/lid.rs:1", "--part", "the pot", "--type", "exception", "--reason", "No lids\nhere."),
            "src/lid.rs:1\n//= tea.md#pot\n//= type=exception\n//= reason=No lids here.\n//# the pot\n",
        ),
        (
            (LID, "--at", "src/lid.rs:1", "--part", "the pot", "--type", "todo", "--feature", "a", "--tracking-issue", "7"),
            "src/lid.rs:1\n//= tea.md#pot\n//= type=todo\n//= feature=a\n//= tracking-issue=7\n//# the pot\n",
        ),
        (
            (LID, "--at", "src/lid.rs:1", "--part", "the pot", "--type", "implication"),
            "src/lid.rs:1\n//= tea.md#pot\n//= type=implication\n//# the pot\n",
        ),
        (("tea#pot", "--at", "src/lid.rs:1"), "src/lid.rs:1\n//= tea.md#pot\n"),
        ((PATHS[0], "--at", "src/lid.rs:1"), "src/lid.rs:1\n//= tea.md#pot\n//# The pot MUST be warm.\n"),
        (
            ("tests/test_pot.py:4", "--at", "src\\lid.rs:1"),
            "src/lid.rs:1\n//= tea.md#pot\n//# The pot MUST be warm.\n",
        ),
        (("tea#sugar", "--at", "./c/pot.c:1"), "c/pot.c:1\n/*\n *= tea.md#sugar\n */\n"),
    ],
)  # fmt: skip
def test_what_is_written(args: tuple[str, ...], shown: str, duvet: Run) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% With `--part`, only these words of the requirement MUST be quoted.
    ##= man/spec/cite.md#what-is-written
    ##% For a section, the annotation MUST quote nothing, and so refer to its title.
    before = duvet("report").err.count("error:")
    assert duvet("cite", *args) == Done(0, shown, "")
    assert duvet("report").err.count("error:") == before == 2


def test_what_validate_would_refuse(duvet: Run, tea: Path, snapshot: Snapshot) -> None:
    ##= man/spec/cite.md#what-is-refused
    ##% What `duvet validate` would find something wrong with MUST NOT be written.
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
    ##% A file that no source pattern matches MUST NOT be changed.
    places = ("notes.txt:1", "rfc7168.txt:1", "src:1", "c:1", "src/no.rs:1", "-:1", "src/lid.rs")
    snapshot.assert_match(refused([(LID, "--at", place) for place in places], duvet, tea), "files.txt")


def test_lines_that_are_refused(duvet: Run, tea: Path, snapshot: Snapshot) -> None:
    ##= man/spec/cite.md#what-is-refused
    ##% A line that the file does not have, or that belongs to an annotation, MUST be refused.
    places = ("src/pot.rs:4", "src/pot.rs:6", "src/pot.rs:3", "src/lid.rs:4", "src/lid.rs:0", "src/program.rs:1")
    make(tea, {"src/program.rs": "#!/usr/bin/env run\nfn lid() {}\n"})
    snapshot.assert_match(refused([("tea#cup", "--at", place) for place in places], duvet, tea), "lines.txt")


def test_what_can_not_be_cited(duvet: Run, tea: Path, snapshot: Snapshot) -> None:
    ##= man/spec/cite.md#what-is-refused
    ##% A requirement that stands in several places MUST NOT be cited by its id alone, and the places MUST be listed.
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


def test_links_and_permissions_stay(duvet: Run, tea: Path) -> None:
    ##= man/spec/cite.md#what-is-written
    ##% The file MUST be written whole or not at all, with its permissions, and through links.
    real = tea / "real.txt"
    (tea / "src/lid.rs").rename(real)
    (tea / "src/lid.rs").symlink_to("../real.txt")
    real.chmod(0o750)
    assert duvet("cite", "tea#cup", "--at", f"{tea}/src/lid.rs:1").out == "src/lid.rs:1\n//= tea.md#cup\n"
    assert (tea / "src/lid.rs").is_symlink()
    assert real.read_bytes().startswith(b"//= tea.md#cup\r\nfn lid() {\r\n")
    assert stat.S_IMODE(real.stat().st_mode) == 0o750
    assert [path.name for path in tea.iterdir() if path.name.endswith(".new")] == []


def test_a_file_that_changes_meanwhile(tea: Path) -> None:
    ##= man/spec/cite.md#what-is-refused
    ##% A file that has changed since it was read MUST NOT be written.
    project = Project(str(tea))
    found = cited(project, Citable("tea.md#pot", ""), Wish("src/lid.rs", 1))
    (tea / "src/lid.rs").write_text("fn other() {}\n")
    with pytest.raises(OutputError, match="this file has changed meanwhile"):
        write_cited(project, found)
    assert (tea / "src/lid.rs").read_text() == "fn other() {}\n"
    write_cited(Project(str(tea)), cited(Project(str(tea)), Citable("tea.md#pot", ""), Wish("src/lid.rs", 1)))
    assert (tea / "src/lid.rs").read_text() == "//= tea.md#pot\nfn other() {}\n"


def test_a_quote_that_is_not_there_is_found_out(tea: Path) -> None:
    project = Project(str(tea))
    for wanted, words in (
        (Citable("tea.md#pot", "The pot MUST be blue."), 'could not find text in section "pot" of tea.md'),
        (Citable("tea.md#pots", ""), 'missing section "pots" in tea.md'),
    ):
        with pytest.raises(Exception, match=words):
            cited(project, wanted, Wish("src/lid.rs", 1))


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


@pytest.mark.parametrize("example", examples("cite"), ids=" ".join)
def test_examples(example: list[str], duvet_command: str, tmp_path: Path) -> None:
    rfc = "RFC 9114\n\n4.1.  Messages\n\n   A client MUST send only a single request on a given stream.\n"
    config = """
    '$schema' = "duvet-cli/config/v1"
    source = [{ pattern = "src/*.rs" }, { pattern = "tests/*.rs" }]
    specification = [{ source = "rfc9114.txt" }]
    """
    lines = "//= rfc9114.txt#section-4.1\n//# A client MUST send only a single request on a given stream.\n"
    source = "fn f() {}\n" * 41 + (lines if "tests/requests.rs:7" in example else "") + "fn f() {}\n" * 50
    texts = {".duvet/config.toml": config, "rfc9114.txt": rfc, "src/lib.rs": source, "tests/requests.rs": "\n" * 9}
    done = runner(duvet_command, make(tmp_path / "example", texts))(*example)
    assert (done.code, done.err) == (0, "") and done.out
