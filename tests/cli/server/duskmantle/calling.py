"""Calls of the `km-` tools, each of them with its scope"""

from __future__ import annotations

from typing import Any

import httpx2
from msgspec.structs import fields

from duvet.tools.packs import Registry, enable_packs
from tests.unit.server.http.command import Command

KM = {tool.name: tool for tool in Registry(enable_packs(["knowledge"]))}
SCOPES = {
    "km-help": "reader",
    "km-search": "reader",
    "km-graph-node": "reader",
    "km-graph-subsystem": "reader",
    "km-graph-search": "reader",
    "km-coverage-summary": "reader",
    "km-lifecycle-report": "maintainer",
    "km-ingest-status": "maintainer",
    "km-ingest-trigger": "maintainer",
    "km-feedback-submit": "maintainer",
    "km-backup-trigger": "maintainer",
    "km-recipe-run": "maintainer",
    "km-upload": "maintainer",
    "km-storetext": "maintainer",
}
CODES = ("invalid_request", "not_found", "unauthorized", "forbidden", "upstream_error", "unsupported_operation")


def client(gateway: Command, token: str = "") -> httpx2.Client:
    shown = {"authorization": f"Bearer {token}"} if token else {}
    host, port = gateway.where
    return httpx2.Client(base_url=f"http://{host}:{port}", headers=shown, timeout=60, trust_env=False)


def call(client: httpx2.Client, tool: str, /, **given: Any) -> Any:
    """What it answers, which is of the status 200."""
    answer = client.post("/api/mcp", json={"tool": tool, "input": given})
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "ok"
    return answer.json()["result"]


def default(tool: str, argument: str) -> Any:
    return next(field.default for field in fields(KM[tool].input) if field.name == argument)
