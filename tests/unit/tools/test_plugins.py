import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import force_setattr
from pytest_snapshot.plugin import Snapshot

from duvet.tools import plugins
from duvet.tools.plugins import PluginPacks, UnloadedPack, find_plugins, find_tools_flaw, load_plugins
from duvet.tools.tool import ArgumentShortcut, Pack, QueryTool, Scope
from tests.cli.command import failed
from tests.unit.tools.guests import GUESTS, Said, tool
from tests.unit.tools.installed import GOOD, duvet, install_made


def test_entry_points_and_archives_are_stamped_with_size_and_time(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stamps = plugins.find_entry_point_stamps
    path = [str(site), str(site.parent / "missing"), str(site)]
    assert stamps(path) == ()
    install_made(site, "warm", "")
    (site / "bare-1.dist-info").mkdir()
    file = site / "warm_pack-1.dist-info" / "entry_points.txt"
    os.utime(file, ns=(5, 5))
    assert stamps(path) == (f"{file} {file.stat().st_size} 5",)
    file.write_text("[duvet.tool_packs]\n")
    os.utime(file, ns=(6, 6))
    assert stamps(path) == (f"{file} 19 6",)
    archive = site.parent / "packs.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("x-1.dist-info/entry_points.txt", "")
    os.utime(archive, ns=(5, 5))
    assert stamps([str(archive)]) == (f"{archive} {archive.stat().st_size} 5",)
    # The working directory is a folder too.
    monkeypatch.chdir(site)
    assert stamps([""]) == ("./warm_pack-1.dist-info/entry_points.txt 19 6",)


IMPORT = "from duvet.tools.tool import Pack\n"
BAD = {
    "absent": ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    "raises": ("raise ValueError('a\\nb')", "ValueError: a"),
    "leaves": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "syntax": ("def (:", "SyntaxError: invalid syntax (syntax_pack.py, line 1)"),
    "none": ("PACK = 5", "found neither a duvet.tools.tool.Pack nor a declared tool, resource or prompt"),
    "tools": (f'{IMPORT}PACK = Pack("tools", ["x"])', "one of its tools is not a duvet.tools.tool.Tool"),
    "made": (f'{IMPORT}PACK = Pack("made", lambda settings: settings["watts"])', "KeyError: 'watts'"),
    "unnamed": (f'{IMPORT}PACK = Pack(["x"], [])', "its name does not match [A-Za-z0-9_.-]{1,64}"),
    "quits": (f'import sys\n{IMPORT}PACK = Pack("quits", lambda settings: sys.exit(7))', "SystemExit: 7"),
    "wordless": ("class Wordless(Exception):\n def __str__(self): raise self\nraise Wordless", "Wordless"),
    "half": ("raise ValueError('\\ud800')", "ValueError: ?"),
    "trace": (GOOD.format(pack="trace", tool="x"), "another pack has the name trace"),
}


def test_packs_that_cannot_be_loaded_are_left_out(duvet_command: str, project: Path, site: Path) -> None:
    ##= man/spec/service.md#packs
    ##% If an installed pack cannot be loaded, takes too long to load, or is malformed, the server MUST report it and
    ##% serve only the other packs.
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


@pytest.mark.parametrize(("tool", "other"), [("get_section", "trace"), ("workflow.audit", "workflows")])
def test_equal_names_of_tools_are_an_error(
    duvet_command: str, project: Path, site: Path, tool: str, other: str
) -> None:
    ##= man/spec/service.md#packs
    ##% If two enabled packs have a tool or a prompt with the same name, duvet MUST refuse the configuration and suggest
    ##% a `prefix` for one of the packs.
    install_made(site, "greedy", GOOD.format(pack="greedy", tool=tool))
    audit = {"description": "x", "steps": [{"id": "s", "tool": "coverage_summary"}]}
    config: dict[str, Any] = {"toolPacks": {"greedy": {}}, "workflows": {"audit": audit}}
    (project / "duvet.config.json").write_text(json.dumps(config))
    message = f"toolPacks.greedy: two tools have the name {tool}, in the packs {other} and greedy [DUV005]"
    hint = "set `toolPacks.greedy.prefix`, for example to `greedy_`, or disable one of the packs"
    assert duvet(duvet_command, project, site, "tools") == failed(message, "duvet.config.json:1:16", hint)
    config["toolPacks"]["greedy"]["prefix"] = "my."
    (project / "duvet.config.json").write_text(json.dumps(config))
    assert json.loads(duvet(duvet_command, project, site, "call", f"my.{tool}").out) == {"said": tool}


def test_broken_entry_points_are_left_out(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = {
        b"[duvet.tool_packs]\nnonsense\n": [("broken", "can't read its entry points: TypeError: ")],
        b"[duvet.tool_packs]\na = b c d(\n": [("a", "AttributeError: ")],
        **{other: [] for other in (b"[others]\nnonsense\n", b"\xff\xfe")},
    }
    install_made(site, "fine", GOOD.format(pack="fine", tool="fine"))
    info = site / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    monkeypatch.syspath_prepend(str(site))
    for text, told in broken.items():
        (info / "entry_points.txt").write_bytes(text)
        found = load_plugins(find_plugins(), [])
        assert [pack.name for pack in found.packs] == ["fine"]
        assert [one.name for one in found.unloaded] == [name for name, _ in told]
        assert all(one.reason.startswith(words) for one, (_, words) in zip(found.unloaded, told, strict=True))


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


def test_an_import_and_the_making_of_tools_have_a_time_limit(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_made(site, "endless", "import threading\nthreading.Event().wait(60)")
    install_made(site, "slow", SLOW)
    monkeypatch.syspath_prepend(str(site))
    found = load_plugins(find_plugins(), [], {"slow": {"waits": True}}, patience=0.1)
    slow = [UnloadedPack(name, "loading took longer than 0.1 s") for name in ("endless", "slow")]
    assert found == PluginPacks([], slow)
    found = load_plugins(find_plugins(), [], {"slow": {"waits": False}}, patience=0.1)
    assert found.packs == [Pack("slow", ())]
    assert sys.modules["slow_pack"].made == [{"waits": True}, {"waits": False}]


class Text(str):
    """A text that raises an exception when it is hashed."""

    def __hash__(self) -> int:
        raise RuntimeError


class Row(Struct, array_like=True):
    said: str


class Optional(Struct):
    said: str = ""


class Unheard:
    """A type that JSON does not support."""


class Strange(Struct):
    of: Unheard


PACKS: dict[str, list[Any]] = {
    "name": [[], None, "", "x\n", "x" * 65, Text("x")],
    "description": [5, "x" * 4001],
    "version": [(1, 2), "\ud800"],
}
TOOLS: dict[str, list[Any]] = {
    "name": [None, "a b", ["x"], Text("x")],
    "title": [None],
    "description": ["x" * 4001, b"x"],
    "input": [dict, None, Row],
    "output": [str, None, tuple[int, ...], Row],
    "handler": [None],
    "scope": ["reader"],
    "is_idempotent": ["no"],
    "reads": [1],
    "record_of": [{}],
    "shortcuts": ["ab", [ArgumentShortcut("a b", "c", "d")]],
    "labels": [5, "water", [5], ["x" * 201], ["x"] * 51],
    "safety_notes": [{"x": 1}, ["\udfff"]],
    "invocation_hints": [None],
    "time_limit": ["5", 0, -1.0, float("nan"), float("inf"), True],
    "aliases": ["xy", [[]]],
}


def test_a_flaw_in_a_field_is_named(problem_files: Snapshot) -> None:
    lines = []
    for field, values in PACKS.items():
        for value in values:
            force_setattr(pack := Pack("x", ()), field, value)
            lines.append(f"pack {field} {value!a:.40}: {plugins.find_pack_flaw(pack)}")
    for field, values in TOOLS.items():
        for value in values:
            force_setattr(one := tool("x", print), field, value)
            lines.append(f"tool {field} {value!a:.40}: {find_tools_flaw([one])}")
    problem_files.assert_match("\n".join(lines), "packs.txt")


def test_packs_and_tools_without_a_flaw_and_lists_of_tools() -> None:
    assert find_tools_flaw(None) == find_tools_flaw(iter(GUESTS)) == "its tools are not a list"
    assert find_tools_flaw(GUESTS * 50) == f"it has more than {plugins.MAX_PACK_TOOLS} tools"
    assert find_tools_flaw([tool("x", print), tool("y", print, aliases=["x"])]) == "the name x occurs more than once"
    assert find_tools_flaw([5]) == "one of its tools is not a duvet.tools.tool.Tool"
    assert plugins.find_pack_flaw(Pack("kettle-2.x", GUESTS, "Kettles", "1")) == ""
    more: dict[str, Any] = {"labels": ["a"], "aliases": ("b.c",), "time_limit": 5}
    lists = tool("lists", print, Scope.MAINTAINER, **more)
    force_setattr(lists, "output", tuple[Optional, ...])
    asks = QueryTool(name="asks", title="", description="", input=Optional, output=Said, handler=print)  # type: ignore[arg-type]
    assert find_tools_flaw([*GUESTS, lists, asks]) == ""
    # A type that JSON does not support.
    force_setattr(one := tool("x", print), "input", Strange)
    with pytest.raises(TypeError, match="Unheard"):
        find_tools_flaw([one])
