"""What the server says of itself, word for word, in every version of the protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.version import VERSION
from tests.conftest import ROOT
from tests.unit.server.clients import MODERN
from tests.unit.server.wire import Message, Wire, enveloped

LISTS = {
    "tools": ("tools/list", "tools"),
    "templates": ("resources/templates/list", "resourceTemplates"),
    "prompts": ("prompts/list", "prompts"),
}
OF_MODERN = {"resultType": "complete", "cacheScope": "private", "ttlMs": 0}


def whole(version: str, process: Wire, method: str) -> Message:
    """The result of a request without parameters, less what the version adds to every one."""
    params = enveloped() if version == MODERN else None
    result: Message = process.ask(method, params)["result"]
    if version == MODERN:
        info = result.pop("_meta")["io.modelcontextprotocol/serverInfo"]
        assert info["version"] == VERSION
        assert {key: result.pop(key) for key in OF_MODERN} == OF_MODERN
    return result


def pinned(result: Any) -> str:
    return (
        json.dumps(result, indent=2, ensure_ascii=False, sort_keys=True).replace(f'"{VERSION}"', '"<version>"') + "\n"
    )


@pytest.fixture
def gold(snapshot: Snapshot) -> Snapshot:
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "server"
    return snapshot


def test_what_it_says(wire: Callable[..., Wire], version: str, gold: Snapshot) -> None:
    process = wire()
    if version == MODERN:
        result, name = whole(version, process, "server/discover"), "discover.json"
    else:
        result, name = process.greet(version)["result"], "initialize.json"
        assert result.pop("protocolVersion") == version
    gold.assert_match(result.pop("instructions"), "instructions.md")
    gold.assert_match(pinned(result), name)
    for name, (method, key) in LISTS.items():
        result = whole(version, process, method)
        assert set(result) == {key}
        gold.assert_match(pinned(result[key]), f"{name}.json")
