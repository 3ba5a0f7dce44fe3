"""`duvet init`"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import Done, Run, files, runner

CONFIG, GITIGNORE = ".duvet/config.toml", ".duvet/.gitignore"
UPSTREAM = """\
'$schema' = "https://awslabs.github.io/duvet/config/v0.4.0.json"

[[source]]
pattern = "src/**/*.go"

[[source]]
pattern = "src/**/*.py"
comment-style = { meta = "##=", content = "##%" }

[[specification]]
source = "spec.md"
[report.html]
enabled = true

# Enable snapshots to prevent requirement coverage regressions
[report.snapshot]
enabled = true
"""


@pytest.fixture
def init(duvet_command: str, tmp_path: Path) -> Run:
    """The command in an empty folder."""
    return runner(duvet_command, tmp_path)


def test_a_new_project(tmp_path: Path, init: Run) -> None:
    done = init("init", "--specification", "spec.md", "--lang-python", "--lang-go")
    steps = "".join(f"     Writing {path}\n       Wrote {path} \n" for path in (CONFIG, GITIGNORE))
    assert done == Done(0, "", steps)
    assert files(tmp_path) == {CONFIG: UPSTREAM.encode(), GITIGNORE: b"reports/\n"}


def test_what_is_there_is_left_alone(tmp_path: Path, init: Run) -> None:
    ##= man/spec/trace.md#configuration
    ##% `duvet init` MUST write a configuration that duvet can read, for the given languages or those found in the
    ##% folder, and MUST NOT change existing files.
    make(tmp_path, {CONFIG: "mine"})
    (tmp_path / GITIGNORE).symlink_to("nowhere")
    done = init("init", "--lang-python")
    assert done.err.count("    Skipping ") == 2
    assert (done.code, files(tmp_path), (tmp_path / GITIGNORE).is_symlink()) == (0, {CONFIG: b"mine"}, True)


def test_the_languages_of_the_folder(tmp_path: Path, init: Run) -> None:
    make(tmp_path, {"go.mod": "", "setup.py": ""})
    assert init("-q", "init", "--specification", "spec.md") == Done(0, "", "")
    assert (tmp_path / CONFIG).read_text() == UPSTREAM


@pytest.mark.parametrize("args", [(), ("--extended",)])
def test_what_is_written_can_be_reported_on(args: tuple[str, ...], tmp_path: Path, init: Run) -> None:
    ##= man/spec/trace.md#configuration
    ##% `duvet init` MUST write a configuration that duvet can read, for the given languages or those found in the
    ##% folder, and MUST NOT change existing files.
    make(tmp_path, {"Cargo.toml": ""})
    assert init("-q", "init", *args) == Done(0, "", "")
    assert init("-q", "report") == Done(0, "", "")
