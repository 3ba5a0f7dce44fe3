"""What `make bench` can be asked, and what follows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.bench.options import parse


def ask(shared: Path, *arguments: str) -> dict[str, object]:
    return vars(parse(["--duvet", "./duvet", "--shared", str(shared), *arguments]))


@pytest.mark.parametrize(
    ("arguments", "rows", "growth", "huge"),
    [
        ([], True, False, False),
        (["--huge"], True, False, True),
        (["--growth"], False, True, False),
        (["--save"], True, True, True),
    ],
)
def test_what_is_measured(tmp_path: Path, arguments: list[str], rows: bool, growth: bool, huge: bool) -> None:
    options = ask(tmp_path, *arguments)
    assert (options["rows"], options["growth"], options["huge"], options["only"]) == (rows, growth, huge, "*")


def test_commands_are_found_from_any_folder(tmp_path: Path) -> None:
    options = ask(tmp_path, "--peer", "sh -c 'exit 3'")
    assert options["duvet"] == str(Path.cwd() / "duvet")
    assert options["peer"] == [shutil.which("sh"), "-c", "exit 3"]


def test_runs_are_never_too_few(tmp_path: Path) -> None:
    assert [ask(tmp_path, "--runs", runs)["runs"] for runs in ("1", "30")] == [7, 30]


@pytest.mark.parametrize("wrong", [["--save", "--only", "a"], ["--save"], ["--growth"]])
def test_a_part_can_not_be_saved(tmp_path: Path, wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    shared = tmp_path if "--only" in wrong else tmp_path / "absent"
    with pytest.raises(SystemExit):
        ask(shared, *wrong)
    assert capsys.readouterr().err.splitlines()[-1].startswith("make bench ARGS=: error: --")


def test_without_the_shared_folder_the_start_is_measured(tmp_path: Path) -> None:
    assert ask(tmp_path / "absent")["shared"] is None
