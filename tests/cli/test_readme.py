"""The README does what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml
from msgspec.structs import fields

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


def test_the_tour_ends_as_shown(tmp_path: Path) -> None:
    first, second, third = blocks("sh")
    summary, problem = blocks("text")
    assert run(first + second, tmp_path).endswith(summary)
    assert problem in run(f"cd kettle\n{third}", tmp_path)


def test_pages_are_as_shown(tmp_path: Path) -> None:
    first, second, _ = blocks("sh")
    run(first + second, tmp_path)
    said = run(blocks("bash")[0], tmp_path / "kettle")
    assert "there is no page `beeper`" in said and said.endswith("checked 1 page with 2 links: 1 problem\n")


def test_the_configuration_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(blocks("toml")[0], encoding="utf-8")
    assert run("duvet config --config-path config.toml", tmp_path) == ""


def test_the_configuration_of_the_service_is_accepted(tmp_path: Path) -> None:
    first, second, _ = blocks("sh")
    run(first + second, tmp_path)
    (tmp_path / "kettle/duvet.config.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    assert run("cd kettle && duvet mcp --check >checked", tmp_path) == ""
    assert run("cd kettle && duvet -q workflow run forgotten >ran", tmp_path) == ""
    assert (tmp_path / "kettle/ran").read_text().endswith("text   An empty kettle MUST NOT heat.\n  total  1\n")


def test_what_is_taken_in_is_configured_as_shown(tmp_path: Path) -> None:
    service, subsystems = (one for one in blocks("yaml") if one.startswith(("ingest:", "Heating:")))
    (tmp_path / "duvet.config.yaml").write_text(service, encoding="utf-8")
    (tmp_path / "subsystems.yaml").write_text(subsystems, encoding="utf-8")
    assert run("duvet mcp --check >checked && duvet -q ingest --dry-run >would", tmp_path) == ""
    told = yaml.safe_load(service)
    assert {name: sorted(table) for name, table in told.items()} == {
        name: sorted(field.encode_name for field in fields(kind))
        for name, kind in (
            ("ingest", IngestSection),
            ("store", StoreSection),
            ("search", SearchSection),
            ("uploads", UploadsSection),
        )
    }


def test_the_recipe_is_run_as_shown(tmp_path: Path) -> None:
    first, second, _ = blocks("sh")
    run(first + second, tmp_path)
    (tmp_path / "kettle/recipes").mkdir()
    (tmp_path / "kettle/recipes/nightly.yaml").write_text(blocks("yaml")[1], encoding="utf-8")
    assert run("cd kettle && duvet recipe validate && duvet -q ingest", tmp_path) == "1 recipe, no errors\n"
    assert run("cd kettle && duvet -q recipe run nightly --var most=3 >ran", tmp_path) == ""
    assert (tmp_path / "kettle/ran").read_text().startswith("recipe nightly  success")


def test_the_library_is_used_as_shown(tmp_path: Path) -> None:
    first, second, _ = blocks("sh")
    run(first + second, tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[0]],
        cwd=tmp_path / "kettle",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "done heating The kettle MUST stop heating when the water boils.",
        "done heating The kettle SHOULD beep.",
        "not started safety An empty kettle MUST NOT heat.",
    ]


def test_an_agent_is_answered_as_shown(tmp_path: Path) -> None:
    call, answer = (json.loads(block) for block in blocks("json"))
    first, second, _ = blocks("sh")
    run(first + second, tmp_path)
    server = Wire(str(Path(sys.executable).with_name("duvet")), tmp_path / "kettle")
    try:
        server.greet()
        assert server.ask("tools/call", call)["result"]["structuredContent"] == answer
    finally:
        server.kill()


def test_every_command_is_listed() -> None:
    from duvet.cli import COMMANDS

    assert re.findall(r"^\| `duvet (\w+)`", README, re.MULTILINE) == [
        name
        for name in (
            "init",
            "report",
            "validate",
            "search",
            "uncited",
            "prioritize",
            "show",
            "pages",
            "cite",
            "diff",
            "extract",
            "merge",
            "ask",
            "ingest",
            "feedback",
            "backup",
            "restore",
            "mcp",
            "prompt",
            "call",
            "tools",
            "workflow",
            "recipe",
            "config",
            "cache",
            "completion",
        )
        if name in COMMANDS
    ]
