"""What registries of servers read"""

from __future__ import annotations

import json
import re
import tomllib

from click.testing import CliRunner

from duvet.cli import cli
from duvet.config.settings import ServerRule
from duvet.version import VERSION
from tests.conftest import ROOT

SERVER = json.loads((ROOT / "server.json").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_it_says_of_the_server_what_the_server_says() -> None:
    assert SERVER["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    assert (SERVER["title"], SERVER["description"]) == (ServerRule().title, ServerRule().description)
    assert SERVER["version"] == VERSION


def test_it_keeps_to_what_the_schema_allows() -> None:
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert SERVER.keys() <= {"$schema", "name", "title", "description", "version", "repository", "packages"}
    assert max(len(SERVER["title"]), len(SERVER["description"])) <= 100
    assert SERVER["repository"] == {"url": "https://github.com/OWNER/duvet", "source": "github"}


def test_the_package_is_this_one_and_its_arguments_are_understood() -> None:
    (package,) = SERVER["packages"]
    assert (package["identifier"], package["version"], package["transport"]) == (
        PROJECT["name"],
        VERSION,
        {"type": "stdio"},
    )
    folder, command = package["packageArguments"]
    assert (folder["type"], command) == ("named", {"type": "positional", "value": "mcp"})
    done = CliRunner().invoke(cli, [folder["name"], str(ROOT), command["value"], "--help"])
    assert (done.exit_code, done.output.startswith("Usage: ")) == (0, True)


def test_the_description_of_the_package_says_whose_server_it_is() -> None:
    """A registry looks for this line: whoever names the package must have written it."""
    assert PROJECT["readme"] == "README.md"
    assert re.findall(r"mcp-name: *(\S+)", (ROOT / "README.md").read_text()) == [SERVER["name"]]
