"""Packs of other distributions that can't be had"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from duvet.tools.plugins import PluginPacks, UnloadedPack, find_plugins, load_plugins
from duvet.tools.tool import Pack
from tests.unit.tools.installed import GOOD, duvet, install_made

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


def test_packs_that_can_not_be_had(duvet_command: str, project: Path, site: Path) -> None:
    ##= man/spec/service.md#packs
    ##= type=test
    ##% The server MUST leave out an installed pack that cannot be loaded, takes too long, is malformed or repeats the
    ##% name of a tool, say so, and serve the others.
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
    found = load_plugins(find_plugins(), [], patience=0.2)
    assert [pack.name for pack in found.packs] == ["fine"]
    assert found.unloaded == [UnloadedPack("endless", "it is not there after 0.2 s")]


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
    found = load_plugins(find_plugins(), [])
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
    ##% The server MUST leave out an installed pack that cannot be loaded, takes too long, is malformed or repeats the
    ##% name of a tool, say so, and serve the others.
    install_made(site, "slow", SLOW)
    monkeypatch.syspath_prepend(str(site))
    found = load_plugins(find_plugins(), [], {"slow": {"waits": True}}, patience=0.2)
    assert found == PluginPacks([], [UnloadedPack("slow", "it is not there after 0.2 s")])
    found = load_plugins(find_plugins(), [], {"slow": {"waits": False}})
    assert found == PluginPacks([Pack("slow", ())], [])
    assert sys.modules["slow_pack"].made == [{"waits": True}, {"waits": False}]


def test_nothing_is_installed() -> None:
    assert load_plugins([], ["trace"]) == PluginPacks([], [])
