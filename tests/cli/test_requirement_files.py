from pathlib import Path

import pytest

from tests.cli.command import Done, Run, files
from tests.cli.sample_project import HALF, KETTLE, SPECIFICATION, SUMMARY, make

CONFIG = ".duvet/config.toml"
OURS = "'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = 'src/**/*.rs'\n[[specification]]\nsource = 'spec.md'\n"
QUIET = "[report.html]\nenabled = false\n"
WRITING = f"{QUIET}[report.requirements]\nenabled = true\n"
PROJECT = {**KETTLE, CONFIG: OURS + QUIET}
FOLDER = ".duvet/requirements"
HEATING, POURING = f"{FOLDER}/spec/heating.toml", f"{FOLDER}/spec/pouring.toml"
REMOVED = "removed {} that duvet wrote and no longer needs\n"
IGNORED = f"""\
warning: duvet ignores this file and extracts the requirements of its section from the specification [DUV036]
 --> {HEATING}:1
  |
1 | target = "spec.md#heating"
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^
  = help: move your changes to a file in `.duvet/exceptions` or `.duvet/todos`, and delete this one

"""


@pytest.fixture
def written(folder: Path, duvet: Run) -> Path:
    (folder / CONFIG).write_text(OURS + WRITING)
    assert duvet("report") == Done(0, "", SUMMARY)
    assert list_requirement_files(folder) == [HEATING, POURING]
    (folder / CONFIG).write_text(OURS + QUIET)
    return folder


def list_requirement_files(folder: Path) -> list[str]:
    return sorted(path for path in files(folder) if path.startswith(FOLDER))


def test_nothing_is_written_by_default(folder: Path, duvet: Run) -> None:
    ##= man/spec/trace.md#requirement-files
    ##% With duvet's own schema, `duvet report` MUST write requirement files only if `report.requirements.enabled` is
    ##% set.
    before = files(folder)
    assert duvet("report") == Done(0, "", SUMMARY)
    assert duvet("report") == Done(0, "", SUMMARY)
    assert (files(folder), (folder / FOLDER).exists()) == (before, False)


def test_steps_name_no_files_that_exist_only_in_memory(folder: Path, duvet: Run) -> None:
    steps = duvet("-v", "report").err
    assert "Scanned 1 source " in steps and "Parsed 2 annotations " in steps and FOLDER not in steps
    make(folder, {CONFIG: OURS + WRITING})
    steps = duvet("-v", "report").err
    assert "Scanned 3 sources " in steps and "Parsed 5 annotations " in steps and f"{HEATING}: 2 annotations\n" in steps


def test_extract_reads_the_configured_format(folder: Path, duvet: Run) -> None:
    duvet("extract", "spec.md", "-o", "out")
    assert sorted(path for path in files(folder) if path.startswith("out")) == [
        "out/spec/heating.toml",
        "out/spec/pouring.toml",
    ]
    duvet("extract", "spec.md", "-o", "other", "-f", "ietf")
    assert not (folder / "other").exists()


def test_files_that_nothing_asks_for_are_removed(written: Path, duvet: Run) -> None:
    assert duvet("report") == Done(0, "", REMOVED.format("2 requirement files") + SUMMARY)
    assert not (written / FOLDER).exists()
    for _ in range(2):
        assert duvet("report") == Done(0, "", SUMMARY)


def test_files_of_removed_requirements_are_removed(folder: Path, written: Path, duvet: Run) -> None:
    make(folder, {CONFIG: OURS + WRITING, "spec.md": SPECIFICATION.replace("MAY drip", "may drip")})
    done = duvet("report")
    assert (done.code, done.err.startswith(REMOVED.format("1 requirement file"))) == (0, True)
    assert list_requirement_files(folder) == [HEATING]
    make(folder, {CONFIG: (OURS + WRITING).replace("spec.md", "tea.md"), "tea.md": "# Tea\n\nIt MUST be hot.\n"})
    make(folder, {"src/a.rs": ""})
    done = duvet("report")
    assert (done.code, done.err.startswith(REMOVED.format("1 requirement file"))) == (0, True)
    assert list_requirement_files(folder) == [f"{FOLDER}/tea/tea.toml"]


def test_old_files_do_not_count(written: Path, duvet: Run) -> None:
    """Neither their requirements nor their problems count, because the specification has changed."""
    text = SPECIFICATION.replace("## Pouring\n\nThe spout MAY drip.\n", "").replace("whistle", "sing")
    make(written, {"spec.md": text, "src/a.rs": HALF})
    commands = ("uncited", "validate", "report")
    before = [duvet("--no-cache", command) for command in commands]
    for path in list_requirement_files(written):
        (written / path).unlink()
    for command, done in zip(commands, before, strict=True):
        removed = done.err.replace(REMOVED.format("2 requirement files"), "")
        assert done._replace(err=removed) == duvet("--no-cache", command)
        assert FOLDER not in done.err and done.code == 0


def test_a_file_that_somebody_changed_stays(written: Path, duvet: Run) -> None:
    mine = f"{FOLDER}/mine.toml"
    make(
        written,
        {
            HEATING: (written / HEATING).read_text() + "# Ours.\n",
            mine: "target = 'spec.md#pouring'\n[[todo]]\nquote = 'The spout'\n",
        },
    )
    done = duvet("report")
    assert (done.code, done.err.startswith(REMOVED.format("1 requirement file") + IGNORED)) == (0, True)
    assert done.err.endswith("\nOK: all 3 annotations are valid, 1 warning\ncoverage: 33 % (1 of 3)\n")
    assert list_requirement_files(written) == [mine, HEATING]


def test_fixes_leave_them_alone(written: Path, duvet: Run) -> None:
    text = SPECIFICATION.replace("The spout MAY drip.", "The spout MAY drip, but only once.")
    make(written, {"spec.md": text})
    before = files(written)
    done = duvet("validate", "--fix", "--unsafe-fixes")
    assert (done.code, done.out, files(written)) == (0, "", before)
