from collections.abc import Mapping
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, files, play
from tests.cli.sample_project import HALF, KETTLE, SPECIFICATION, make

CONFIG = ".duvet/config.toml"
OURS = "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/**/*.rs'\n[[specification]]\nsource = 'spec.md'\n"
QUIET = {CONFIG: f"{OURS}[report.html]\nenabled = false\n"}
WRITING = {CONFIG: f"{QUIET[CONFIG]}[report.requirements]\nenabled = true\n"}
PROJECT = {**KETTLE, **QUIET}
FOLDER = ".duvet/requirements"
LIST = "$ find . ! -path './.duvet/cache*' | sort"
# Requirement files that nothing asks for any more.
LEFT: tuple[str | Mapping[str, str], ...] = (WRITING, "-q report", QUIET)
OTHER = {CONFIG: WRITING[CONFIG].replace("spec.md", "tea.md"), "tea.md": "# Tea\n\nIt MUST be hot.\n", "src/a.rs": ""}
SCENARIOS: dict[str, tuple[str | Mapping[str, str], ...]] = {
    "none by default": ("report", "report", LIST),
    # Steps name no files that exist only in memory.
    "steps": ("-v report", WRITING, "-v report"),
    "extract": ("extract spec.md -o out", "extract spec.md -o other -f ietf", LIST),
    "removed": (*LEFT, LIST, *["report"] * 3, LIST),
    "removed requirements": (
        *(*LEFT, {**WRITING, "spec.md": SPECIFICATION.replace("MAY drip", "may drip")}, "report", LIST),
        *(OTHER, "report", LIST),
    ),
    "changed by somebody": (
        *(*LEFT, f"$ echo '# Ours.' >>{FOLDER}/spec/heating.toml"),
        *({f"{FOLDER}/mine.toml": "target = 'spec.md#pouring'\n[[todo]]\nquote = 'The spout'\n"}, "report", LIST),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_requirement_files(name: str, folder: Path, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/trace.md#requirement-files
    ##% With duvet's own schema, `duvet report` MUST write requirement files only if `report.requirements.enabled` is
    ##% set.
    gold.assert_match(play(duvet, folder, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


def test_old_files_do_not_count_and_are_not_fixed(folder: Path, duvet: Run) -> None:
    """Neither their requirements nor their problems count, because the specification has changed."""
    play(duvet, folder, *LEFT)
    text = SPECIFICATION.replace("## Pouring\n\nThe spout MAY drip.\n", "").replace("whistle", "sing")
    before = files(make(folder, {"spec.md": text, "src/a.rs": HALF}))
    done = duvet("validate", "--fix", "--unsafe-fixes")
    assert (done.code, done.out, files(folder)) == (0, "", before)
    lines = ("--no-cache uncited", "--no-cache validate", "--no-cache report")
    told = play(duvet, folder, *lines).replace("removed 2 requirement files that duvet wrote and no longer needs\n", "")
    assert FOLDER not in told and "exit" not in told
    assert told.replace("! !", "!") == play(duvet, folder, f"$ rm -rf {FOLDER}", *lines).partition("\n\n")[2]
