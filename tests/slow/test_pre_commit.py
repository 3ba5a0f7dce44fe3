import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from msgspec import yaml

from duvet.cli import cli
from tests.cli.sample_project import KETTLE, make
from tests.conftest import ROOT
from tests.histories import ENVIRON, git, history

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in yaml.decode(MANIFEST.read_bytes())}
BIN = Path(sys.executable).parent
RIGHT = "//= spec.md#pouring\n//# The spout MAY drip.\n"
WRONG = "//= spec.md#pouring\n//# The spout MAY leak.\n"


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    hooks = [{**hook, "language": "system"} for hook in HOOKS.values()]
    config = yaml.encode({"repos": [{"repo": "local", "hooks": hooks}]}).decode()
    ignored = "/.duvet/cache/\n/.duvet/reports/\n/.duvet/requirements/\n"
    folder = history(tmp_path / "kettle", {**KETTLE, ".pre-commit-config.yaml": config, ".gitignore": ignored})
    assert called(folder, "pre-commit", "install").returncode == 0
    return folder


def committed(folder: Path) -> subprocess.CompletedProcess[str]:
    git(folder, "add", "--all")
    return called(folder, "git", "commit", "--message=more")


def called(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    own = {"PRE_COMMIT_HOME": str(folder.parent / "pre-commit"), "PATH": f"{BIN}{os.pathsep}{ENVIRON['PATH']}"}
    environ = {**ENVIRON, **own, "LANG": "C.UTF-8"}
    return subprocess.run(
        command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip


def test_pre_commit_understands_the_hooks() -> None:
    done = called(ROOT, str(BIN / "pre-commit"), "validate-manifest", str(MANIFEST))
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", HOOKS)
def test_the_command_of_a_hook_is_one_of_ours(name: str) -> None:
    hook = HOOKS[name]
    words: list[str] = [*hook["entry"].split(), *hook.get("args", [])]
    staged = () if hook.get("pass_filenames") is False else ("src/a.rs", "docs/b.md")
    ctx = cli.make_context("duvet", [*words[1:], *staged])
    command = cli.get_command(ctx, words[1])
    assert words[0] == "duvet" and isinstance(command, click.Command)
    assert not staged or staged in command.make_context(words[1], [*words[2:], *staged], parent=ctx).params.values()


def test_a_good_citation_is_committed(kettle: Path) -> None:
    make(kettle, {"src/b.rs": RIGHT})
    assert called(kettle, "duvet", "-q", "report", "--ci", "false").returncode == 0
    done = committed(kettle)
    assert done.returncode == 0, done.stdout
    assert [line.rpartition(".")[2] for line in done.stdout.splitlines()[:2]] == ["Passed", "Passed"]
    assert git(kettle, "status", "--porcelain") == ""


def test_a_bad_citation_stops_the_commit_until_it_is_fixed(kettle: Path) -> None:
    assert called(kettle, "duvet", "-q", "report").returncode == 0
    assert committed(kettle).returncode == 0
    head = git(kettle, "rev-parse", "HEAD")
    make(kettle, {"src/b.rs": "// mine\n\n" + WRONG, "README.md": "# Kettle\n"})
    done = committed(kettle)
    assert (done.returncode, git(kettle, "rev-parse", "HEAD")) == (1, head)
    assert " --> src/b.rs:4:5\n" in done.stdout
    assert called(kettle, "duvet", "validate", "--fix", "src/b.rs").returncode == 0
    assert (kettle / "src" / "b.rs").read_text() == "// mine\n\n" + RIGHT
    assert called(kettle, "duvet", "-q", "report", "--ci", "false").returncode == 0
    done = committed(kettle)
    assert done.returncode == 0, done.stdout
    assert git(kettle, "rev-parse", "HEAD~1") == head


def test_only_what_is_staged_is_checked(kettle: Path) -> None:
    make(kettle, {"src/b.rs": WRONG, "notes.txt": "notes\n"})
    git(kettle, "add", "notes.txt")
    done = called(kettle, "pre-commit", "run", "duvet-validate")
    assert done.returncode == 0, done.stdout
    git(kettle, "add", "src/b.rs")
    assert called(kettle, "pre-commit", "run", "duvet-validate").returncode == 1
