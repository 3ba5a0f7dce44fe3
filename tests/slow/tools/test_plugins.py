import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.server.stdio_server import Wire
from tests.unit.tools.installed import GOOD, duvet, install_made, install_tutorial


@pytest.mark.criterion("core 2.4.1", "core 4.2.2")
def test_a_pack_that_is_installed_is_served_as_configured(
    duvet_command: str, project: Path, site: Path, tmp_path: Path
) -> None:
    ##= man/spec/service.md#packs
    ##% By default, the server MUST enable the pack `trace` and installed packs, and disable the packs `introspect` and
    ##% `knowledge`.
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
    assert "litres: expected number <= 3.0\n  = help: How much water there is" in refused.err
    assert duvet(duvet_command, project, site, "tools", "boil").out == HELP
    ##= man/spec/service.md#packs
    ##% On every interface, the server MUST omit disabled tools and, from a `read-only` pack, the tools that
    ##% change something.
    wanted: dict[str, Any] = {"kettle": {"mode": "read-only", "tools": {"owed": False}, "settings": {"watts": 1000}}}
    (project / "duvet.config.json").write_text(json.dumps({"toolPacks": {**wanted, "trace": {"enabled": False}}}))
    (tool,) = json.loads(duvet(duvet_command, project, site, "mcp", "--describe").out)["tools"]
    assert (tool["name"], tool["labels"]) == ("boil", ["kettle", "water"])
    assert (tool["safetyNotes"], tool["invocationHints"]) == (
        ["The kettle is hot afterwards."], ["Ask before tea is made."],
    )  # fmt: skip
    assert duvet(duvet_command, project, site, "call", "descale").code == 1
    assert json.loads(duvet(duvet_command, project, site, "call", "boil", "--litres", "1").out)["seconds"] == 335
    (project / "duvet.config.json").write_text('{"toolPacks": {"kettle": {"tools": {"boyl": true}}}}')
    wrong = duvet(duvet_command, project, site, "tools")
    assert (wrong.code, wrong.out) == (1, "")
    assert 'the pack kettle has no tool "boyl"' in wrong.err and "did you mean boil?" in wrong.err
    (project / "duvet.config.json").write_text('{"toolPacks": {"kettel": {}}}')
    assert 'unknown pack "kettel"' in duvet(duvet_command, project, site, "tools").err


def test_agents_are_told_of_what_is_installed(duvet_command: str, project: Path, site: Path) -> None:
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


HELP = """\
boil: Boil water

How long water takes to boil.

Arguments:
  --litres (number; required; at most 3): How much water there is
  --celsius (integer; default 100): How warm it is to be

Returns:
  seconds, kettle

Before you call it:
  The kettle is hot afterwards.

Hints:
  Ask before tea is made.

Example:
  duvet call boil --litres 1

pack kettle, scope reader, labels kettle, water
"""
