"""Clients of others list everything and use all of it, over stdio and HTTP."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.interop.running import FailedError, duvet, output_of

HERE = Path(__file__).parent
SCRIPTS = ("walk.mjs", "sdk.mjs", "client.mjs")


VERSIONS = {
    "@modelcontextprotocol/sdk": "2025-11-25",
    "@modelcontextprotocol/client": "2026-07-28",
    "fastmcp": "2026-07-28",
}
"""Which version each of them comes to with the server."""


def walk_with_others(folder: Path, project: Path, plan: Path, url: str) -> str:
    """Let each client walk; says what they have found, which has to be the same."""
    for name in SCRIPTS:
        # Node looks for packages above the script.
        shutil.copy(HERE / name, folder)
    node = folder / "node_modules/.bin/node"
    programs: dict[str, Sequence[str | Path]] = {
        "@modelcontextprotocol/sdk": (node, folder / "sdk.mjs"),
        "@modelcontextprotocol/client": (node, folder / "client.mjs"),
        "fastmcp": (folder / "fastmcp/bin/python", HERE / "speak_fastmcp.py"),
    }
    ways: dict[str, Sequence[str | Path]] = {"stdio": (duvet(), "-C", project, "mcp"), "http": (url,)}
    known = json.loads(plan.read_text())
    found = [
        _walked(name, output_of(*program, plan, way, *target, where=folder), known)
        for name, program in programs.items()
        for way, target in ways.items()
    ]
    if len(set(found)) > 1:
        raise FailedError(f"one finds other resources than the others: {found}")
    return f"{len(found)} walks by {', '.join(programs)}, each {found[0]}"


def _walked(name: str, said: str, plan: dict[str, Any]) -> str:
    """How much a client has found, which has to be what is planned."""
    seen = json.loads(said)
    counts = f"{len(seen['tools'])} tools, {seen.pop('resources')} resources, {len(seen['prompts'])} prompts"
    templates = seen.pop("templates")
    expected = {
        "version": VERSIONS[name],
        "failed": [],
        "tools": sorted(plan["tools"]),
        "prompts": sorted(plan["prompts"]),
    }
    got = {**seen, "tools": sorted(seen["tools"]), "prompts": sorted(seen["prompts"])}
    if got != expected or not templates:
        raise FailedError(f"{name} finds {got} and {templates} templates\nwhere this is planned: {expected}")
    return counts
