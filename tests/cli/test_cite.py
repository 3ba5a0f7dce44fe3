import shlex
import stat
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.commands.cite import insert_citation, write_cited_file
from duvet.errors import OutputError
from duvet.project.project import Project
from duvet.queries.references import CitableText
from duvet.trace.locations import FileLine
from tests.cli.command import Done, Run, files, play
from tests.cli.tea_project import TEA_PROJECT

LID = "5bfbf88b"
PROJECT = {
    **TEA_PROJECT,
    ".duvet/config.toml": TEA_PROJECT[".duvet/config.toml"]
    + '[[source]]\npattern = "c/*.c"\ncomment-style = { meta = "*=", content = "*#" }\n',
    "c/pot.c": "int pot;\n",
    "src/lid.rs": "fn lid() {\r\n\tturn();\r\n}",
    "src/text.rs": 'const TEXT: &str = "\nfn lid() {\n";\n',
    "notes.txt": "A lid.\n",
    "src/program.rs": "#!/usr/bin/env run\nfn lid() {}\n",
}


def test_a_citation_is_inserted_and_shown(duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/cite.md#inserting
    ##% With `--dry-run`, `duvet cite` MUST print a unified diff and write nothing.
    before = files(folder)
    told = play(duvet, folder, f"cite {LID} --at src/lid.rs:3:1 --dry-run --part 'The lid MUST\nfit'")
    assert files(folder) == before
    lines = (f"cite {LID} --at src/lid.rs:2 --width 60", "cat src/lid.rs", f"show {LID}")
    gold.assert_match(told + play(duvet, folder, *lines), "inserted.txt")
    assert {name for name, data in files(folder).items() if before.get(name) != data} == {"src/lid.rs"}


AT_LID = f"{LID} --at src/lid.rs:1"
PART = f"{AT_LID} --part 'the pot'"
QUOTED = "src/lid.rs:1\n//= tea.md#pot\n{}//# the pot\n"
TODO = "//= type=todo\n//= feature=a\n//= tracking-issue=7\n"
IN_TESTS = "tests/test_pot.py:4\n    \x23#= tea.md#pot\n{}    \x23#% The lid\n"
TESTED = f"{LID} --at tests/test_pot.py:4 --part 'The lid'"
WARM = "src/lid.rs:1\n//= tea.md#pot\n//# The pot MUST be warm.\n"


WRITTEN = {
    TESTED: IN_TESTS.format(""),
    f"{TESTED} --type citation": IN_TESTS.format("    \x23#= type=implementation\n"),
    f"{PART} --type exception --reason 'No\nlid.'": QUOTED.format("//= type=exception\n//= reason=No lid.\n"),
    f"{PART} --type todo --feature a --tracking-issue 7": QUOTED.format(TODO),
    f"{PART} --type implication": QUOTED.format("//= type=implication\n"),
    "tea#pot --at src/lid.rs:1": "src/lid.rs:1\n//= tea.md#pot\n",
    "/specifications/tea/sections/pot/requirements/1dd64a535306 --at src/lid.rs:1": WARM,
    r"tests/test_pot.py:4 --at 'src\lid.rs:1'": WARM,
    "tea#sugar --at ./c/pot.c:1": "c/pot.c:1\n/*\n *= tea.md#sugar\n */\n",
}


def test_written_citations(folder: Path, duvet: Run) -> None:
    before = files(folder)
    errors = duvet("report").err.count("error:")
    for args, shown in WRITTEN.items():
        assert duvet("cite", *shlex.split(args)) == Done(0, shown, "")
        assert duvet("report").err.count("error:") == errors == 2
        for name, data in before.items():
            (folder / name).write_bytes(data)


def test_links_and_permissions_stay(duvet: Run, folder: Path) -> None:
    ##= man/spec/cite.md#inserting
    ##% `duvet cite` MUST write the file completely or not at all, and keep its permissions and symbolic links.
    real = folder / "real.txt"
    (folder / "src/lid.rs").rename(real)
    (folder / "src/lid.rs").symlink_to("../real.txt")
    real.chmod(0o750)
    assert duvet("cite", "tea#cup", "--at", f"{folder}/src/lid.rs:1").out == "src/lid.rs:1\n//= tea.md#cup\n"
    assert (folder / "src/lid.rs").is_symlink()
    assert real.read_bytes().startswith(b"//= tea.md#cup\r\nfn lid() {\r\n")
    assert stat.S_IMODE(real.stat().st_mode) == 0o750
    assert [path.name for path in folder.iterdir() if path.name.endswith(".new")] == []


ODD_PLACES = ("notes.txt:1", "rfc7168.txt:1", "src:1", "c:1", "src/no.rs:1", "-:1", "src/lid.rs")
ODD_LINES = ("pot.rs:4", "pot.rs:6", "pot.rs:3", "lid.rs:4", "lid.rs:0", "program.rs:1")
ODD_REFERENCES = ("1dd6", "src/pot.rs:9", "src/pot.rs:25", "tea", "src/pot.rs", "5bfa", "tea#pots")
REFUSED: dict[str, list[str]] = {
    "validate": [
        *("a5415b83 --at src/pot.rs:9", "2c796587 --at src/pot.rs:1"),
        *(f"a5415b83 --at src/{place} --type exception --reason x" for place in ("lid.rs:1", "pot.rs:1")),
        f"{LID} --at src/text.rs:2",
        *(f"{AT_LID} --type exception", f"{AT_LID} --type exception --reason ' '"),
        *(f"{AT_LID} --type todo --reason x", f"{AT_LID} --feature x"),
    ],
    "files": [f"{LID} --at {place}" for place in ODD_PLACES],
    "lines": [f"tea#cup --at src/{place}" for place in ODD_LINES],
    "references": [
        *(f"{reference} --at src/lid.rs:1" for reference in ODD_REFERENCES),
        *(f"{AT_LID} --part 'a pot'", f"{AT_LID} --part ' '", "tea#pot --at src/lid.rs:1 --part Pot"),
    ],
}
"""What is refused because of what `duvet validate` would say, the file, the line, or what is to be cited."""


@pytest.mark.parametrize("what", REFUSED)
def test_refused_citations(what: str, duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/cite.md#refusals
    ##% `duvet cite` MUST NOT write a citation that `duvet validate` would report for any reason other than a partial
    ##% quote.
    before = files(folder)
    told = play(duvet, folder, *(f"cite {line}" for line in REFUSED[what]))
    gold.assert_match(told, f"{what}.txt")
    assert told.count("exit 1\n") + told.count("as before\n") == len(REFUSED[what]) and files(folder) == before


def test_odd_bytes_in_a_source(duvet: Run, folder: Path) -> None:
    (folder / "src/lid.rs").write_bytes(b"fn lid() {}\n\xff\n")
    code, out, err = duvet("cite", LID, "--at", "src/lid.rs:1")
    assert (code, out) == (1, "")
    assert err.startswith("error: invalid utf-8 sequence of 1 byte from index 12 [DUV011]\n --> src/lid.rs:2\n")
    before = b"\xef\xbb\xbf// Lids\nfn lid() {}\n"
    (folder / "src/lid.rs").write_bytes(before)
    code, out, err = duvet("cite", LID, "--at", "src/lid.rs:1")
    assert (code, out, (folder / "src/lid.rs").read_bytes()) == (1, "", before)
    assert err.startswith("error: the file must start with its byte order mark [DUV122]\n")
    assert duvet("cite", "tea#cup", "--at", "src/lid.rs:2").code == 0
    assert (folder / "src/lid.rs").read_bytes() == b"\xef\xbb\xbf// Lids\n//= tea.md#cup\nfn lid() {}\n"


def test_a_file_that_changes_meanwhile(folder: Path) -> None:
    ##= man/spec/cite.md#inserting
    ##% `duvet cite` MUST refuse a file that has changed since duvet read it.
    project, citable, place = Project(str(folder)), CitableText("tea.md#pot", ""), FileLine("src/lid.rs", 1)
    found = insert_citation(project, citable, place, None, {}, 100)
    (folder / "src/lid.rs").write_text("fn other() {}\n")
    with pytest.raises(OutputError, match="this file changed while duvet was running"):
        write_cited_file(project, found)
    assert (folder / "src/lid.rs").read_text() == "fn other() {}\n"
    again = Project(str(folder))
    write_cited_file(again, insert_citation(again, citable, place, None, {}, 100))
    assert (folder / "src/lid.rs").read_text() == "//= tea.md#pot\nfn other() {}\n"


def test_a_quote_that_is_not_there_is_found_out(folder: Path) -> None:
    for target, quote, message in (
        ("tea.md#pot", "The pot MUST be blue.", 'could not find text in section "pot" of tea.md'),
        ("tea.md#pots", "", 'missing section "pots" in tea.md'),
    ):
        with pytest.raises(Exception, match=message):
            insert_citation(Project(str(folder)), CitableText(target, quote), FileLine("src/lid.rs", 1), None, {}, 100)
