"""The tree keeps the shape that CONTRIBUTING.md promises."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click
import pytest

from duvet.cli import cli
from man.build import escape_roff
from tests.conftest import ROOT

LINKS = ("commands", "reports", "templates")
FLAT = ("commands",)
CODE = ("duvet", *LINKS)
TOP = (*CODE, "tests", "man", ".ci")
MOST_LINES, MOST_FUNCTION_LINES = 800, 60
LONG_FUNCTIONS: dict[str, str] = {}
"""Functions of more lines, as `path name`, and why each of them is better whole."""
# Spelled so that it does not find itself: this file is looked through as well.
REGISTRIES = re.compile("py[p]i[.](org|python)|python[h]osted|npm[j]s[.]|crates[.]io")

COMMANDS = sorted(cli.list_commands(click.Context(cli)))


def files(*tops: str, suffix: str = "") -> Iterator[Path]:
    """The files below some folders, each once: links are not followed."""
    for top in tops:
        for path in sorted((ROOT / top).rglob(f"*{suffix}")):
            if path.is_file() and "__pycache__" not in path.parts and not is_linked(path):
                yield path


def is_linked(path: Path) -> bool:
    return any(parent.is_symlink() for parent in path.parents)


def command_of(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


def test_each_module_of_commands_is_a_command() -> None:
    modules = sorted(path.stem for path in (ROOT / "commands").glob("*.py") if path.stem != "__init__")
    assert modules == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_with_examples(name: str) -> None:
    command = command_of(name)
    assert command.help and command.get_short_help_str()
    assert "Examples:" in f"{command.help}{command.epilog}"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_in_the_man_page(name: str) -> None:
    page = (ROOT / "man" / f"duvet-{name}.1").read_text()
    options = [parameter for parameter in command_of(name).params if isinstance(parameter, click.Option)]
    spelled = [name for option in options if not option.hidden for name in (*option.opts, *option.secondary_opts)]
    assert [name for name in spelled if escape_roff(name) not in page] == []


@pytest.mark.parametrize("name", FLAT)
def test_flat_folders_hold_no_folders(name: str) -> None:
    assert [path.name for path in (ROOT / name).iterdir() if path.is_dir() and path.name != "__pycache__"] == []


@pytest.mark.parametrize("name", LINKS)
def test_links_lead_to_their_folders(name: str) -> None:
    link = ROOT / "duvet" / name
    assert link.is_symlink() and link.resolve() == ROOT / name


def test_modules_are_short() -> None:
    lengths = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in files(*CODE, suffix=".py")}
    assert {path: lines for path, lines in lengths.items() if lines > MOST_LINES} == {}


def test_long_functions_have_a_reason() -> None:
    found = [
        f"{path.relative_to(ROOT)} {node.name}"
        for path in files(*CODE, suffix=".py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MOST_FUNCTION_LINES
    ]
    assert sorted(found) == sorted(LONG_FUNCTIONS)


def test_modules_are_named_by_nouns() -> None:
    modules = [path.relative_to(ROOT).with_suffix("") for path in files(*CODE, suffix=".py")]
    assert [str(one) for one in modules if any(part.endswith("ing") for part in one.parts)] == []


def test_no_package_registry_is_named() -> None:
    everything = [*files(*TOP), *(path for path in ROOT.iterdir() if path.is_file())]
    named = [path for path in everything if REGISTRIES.search(path.read_text(errors="replace"))]
    assert named == []


def test_pyproject_names_every_package() -> None:
    packages = {path.parent.relative_to(ROOT).as_posix() for path in files(*CODE, suffix="__init__.py")}
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {name: name.replace(".", "/") for name in setuptools["packages"]} | setuptools["package-dir"]
    assert set(folders.values()) == packages


def test_imports_point_one_way() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_dependency_is_accounted_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {*project["dependencies"], *chain(*project["optional-dependencies"].values())}
    named -= {"duvet-cli[semantic,symbols]"}
    weighed = (ROOT / "CONTRIBUTING.md").read_text()
    assert [name for name in sorted(named) if f"`{re.split('[<=>]', name)[0]}`" not in weighed] == []
