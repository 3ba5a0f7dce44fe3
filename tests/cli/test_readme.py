"""The README does what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from msgspec import Struct
from msgspec.structs import fields

from duvet.cli import COMMANDS
from duvet.config.service_tables import IngestSection, SearchSection, UploadsSection
from duvet.config.settings import StoreSection
from tests.conftest import ROOT
from tests.unit.server.wire import Wire

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def run(script: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["sh"], input=script, cwd=folder, env=environ, stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    return done.stderr


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    """The project after the tour, which ends as shown."""
    first, second, third = blocks("sh")
    summary, problem = blocks("text")
    assert run(first + second, tmp_path).endswith(summary)
    shutil.copytree(tmp_path / "kettle", tmp_path / "broken/kettle")
    assert problem in run(f"cd kettle\n{third}", tmp_path / "broken")
    return tmp_path / "kettle"


def test_the_tour_and_all_that_follows_it(kettle: Path, tmp_path: Path) -> None:
    said = run(blocks("bash")[0], kettle)
    end = 'checked 1 page with 2 links: 1 problem\nrun "duvet explain DUV103" for details\n'
    assert "link to unknown page `beeper`" in said and said.endswith(end)
    # The configuration of the service is accepted, and so is the recipe.
    (kettle / "duvet.config.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    assert run("duvet mcp --check >checked && duvet -q workflow run forgotten >ran", kettle) == ""
    assert (kettle / "ran").read_text().endswith("text   An empty kettle MUST NOT heat.\n  total  1\n")
    (kettle / "duvet.config.yaml").unlink()
    (kettle / "recipes").mkdir()
    (kettle / "recipes/nightly.yaml").write_text(blocks("yaml")[1], encoding="utf-8")
    assert run("duvet recipe validate && duvet -q ingest", kettle) == "1 recipe, no errors\n"
    assert run("duvet -q recipe run nightly --var most=3 >ran", kettle) == ""
    assert (kettle / "ran").read_text().startswith("recipe nightly  success")


def test_the_configuration_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(blocks("toml")[0], encoding="utf-8")
    assert run("duvet config --config-path config.toml", tmp_path) == ""


def test_what_is_taken_in_is_configured_as_shown(tmp_path: Path) -> None:
    service, subsystems = (one for one in blocks("yaml") if one.startswith(("ingest:", "Heating:")))
    (tmp_path / "duvet.config.yaml").write_text(service, encoding="utf-8")
    (tmp_path / "subsystems.yaml").write_text(subsystems, encoding="utf-8")
    assert run("duvet mcp --check >checked && duvet -q ingest --dry-run >would", tmp_path) == ""
    kinds: dict[str, type[Struct]] = {
        "ingest": IngestSection,
        "store": StoreSection,
        "search": SearchSection,
        "uploads": UploadsSection,
    }
    assert {name: sorted(table) for name, table in yaml.safe_load(service).items()} == {
        name: sorted(field.encode_name for field in fields(kind)) for name, kind in kinds.items()
    }


def test_the_library_and_the_server_are_used_as_shown(kettle: Path) -> None:
    command = [sys.executable, "-c", blocks("python")[0]]
    done = subprocess.run(command, cwd=kettle, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "done heating The kettle MUST stop heating when the water boils.",
        "excepted heating The kettle SHOULD beep.",
        "uncited safety An empty kettle MUST NOT heat.",
    ]
    call, answer = (json.loads(block) for block in blocks("json"))
    server = Wire(str(Path(sys.executable).with_name("duvet")), kettle)
    try:
        server.greet()
        assert server.ask("tools/call", call)["result"]["structuredContent"] == answer
    finally:
        server.kill()


def test_every_command_is_listed() -> None:
    listed = re.findall(r"^\| `duvet (\w+)`", README, re.MULTILINE)
    order = """init report validate search uncited prioritize show pages cite diff extract merge ask ingest feedback backup
        restore mcp prompt call tools workflow recipe config cache completion"""
    assert listed == [name for name in order.split() if name in COMMANDS]
