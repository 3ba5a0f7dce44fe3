"""Packs of other distributions, in real processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from duvet.tools.plugins import Found, Unloaded, declared, loaded
from duvet.tools.tool import Pack
from tests.commands.made import make
from tests.commands.running import Done, run
from tests.server.wire import Wire
from tests.tools.installed import install_made, install_tutorial
from tests.tools.made import FILES

GOOD = """
from msgspec import Struct
from duvet.tools.tool import Pack, Tool
class Nothing(Struct): pass
class Said(Struct): said: str
def tool(name): return Tool(name=name, title=name, description=name, input=Nothing, output=Said, handler=lambda a, c: Said(name))
PACK = Pack("{pack}", [tool("{tool}")])
"""
BAD = {
    "absent": ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    "raises": ("raise ValueError('a\\nb')", "ValueError: a"),
    "leaves": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "syntax": ("def (:", "SyntaxError: invalid syntax (syntax_pack.py, line 1)"),
    "none": ("PACK = 5", "it is no duvet.tools.tool.Pack, and has none as PACK"),
    "tools": (
        'from duvet.tools.tool import Pack\nPACK = Pack("tools", ["x"])',
        "not everything in it is a duvet.tools.tool.Tool",
    ),
    "made": (
        'from duvet.tools.tool import Pack\nPACK = Pack("made", lambda settings: settings["watts"])',
        "KeyError: 'watts'",
    ),
    "unnamed": (
        'from duvet.tools.tool import Pack\nPACK = Pack(["x"], [])',
        "its name is not like [A-Za-z0-9_.-]{1,64}",
    ),
    "labelled": (
        GOOD.format(pack="labelled", tool="x").replace("handler=", "labels=5, handler="),
        "x: labels is no list of at most 50 texts of 200 characters",
    ),
    "scoped": (
        GOOD.format(pack="scoped", tool="x").replace("handler=", "scope='reader', handler="),
        "x: scope is no duvet.tools.tool.Scope",
    ),
    "quits": (
        'import sys\nfrom duvet.tools.tool import Pack\nPACK = Pack("quits", lambda settings: sys.exit(7))',
        "SystemExit: 7",
    ),
    "wordless": (
        "class Wordless(Exception):\n def __str__(self): raise self\nraise Wordless",
        "Wordless",
    ),
    "half": ("raise ValueError('\\ud800')", "ValueError: ?"),
    "trace": (GOOD.format(pack="trace", tool="x"), "another pack is called trace, too"),
    "clash": (
        GOOD.format(pack="clash", tool="get_section"),
        "two tools are called get_section, in the packs trace and clash",
    ),
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "project", FILES)


def duvet(command: str, project: Path, site: Path, *args: str) -> Done:
    return run(command, project, *args, environ={"PYTHONPATH": str(site)})


def test_a_pack_that_is_installed_is_served(duvet_command: str, project: Path, site: Path, tmp_path: Path) -> None:
    ##= man/spec/service.md#packs
    ##= type=test
    ##% The pack `trace` MUST be on unless the configuration switches it off, `introspect` and `knowledge` MUST be off
    ##% unless they are asked for, and a further pack MUST be on once it is installed.
    install_tutorial(site, tmp_path)
    listed = duvet(duvet_command, project, site, "tools", "--format", "json")
    packs = {row["name"]: row["pack"] for row in json.loads(listed.out)}
    assert [name for name, pack in packs.items() if pack == "kettle"] == ["boil", "owed", "descale"]
    assert set(packs.values()) == {"trace", "kettle"}
    called = duvet(duvet_command, project, site, "call", "boil", "--litres", "1.5")
    assert (called.code, json.loads(called.out)) == (0, {"seconds": 251, "kettle": "kettle"})
    called = duvet(duvet_command, project, site, "call", "owed")
    assert (called.code, json.loads(called.out)) == (0, {"requirements": 8, "uncited": 5})
    refused = duvet(duvet_command, project, site, "call", "boil", "--litres", "9")
    assert (refused.code, refused.out) == (2, "")
    assert "litres: expected float <= 3.0\nHow much water there is" in refused.err


def test_agents_are_told_of_what_is_installed(duvet_command: str, project: Path, site: Path) -> None:
    ##= man/spec/service.md#packs
    ##= type=test
    ##% Once a further pack is installed, removed or brought up to date, the next server MUST tell agents so.
    def told() -> list[str]:
        wire = Wire(duvet_command, project, PYTHONPATH=str(site))
        try:
            text = wire.greet()["result"]["instructions"]
        finally:
            wire.kill()
        return [name for name in ("warm", "cool") if f"`{name}`" in text]

    assert told() == told() == []
    install_made(site, "warm", GOOD.format(pack="warm", tool="warm"))
    assert told() == told() == ["warm"]
    (site / "warm_pack-1.dist-info").rename(site / "warm_pack-2.dist-info")
    (site / "warm_pack.py").write_text(GOOD.format(pack="warm", tool="cool") + "# version 2\n")
    assert told() == ["cool"]
    (site / "warm_pack-2.dist-info" / "entry_points.txt").unlink()
    assert told() == []


def test_what_is_wanted_of_a_pack(duvet_command: str, project: Path, site: Path, tmp_path: Path) -> None:
    ##= man/spec/service.md#packs
    ##= type=test
    ##% A pack that is `read-only` MUST leave out its tools that write, and a tool that is switched off MUST be left out,
    ##% on every face.
    install_tutorial(site, tmp_path)
    wanted: dict[str, Any] = {"kettle": {"mode": "read-only", "tools": {"owed": False}, "settings": {"watts": 1000}}}
    (project / "duvet.config.json").write_text(json.dumps({"toolPacks": {**wanted, "trace": {"enabled": False}}}))
    described = json.loads(duvet(duvet_command, project, site, "mcp", "--describe").out)
    (tool,) = described["tools"]
    assert (tool["name"], tool["labels"], tool["safetyNotes"], tool["invocationHints"]) == (
        "boil",
        ["kettle", "water"],
        ["The kettle is hot afterwards."],
        ["Ask before tea is made."],
    )
    assert duvet(duvet_command, project, site, "call", "descale").code == 1
    assert json.loads(duvet(duvet_command, project, site, "call", "boil", "--litres", "1").out)["seconds"] == 335
    (project / "duvet.config.json").write_text('{"toolPacks": {"kettle": {"tools": {"boyl": true}}}}')
    wrong = duvet(duvet_command, project, site, "tools")
    assert (wrong.code, wrong.out) == (1, "")
    assert 'the pack kettle has no tool "boyl"' in wrong.err and "did you mean boil?" in wrong.err
    (project / "duvet.config.json").write_text('{"toolPacks": {"kettel": {}}}')
    assert 'there is no pack "kettel"' in duvet(duvet_command, project, site, "tools").err


def test_what_the_help_of_a_tool_says(duvet_command: str, project: Path, site: Path, tmp_path: Path) -> None:
    install_tutorial(site, tmp_path)
    assert duvet(duvet_command, project, site, "tools", "boil").out == HELP


HELP = """\
boil: Boil water

How long water takes to boil.

Arguments:
  --litres (number; required; at most 3): How much water there is
  --celsius (integer; default 100): How warm it is to be

Answers:
  seconds, kettle

Think of this first:
  The kettle is hot afterwards.

Hints:
  Ask before tea is made.

Example:
  duvet call boil --litres 1

pack kettle, scope reader, labels kettle, water
"""


def test_packs_that_can_not_be_had(duvet_command: str, project: Path, site: Path) -> None:
    ##= man/spec/service.md#packs
    ##= type=test
    ##% A further pack that can't be loaded, for whatever reason, MUST be left out and told of, and the others MUST be
    ##% served.
    ##= man/spec/service.md#packs
    ##= type=test
    ##% A further pack with a tool whose name is taken MUST be left out and told of.
    for name, (code, _) in BAD.items():
        install_made(site, name, code)
    install_made(site, "fine", GOOD.format(pack="fine", tool="fine"))
    install_made(site, "unfound", "", "no_such_module:PACK")
    described = json.loads(duvet(duvet_command, project, site, "mcp", "--describe").out)
    reasons = {name: reason for name, (_, reason) in BAD.items()}
    reasons["unfound"] = "ModuleNotFoundError: No module named 'no_such_module'"
    assert {one["pack"]: one["reason"] for one in described["leftOut"]} == reasons
    assert described["packs"] == ["trace", "fine"]
    health = json.loads(duvet(duvet_command, project, site, "call", "--pack", "introspect", "duvet_health").out)
    assert (health["status"], len(health["problems"])) == ("degraded", len(reasons))
    checked = duvet(duvet_command, project, site, "mcp", "--check")
    assert checked.code == 1 and f"{len(reasons)} packs could not be loaded" in checked.err
    assert json.loads(duvet(duvet_command, project, site, "call", "fine").out) == {"said": "fine"}


def test_a_tool_can_not_take_the_name_of_a_workflow(duvet_command: str, project: Path, site: Path) -> None:
    """Not even where the configuration names its pack first."""
    install_made(site, "greedy", GOOD.format(pack="greedy", tool="workflow.audit"))
    audit = {"description": "x", "steps": [{"id": "s", "tool": "coverage_summary"}]}
    config = {"toolPacks": {"greedy": {}}, "workflows": {"audit": audit}}
    (project / "duvet.config.json").write_text(json.dumps(config))
    described = json.loads(duvet(duvet_command, project, site, "mcp", "--describe").out)
    assert described["leftOut"] == [
        {"pack": "greedy", "reason": "two tools are called workflow.audit, in the packs workflows and greedy"}
    ]


def test_an_import_that_does_not_end(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_made(site, "endless", "import threading\nthreading.Event().wait(60)")
    install_made(site, "fine", GOOD.format(pack="fine", tool="fine"))
    monkeypatch.syspath_prepend(str(site))
    found = loaded(declared(), [], patience=0.2)
    assert [pack.name for pack in found.packs] == ["fine"]
    assert found.unloaded == [Unloaded("endless", "it is not there after 0.2 s")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"[duvet.tool_packs]\nnonsense\n", [("broken", "its entry points can't be read: TypeError: ")]),
        (b"[others]\nnonsense\n", []),
        (b"\xff\xfe", []),
        (b"[duvet.tool_packs]\na = b c d(\n", [("a", "AttributeError: ")]),
    ],
)
def test_entry_points_that_are_broken(
    site: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, told: list[tuple[str, str]]
) -> None:
    install_made(site, "fine", GOOD.format(pack="fine", tool="fine"))
    info = site / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_bytes(text)
    monkeypatch.syspath_prepend(str(site))
    found = loaded(declared(), [])
    assert [pack.name for pack in found.packs] == ["fine"]
    assert [(one.name, one.reason[: len(words)]) for one, (_, words) in zip(found.unloaded, told, strict=True)] == told


SLOW = """
import threading
from duvet.tools.tool import Pack
made = []
def tools(settings):
    made.append(settings)
    if settings.get("waits"):
        threading.Event().wait(60)
    return []
PACK = Pack("slow", tools)
"""


def test_tools_that_are_never_made(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/service.md#packs
    ##= type=test
    ##% A further pack that takes too long to be imported, or to make its tools, MUST be left out.
    install_made(site, "slow", SLOW)
    monkeypatch.syspath_prepend(str(site))
    found = loaded(declared(), [], {"slow": {"waits": True}}, patience=0.2)
    assert found == Found([], [Unloaded("slow", "it is not there after 0.2 s")])
    found = loaded(declared(), [], {"slow": {"waits": False}})
    assert found == Found([Pack("slow", ())], [])
    assert sys.modules["slow_pack"].made == [{"waits": True}, {"waits": False}]


def test_nothing_is_installed() -> None:
    assert loaded([], ["trace"]) == Found([], [])
