import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click
from click.testing import CliRunner

from duvet.cli import cli
from duvet.config.service_tables import ServerSection
from duvet.version import VERSION
from man.build import escape_roff
from man.house import draw_house, list_modules
from tests.conftest import ROOT

LINKS = ("commands", "reports", "templates")
CODE = ("duvet", *LINKS)
TOP = (*CODE, "tests", "man", ".ci")
MOST_LINES, MOST_FUNCTION_LINES = 800, 60
LONG_FUNCTIONS: dict[str, str] = {}
"""Functions of more lines, as `path name`, and why each of them is better whole."""
TESTS_OF_NO_MODULE = {
    "bench/test_measure": "a module of tests/bench",
    "bench/test_paraphrases": "data of tests/bench",
    "bench/test_results": "a module of tests/bench",
    "reports/test_not_applicable": "one table of the configuration, in every report",
    "templates/test_script": "the script of the HTML report, which is not Python",
    "test_api": "the names that the package exports",
    "test_traced": "the whole tree, traced",
    "test_tree": "the whole tree",
    "tools/trace/test_refusals": "one table of refusals for all tools of the package",
}
"""Files of unit tests that are not named after a module, and what they test."""
# Spelled so that it does not find itself: this file is looked through as well.
REGISTRIES = re.compile("py[p]i[.](org|python)|python[h]osted|npm[j]s[.]|crates[.]io")

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
SERVER = json.loads((ROOT / "server.json").read_text())
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
COMMANDS = sorted(cli.list_commands(click.Context(cli)))


def files(*tops: str, suffix: str = "") -> Iterator[Path]:
    for top in tops:
        for path in sorted((ROOT / top).rglob(f"*{suffix}")):
            is_linked = any(parent.is_symlink() for parent in path.parents)
            if path.is_file() and "__pycache__" not in path.parts and not is_linked:
                yield path


def test_each_module_of_commands_is_a_command() -> None:
    assert sorted(path.stem for path in (ROOT / "commands").glob("*.py") if path.stem != "__init__") == COMMANDS


def test_each_command_has_help_with_examples_and_all_its_options_in_the_man_page() -> None:
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None and command.help and command.get_short_help_str()
        assert "Examples:" in f"{command.help}{command.epilog}"
        page = (ROOT / "man" / f"duvet-{name}.1").read_text()
        described = [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
        params = [param for one in described if not one.hidden for param in one.params]
        options = [one for one in params if isinstance(one, click.Option) and not one.hidden]
        spelled = [spelling for option in options for spelling in (*option.opts, *option.secondary_opts)]
        assert [spelling for spelling in spelled if escape_roff(spelling) not in page] == [], name


def test_folders_of_commands_reports_and_templates() -> None:
    assert [path.name for path in (ROOT / "commands").iterdir() if path.is_dir() and path.name != "__pycache__"] == []
    links = [ROOT / "duvet" / name for name in LINKS]
    assert [(link.is_symlink(), link.resolve()) for link in links] == [(True, ROOT / name) for name in LINKS]


def test_modules_and_functions_are_short_and_modules_are_nouns() -> None:
    texts = {path.relative_to(ROOT): path.read_text() for path in files(*CODE, suffix=".py")}
    assert {path: text.count("\n") for path, text in texts.items() if text.count("\n") > MOST_LINES} == {}
    long = [
        f"{path} {node.name}"
        for path, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MOST_FUNCTION_LINES
    ]
    assert sorted(long) == sorted(LONG_FUNCTIONS)
    assert [str(path) for path in texts if any(part.endswith("ing") for part in path.with_suffix("").parts)] == []


def test_each_module_has_a_summary_for_make_house() -> None:
    assert [line for line in list_modules().splitlines() if len(line.split(maxsplit=1)) < 2] == []


def test_unit_tests_are_named_after_the_module_that_they_test() -> None:
    """A file is `test_MODULE.py`, `test_MODULE_TOPIC.py`, or `test_PACKAGE.py` in the folder of the package."""

    def has_module(path: Path) -> bool:
        folder, name = ROOT / "duvet" / path.parent, path.stem.removeprefix("test_") + "_"
        nouns = {module.stem for module in folder.glob("*.py")} | {folder.name}
        return any(name.startswith(f"{noun}_") for noun in nouns)

    tests = [path.relative_to(ROOT / "tests/unit") for path in files("tests/unit", suffix=".py")]
    named = [path for path in tests if path.name.startswith("test_") and not has_module(path)]
    assert sorted(path.with_suffix("").as_posix() for path in named) == sorted(TESTS_OF_NO_MODULE)


def test_no_package_registry_is_named() -> None:
    everything = [*files(*TOP), *(path for path in ROOT.iterdir() if path.is_file())]
    assert [path for path in everything if REGISTRIES.search(path.read_text(errors="replace"))] == []


def test_pyproject_names_every_package() -> None:
    packages = {path.parent.relative_to(ROOT).as_posix() for path in files(*CODE, suffix="__init__.py")}
    setuptools = PYPROJECT["tool"]["setuptools"]
    folders = {name: name.replace(".", "/") for name in setuptools["packages"]} | setuptools["package-dir"]
    assert set(folders.values()) == packages


def test_imports_point_one_way() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_dependency_is_accounted_for() -> None:
    named = {*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())}
    named -= {"duvet-cli[semantic,symbols]"}
    assert [name for name in sorted(named) if f"`{re.split('[<=>]', name)[0]}`" not in CONTRIBUTING] == []


def test_contributing_draws_the_imports_and_names_modules_that_exist() -> None:
    assert f"```\n{draw_house()}```\n" in CONTRIBUTING, "put the first part of `make house` there"
    named = {path for path in re.findall(r"`((?:duvet|commands|reports|tests|templates)/[\w/.]+)`", CONTRIBUTING)}
    unknown = [path for path in sorted(named) if "NAME" not in path and "PACK" not in path and "DUVnnn" not in path]
    assert [path for path in unknown if not (ROOT / path).exists()] == []


def test_server_json_is_valid_and_says_what_the_server_says() -> None:
    assert SERVER["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    assert (SERVER["title"], SERVER["description"]) == (ServerSection().title, ServerSection().description)
    assert SERVER["version"] == VERSION
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert SERVER.keys() <= {"$schema", "name", "title", "description", "version", "repository", "packages"}
    assert max(len(SERVER["title"]), len(SERVER["description"])) <= 100
    assert SERVER["repository"] == {"url": "https://github.com/YOUR-ORG/duvet", "source": "github"}
    # A registry looks for this line: whoever names the package must have written it.
    assert PROJECT["readme"] == "README.md"
    assert re.findall(r"mcp-name: *(\S+)", (ROOT / "README.md").read_text()) == [SERVER["name"]]


def test_the_package_is_this_one_and_its_arguments_are_understood() -> None:
    (package,) = SERVER["packages"]
    assert (package["identifier"], package["version"]) == (PROJECT["name"], VERSION)
    assert package["transport"] == {"type": "stdio"}
    folder, command = package["packageArguments"]
    assert (folder["type"], command) == ("named", {"type": "positional", "value": "mcp"})
    done = CliRunner().invoke(cli, [folder["name"], str(ROOT), command["value"], "--help"])
    assert (done.exit_code, done.output.startswith("Usage: ")) == (0, True)
