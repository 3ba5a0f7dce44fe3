import os
import pty
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Done, Run, files, play, run, runner
from tests.cli.sample_project import SOURCE, SPECIFICATION, make

PATH, GITIGNORE = ".duvet/config.toml", ".duvet/.gitignore"
PROJECT = {
    "docs/kettle.md": SPECIFICATION,
    "src/kettle.py": "",
    "src/deep/spout.py": "",
    "tests/test_kettle.py": "",
    "README.md": SPECIFICATION,
}
OURS = "'$schema' = 'duvet-cli/config/v1'\n"
VARIABLES = f'{OURS}[report.html]\nissue-link = "${{{{ NAME }}}}"\n'
LOWER = "# Tea\n\n- The pot must be hot.\n- It should whistle.\n"
NAMED = (
    "--specification https://www.rfc-editor.org/rfc/rfc2324 --specification other.md --lang-python --lang-go --extended"
)
UPSTREAM = {"go.mod": "", "setup.py": "", "tests/test_a.py": "", "docs/kettle.md": SPECIFICATION}
MANY = {f"specs/{number:03}-tea/spec.md": SPECIFICATION for number in range(22)}
CONFIGURED, UNCITED = f"cat {PATH}", "uncited --limit 0"
SCENARIOS: dict[str, tuple[Mapping[str, str], tuple[str | Mapping[str, str], ...]]] = {
    "new project": (PROJECT, ("init", CONFIGURED, f"cat {GITIGNORE}", "-q report", "init --yes", CONFIGURED, UNCITED)),
    "everything named": (PROJECT, (f"init --yes {NAMED}", CONFIGURED)),
    "nothing": ({}, ("init", CONFIGURED, "-q report")),
    # A manifest is a sign of a language that has no file yet.
    "manifest": ({"Cargo.toml": ""}, ("init", CONFIGURED)),
    "inside a project": (
        {PATH: OURS, "a/b/c.py": ""},
        ("-C a/b init --lang-python", "-q -C a/b init --nested", "-q -C a/b init --lang-go", f"cat a/b/{PATH}"),
    ),
    "no keywords": ({"docs/a.md": "FR-1 Tea is hot."}, ("init", {"docs/b.md": "FR-2 Tea is wet."}, "init")),
    "lower case named": ({"docs/tea.md": LOWER}, ("init --specification docs/tea.md", CONFIGURED, UNCITED)),
    "lower case found": ({"specs/tea.md": LOWER}, ("init --yes", CONFIGURED, UNCITED)),
    "many specifications": (MANY, ("init --yes", "-q report")),
    "existing project": (
        PROJECT,
        (
            *("init", "init", "init --lang-python", {"lib/a.rs": SOURCE, "lib/tests/b.rs": ""}),
            *("-q init --lang-rust --specification ./docs/kettle.md --specification spec.md", CONFIGURED),
            "init --specification docs/kettle.md",
        ),
    ),
    "awslabs duvet": (
        UPSTREAM,
        (
            *("init --upstream --specification spec.md", CONFIGURED, "init --upstream --lang-python"),
            # Additions keep the schema.
            *("-q init --lang-python --lang-rust --specification docs/kettle.md", CONFIGURED),
        ),
    ),
    "variables": ({PATH: VARIABLES, "spec.md": SPECIFICATION}, ("-q init --specification spec.md", CONFIGURED)),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_written_and_printed(name: str, tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST find specifications by their folders, names and requirements.
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST print the number of requirements in each specification that it lists.
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST refuse to create a project inside another project, unless `--nested` is given.
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST write a valid configuration in duvet's own schema or, with `--upstream`, the files that
    ##% awslabs duvet writes.
    ##= man/spec/init.md#existing-projects
    ##% In an existing project, `duvet init` MUST add only the specifications and languages that the user names or
    ##% accepts, and change nothing else in the configuration.
    texts, steps = SCENARIOS[name]
    duvet = partial(run, duvet_command, make(tmp_path, texts), environ={"NAME": "me"})
    gold.assert_match(play(duvet, tmp_path, *steps), f"{name.replace(' ', '_')}.txt")


def test_a_suggestion_is_uncommented(folder: Path, duvet: Run) -> None:
    ##= man/spec/init.md#existing-projects
    ##% `duvet init` MUST uncomment a specification that it has written as a comment, instead of adding it again.
    assert duvet("-q", "init") == Done(0, "", "")
    before, suggestion = (folder / PATH).read_text(), '# [[specification]]\n# source = "docs/kettle.md"\n'
    assert before.count(suggestion) == 1
    for end in ("\n", "\r\n"):
        (folder / PATH).write_text(before, newline=end)
        assert duvet("-q", "init", "--yes") == Done(0, "", "")
        after = before.replace(suggestion, suggestion.replace("# ", ""))
        assert (folder / PATH).read_bytes() == after.replace("\n", end).encode()


@pytest.mark.parametrize(("answer", "accepts"), [("\n", True), ("y\n", True), ("n\n", False)])
def test_a_new_project_on_a_terminal(answer: str, accepts: bool, folder: Path, duvet: Run) -> None:
    ##= man/spec/init.md#new-projects
    ##% Without `--yes` or the user's consent on a terminal, `duvet init` MUST write the specifications that it
    ##% finds, but only as comments.
    typed, terminal = pty.openpty()
    os.write(typed, answer.encode())
    assert duvet("init", stdin=terminal, stderr=terminal).code == 0
    os.close(terminal)
    shown = os.read(typed, 1 << 16).decode()
    os.close(typed)
    suggested = f"wrote 1 specification to {PATH} as comments" in shown
    assert "Trace this specification? [Y/n]: " in shown and suggested != accepts
    assert ('\n[[specification]]\nsource = "docs/kettle.md"\n' in (folder / PATH).read_text()) == accepts


def test_absolute_paths_become_relative(folder: Path, duvet: Run) -> None:
    """On other machines, the project is in another folder."""
    assert duvet("-q", "init", "--specification", str(folder / "docs/kettle.md")) == Done(0, "", "")
    assert 'source = "docs/kettle.md"\n' in (folder / PATH).read_text()
    assert str(folder) not in (folder / PATH).read_text()


def test_existing_files_that_cannot_be_changed(duvet_command: str, tmp_path: Path) -> None:
    here = runner(duvet_command, make(tmp_path, {PATH: "mine"}))
    (tmp_path / GITIGNORE).symlink_to("nowhere")
    done = here("-q", "init", "--lang-python")
    assert done.code == 1 and done.err.startswith("error: ") and f" --> {PATH}:1:5\n" in done.err
    assert here("init", "--upstream").err.count("    Skipping ") == 2
    assert (files(tmp_path), (tmp_path / GITIGNORE).is_symlink()) == ({PATH: b"mine"}, True)
