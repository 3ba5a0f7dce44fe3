"""`duvet init` in new and in existing projects."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, failed, files, runner
from tests.cli.sample_project import SOURCE, SPECIFICATION, make

PATH, GITIGNORE = ".duvet/config.toml", ".duvet/.gitignore"
PROJECT = {
    "docs/kettle.md": SPECIFICATION,
    "src/kettle.py": "",
    "src/deep/spout.py": "",
    "tests/test_kettle.py": "",
    "README.md": SPECIFICATION,
}
FOUND = """\
found python: src/**/*.py (2 files)
found python tests: tests/**/*.py (1 file)
found 1 specification:
  docs/kettle.md (3 requirements)
"""
WROTE = f"wrote {PATH}\nwrote {GITIGNORE}\n"
NEXT = "next: duvet report\n"
SUGGESTED = f"wrote 1 specification to {PATH} as comments\n"
UNTRACED = "found no specification; name a file or URL with --specification\n"
ACCEPT, NAME = "next: duvet init --yes\n", "next: duvet init --specification FILE\n"


@pytest.fixture
def here(duvet_command: str, tmp_path: Path) -> Run:
    return runner(duvet_command, tmp_path)


def test_a_new_project_without_a_terminal(folder: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST find specifications by their folders, names and requirements.
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST print the number of requirements in each specification that it lists.
    assert duvet("init") == Done(0, "", FOUND + WROTE + SUGGESTED + ACCEPT)
    written = files(folder)
    gold.assert_match(written[PATH].decode(), "suggested.toml")
    assert written[GITIGNORE] == b"reports/\n"
    assert duvet("-q", "report").code == 0
    ##= man/spec/init.md#existing-projects
    ##% `duvet init` MUST uncomment a specification that it has written as a comment, instead of adding it again.
    before, suggestion = written[PATH].decode(), '# [[specification]]\n# source = "docs/kettle.md"\n'
    assert before.count(suggestion) == 1
    for end in ("\n", "\r\n"):
        (folder / PATH).write_text(before, newline=end)
        assert duvet("init", "--yes") == Done(0, "", f"{FOUND}added to {PATH}: docs/kettle.md\n{NEXT}")
        after = before.replace(suggestion, suggestion.replace("# ", ""))
        assert (folder / PATH).read_bytes() == after.replace("\n", end).encode()
    assert duvet("uncited").out.count("\n") == 3


@pytest.mark.parametrize(("answer", "accepts"), [("\n", True), ("y\n", True), ("n\n", False)])
def test_a_new_project_on_a_terminal(answer: str, accepts: bool, folder: Path, duvet: Run) -> None:
    ##= man/spec/init.md#new-projects
    ##% Without `--yes` or the user's consent on a terminal, `duvet init` MUST write the specifications that it finds
    ##% only as comments.
    typed, terminal = pty.openpty()
    os.write(typed, answer.encode())
    assert duvet("init", stdin=terminal, stderr=terminal).code == 0
    os.close(terminal)
    shown = os.read(typed, 1 << 16).decode()
    os.close(typed)
    assert "Trace this specification? [Y/n]: " in shown and (SUGGESTED.strip() in shown) != accepts
    assert ('\n[[specification]]\nsource = "docs/kettle.md"\n' in (folder / PATH).read_text()) == accepts


def test_everything_that_is_named(folder: Path, duvet: Run, gold: Snapshot) -> None:
    rfc = "https://www.rfc-editor.org/rfc/rfc2324"
    words = ["--specification", rfc, "--specification", "other.md", "--lang-python", "--lang-go", "--extended"]
    done = duvet("init", "--yes", *words)
    assert done == Done(0, "", f"{FOUND}warning: other.md does not exist\n{WROTE}{NEXT}")
    gold.assert_match((folder / PATH).read_text(), "named.toml")


def test_a_folder_with_nothing_in_it(here: Run, tmp_path: Path) -> None:
    nothing = f"found no source files; add a [[source]] to {PATH}\n"
    assert here("init") == Done(0, "", WROTE + UNTRACED + nothing + NAME)
    assert here("-q", "report").code == 0
    # A manifest is a sign of a language that has no file yet.
    (tmp_path / PATH).unlink()
    make(tmp_path, {"Cargo.toml": ""})
    assert here("init") == Done(0, "", f"wrote {PATH}\n{UNTRACED}{NAME}")
    assert 'language = "rust"\npattern = "src/**/*.rs"\n' in (tmp_path / PATH).read_text()


def test_a_folder_inside_a_project(here: Run, tmp_path: Path) -> None:
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST refuse to create a project inside another project, unless `--nested` is given.
    make(tmp_path, {PATH: "'$schema' = 'duvet-cli/config/v1'\n", "a/b/c.py": ""})
    hint = "`duvet -C ../.. init` adds to that project; `duvet init --nested` creates another one here"
    done = here("-C", "a/b", "init", "--lang-python")
    assert done == failed("this folder is inside the project in `../..`", hint=hint)
    assert not (tmp_path / "a/b" / PATH).exists()
    assert here("-q", "-C", "a/b", "init", "--nested") == Done(0, "", "")
    assert here("-q", "-C", "a/b", "init", "--lang-go").code == 0 and (tmp_path / "a/b" / PATH).exists()


def test_absolute_paths_become_relative(folder: Path, duvet: Run) -> None:
    """On other machines, the project is in another folder."""
    assert duvet("-q", "init", "--specification", str(folder / "docs/kettle.md")) == Done(0, "", "")
    assert 'source = "docs/kettle.md"\n' in (folder / PATH).read_text()
    assert str(folder) not in (folder / PATH).read_text()


def test_requirements_without_keywords(here: Run, tmp_path: Path) -> None:
    make(tmp_path, {"docs/a.md": "FR-1 Tea is hot."})
    skipped = "skipped {} with requirements but without keywords such as MUST: docs/a.md{}\n"
    assert here("init").err.startswith(skipped.format("1 file", ""))
    make(tmp_path, {"docs/b.md": "FR-2 Tea is wet."})
    assert here("init").err.startswith(skipped.format("2 files", " and 1 more"))


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["--specification", "docs/tea.md"], ""),
        (["--yes"], "found 1 specification:\n  specs/tea.md (2 requirements)\n"),
    ],
)
def test_keywords_in_lower_case(arguments: list[str], start: str, here: Run, tmp_path: Path) -> None:
    path = arguments[1] if start == "" else "specs/tea.md"
    make(tmp_path, {path: "# Tea\n\n- The pot must be hot.\n- It should whistle.\n"})
    shown = here("init", *arguments).err
    remark = f'wrote `keywords = "any"` for {path}, because its keywords are in lower case\n'
    assert shown.startswith(f"{start}{remark}wrote .duvet/config.toml\n")
    assert f'[[specification]]\nsource = "{path}"\nkeywords = "any"\n\n' in (tmp_path / PATH).read_text()
    assert here("uncited", "--limit", "0").out.count("\n") == 2


def test_a_project_with_many_specifications(here: Run, tmp_path: Path) -> None:
    make(tmp_path, {f"specs/{number:03}-tea/spec.md": SPECIFICATION for number in range(22)})
    shown = here("init", "--yes").err
    assert shown.startswith("found 22 specifications:\n  specs/000-tea/spec.md (3 requirements)\n")
    assert "\n  specs/019-tea/spec.md (3 requirements)\n  and 2 more\nwrote" in shown
    assert here("-q", "report").code == 0
    assert here("uncited", "--limit", "0").out.count("\n") == 66


def test_an_existing_project(kettle: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/init.md#existing-projects
    ##% In an existing project, `duvet init` MUST add only the specifications and languages that the user names or
    ##% accepts, and change nothing else in the configuration.
    assert duvet("init").code == 0
    before = files(kettle)
    found = FOUND.removesuffix("\n")
    offered = "not added: docs/kettle.md; add them with `duvet init --yes`\n"
    unchanged = f"{PATH} is unchanged; use --specification or --lang-* to add to it\n"
    assert duvet("init") == Done(0, "", f"{found}\n{offered}{unchanged}{ACCEPT}")
    assert duvet("init", "--lang-python").err == f"{FOUND}{PATH} already contains python\n{offered}{unchanged}{ACCEPT}"
    assert files(kettle) == before
    make(kettle, {"lib/a.rs": SOURCE, "lib/tests/b.rs": ""})
    done = duvet("-q", "init", "--lang-rust", "--specification", "./docs/kettle.md", "--specification", "spec.md")
    assert done == Done(0, "", "")
    written = (kettle / PATH).read_bytes()
    assert written.startswith(before[PATH])
    gold.assert_match(written.removeprefix(before[PATH]).decode(), "added.toml")
    again = duvet("init", "--specification", "docs/kettle.md").err
    assert again.endswith(NEXT)
    assert f"\n{PATH} already contains docs/kettle.md\n{unchanged}" in again


def test_a_project_of_awslabs_duvet(here: Run, tmp_path: Path, gold: Snapshot) -> None:
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST write a valid configuration in duvet's own schema or, with `--upstream`, the files that
    ##% awslabs duvet writes.
    make(tmp_path, {"go.mod": "", "setup.py": "", "tests/test_a.py": "", "docs/kettle.md": SPECIFICATION})
    steps = "".join(f"     Writing {path}\n       Wrote {path} \n" for path in (PATH, GITIGNORE))
    assert here("init", "--upstream", "--specification", "spec.md") == Done(0, "", steps)
    gold.assert_match((tmp_path / PATH).read_text(), "upstream.toml")
    assert here("init", "--upstream", "--lang-python").err.count("    Skipping ") == 2
    gold.assert_match((tmp_path / PATH).read_text(), "upstream.toml")
    # Additions keep the schema.
    assert here("-q", "init", "--lang-python", "--lang-rust", "--specification", "docs/kettle.md").code == 0
    added = '\n[[source]]\npattern = "src/**/*.rs"\n\n[[specification]]\nsource = "docs/kettle.md"\n'
    assert (tmp_path / PATH).read_text().endswith(added)


def test_a_configuration_with_variables(here: Run, tmp_path: Path) -> None:
    text = '\'$schema\' = "duvet-cli/config/v1"\n[report.html]\nissue-link = "${{ NAME }}"\n'
    make(tmp_path, {PATH: text, "spec.md": SPECIFICATION})
    assert here("-q", "init", "--specification", "spec.md", environ={"NAME": "me"}) == Done(0, "", "")
    assert (tmp_path / PATH).read_text() == f'{text}\n[[specification]]\nsource = "spec.md"\n'


def test_existing_files_that_cannot_be_changed(here: Run, tmp_path: Path) -> None:
    make(tmp_path, {PATH: "mine"})
    (tmp_path / GITIGNORE).symlink_to("nowhere")
    done = here("-q", "init", "--lang-python")
    assert done.code == 1 and done.err.startswith("error: ") and f" --> {PATH}:1:5\n" in done.err
    assert here("init", "--upstream").err.count("    Skipping ") == 2
    assert (files(tmp_path), (tmp_path / GITIGNORE).is_symlink()) == ({PATH: b"mine"}, True)
