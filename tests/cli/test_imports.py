"""What each command imports: a module that is not needed is time that everybody waits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.made import CONFIG, KETTLE, make
from tests.cli.running import environment
from tests.conftest import ROOT
from tests.histories import history
from tests.unit.llm.wire import Wire, openai_says
from tests.unit.specs.serving import at_work

PROGRAM = """
import json, sys
from duvet.cli import run
code = run(sys.argv[1:])
sys.stdout.flush()
print()
print(json.dumps([code, list(sys.modules)]))
"""
UNTIL_THE_ANSWER = """
import json, os, sys, threading
from duvet.cli import run

def stop(event, args):
    # What comes next: the project is loaded, and the SDK is imported.
    if event == "import" and args[0] == "duvet.terminal.lasting":
        os.write(2, json.dumps(list(sys.modules)).encode())
        os._exit(0)

sys.addaudithook(stop)
run(["mcp"])
"""
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
COMMANDS = {
    "version": ("--version",),
    "help": ("--help",),
    "init": ("init", "--lang-rust"),
    "extract": ("extract", "-f", "markdown", "-o", "out", "spec.md"),
    "report": ("--no-cache", "report"),
    "report_unchanged": ("report",),
    "report_html": ("--no-cache", "report", "--html", "page.html"),
    "validate": ("validate", "src/a.rs"),
    "uncited": ("uncited",),
    "prioritize": ("prioritize",),
    "prioritize_prompt": ("prioritize", "--prompt"),
    "prompt": ("prompt",),
    "prompt_section": ("prompt", "explain_section", "--arg", "section=spec.md#heating"),
    "diff": ("diff",),
    "show": ("show", "5d4daa0c"),
    "show_section": ("show", "spec.md#heating"),
    "cite": ("cite", "spec.md#pouring", "--at", "src/a.rs:3", "--dry-run"),
    "config": ("config",),
    "cache": ("cache",),
    "completion": ("completion", "bash"),
    "search": ("search", "water"),
    "ingest": ("ingest", "--dry-run"),
    "merge": ("merge", "--help"),
    "recipe": ("recipe", "run", "--help"),
}
ASKED = {"_DUVET_COMPLETE": "bash_complete"}
COMPLETED = {
    "completing": {**ASKED, "COMP_WORDS": "duvet ", "COMP_CWORD": "1"},
    "completing_ids": {**ASKED, "COMP_WORDS": "duvet show ", "COMP_CWORD": "2"},
}
"""What shells ask."""
HEAVY = {"mcp", "pydantic", "numpy", "rich", "httpx2", "watchfiles", "asyncio"}


@pytest.fixture
def kettle(tmp_path: Path) -> Path:
    """A project that has been reported on, without a page, asked about, and committed."""
    config = CONFIG + "[report.html]\nenabled = false\n"
    folder = make(tmp_path / "kettle", {**KETTLE, ".duvet/config.toml": config})
    imported(folder, "report")
    imported(folder, "validate")
    imported(folder, "uncited")
    return history(folder, {})


def imported(folder: Path, *args: str, **environ: str) -> list[str]:
    """The modules that a command has imported when it is done."""
    return imported_until(0, folder, *args, **environ)


def imported_until(end: int, folder: Path, *args: str, **environ: str) -> list[str]:
    """The same for one that ends with this code."""
    command = [sys.executable, "-I", "-c", PROGRAM, *args]
    done = subprocess.run(command, cwd=folder, env=environment(**environ), check=True, capture_output=True, text=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == end, done.stderr
    return sorted(modules)


@pytest.mark.parametrize("name", [*COMMANDS, *COMPLETED])
def test_imports(name: str, kettle: Path, snapshot: Snapshot) -> None:
    """Our own modules and the packages of others; those of Python differ from one version to the next."""
    modules = imported(kettle, *COMMANDS.get(name, ()), **COMPLETED.get(name, {}))
    packages = _compare(modules, name, snapshot)
    assert ("jinja2" in packages) is (name in ("init", "report_html", "prioritize_prompt", "prompt_section"))
    assert ("yaml" in packages) is name.startswith("prompt")


def test_imports_of_the_server_until_it_answers(kettle: Path, snapshot: Snapshot) -> None:
    ##= man/spec/mcp.md#handshake
    ##= type=test
    ##% The answer to an `initialize` that comes first MUST NOT wait for the import of the SDK, nor for the project.
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}) + "\n"
    command = [sys.executable, "-I", "-c", UNTIL_THE_ANSWER]
    for _ in ("what it keeps for the next time", "with that"):
        done = subprocess.run(
            command, cwd=kettle, env=environment(), input=hello, check=True, capture_output=True, text=True
        )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "duvet"
    assert _compare(sorted(json.loads(done.stderr)), "mcp", snapshot).isdisjoint({"jinja2", "yaml"})


def test_imports_of_a_search_by_meaning(kettle: Path, snapshot: Snapshot) -> None:
    for _ in ("what it keeps for the next time", "with that"):
        modules = imported(kettle, "search", "--semantic", "water")
    packages = {name.split(".")[0] for name in modules}
    assert "numpy" in packages
    assert (HEAVY - {"numpy"} | {"tokenizers", "wordllama"}).isdisjoint(packages)
    ours = [name for name in modules if name.split(".")[0] == "duvet"]
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "imports"
    snapshot.assert_match("".join(f"{name}\n" for name in ours), "search_semantic.txt")


def test_imports_of_a_question_without_a_model(kettle: Path, snapshot: Snapshot) -> None:
    modules = imported_until(1, kettle, "ask", "water")
    assert _compare(modules, "ask_nobody", snapshot).isdisjoint({"anyio", "jinja2", "yaml"})


def test_imports_of_a_question(kettle: Path, snapshot: Snapshot) -> None:
    with at_work(Wire()) as wire:
        wire.plan(openai_says("It boils [1]."))
        make(
            kettle,
            {"duvet.config.json": f'{{"providers": {{"one": {{"baseUrl": "{wire.url}", "defaultModel": "m"}}}}}}'},
        )
        modules = imported(kettle, "ask", "water")
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "imports"
    snapshot.assert_match("".join(f"{name}\n" for name in modules if name.split(".")[0] == "duvet"), "ask.txt")
    packages = {name.split(".")[0] for name in modules}
    assert {"httpx2", "anyio", "jinja2"} <= packages
    assert packages.isdisjoint({"mcp", "pydantic", "numpy", "rich", "watchfiles", "yaml", "starlette", "uvicorn"})


def _compare(modules: list[str], name: str, snapshot: Snapshot) -> set[str]:
    """The packages among them."""
    ours = [module for module in modules if module.split(".")[0] == "duvet"]
    # Some versions of Python need the last one, some do not.
    packages = {module.split(".")[0] for module in modules} - sys.stdlib_module_names - {"typing_extensions"}
    theirs = sorted(package for package in packages if not package.startswith("_") and package != "duvet")
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "imports"
    snapshot.assert_match("\n".join([*theirs, *ours, ""]), f"{name}.txt")
    assert HEAVY.isdisjoint(module.split(".")[0] for module in modules)
    return packages
