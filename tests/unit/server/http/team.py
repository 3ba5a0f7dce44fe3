"""A team's server over a project that was taken in, with recipes that fail, and all of its tools called on every face."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.cli.made import make
from tests.cli.running import Done, run
from tests.unit.knowledge.stored import fill
from tests.unit.server.http.serving import ADMIN, READER
from tests.unit.server.wire import Wire
from tests.unit.tools.made import FILES

TOKENS = {"KM_READER_TOKEN": READER, "KM_ADMIN_TOKEN": ADMIN}
READERS: dict[str, dict[str, Any]] = {
    "km-help": {"tool": "km-search"},
    "km-search": {"query": "boil", "limit": 3},
    "km-graph-node": {"node_id": "Code:src/kettle/boil.py"},
    "km-graph-subsystem": {"name": "Kettle"},
    "km-graph-search": {"term": "kettle"},
    "km-coverage-summary": {},
}
MAINTAINERS: dict[str, dict[str, Any]] = {
    "km-lifecycle-report": {},
    "km-ingest-status": {},
    "km-ingest-trigger": {"dry_run": True},
    "km-feedback-submit": {"request_id": "r", "chunk_id": "src/kettle/boil.py::0", "vote": 1},
    "km-backup-trigger": {},
    "km-recipe-run": {"recipe": "good"},
    "km-upload": {"source_path": "given.md", "destination": "docs/uploads/", "overwrite": True},
    "km-storetext": {"content": "# Tea", "destination": "docs/tea-note.md", "overwrite": True},
}
ALL = {**READERS, **MAINTAINERS}


def recipe(*steps: Mapping[str, Any]) -> str:
    return json.dumps({"version": 1, "summary": "Made.", "steps": [{"id": f"s{n}", **s} for n, s in enumerate(steps)]})


_HELP = {"tool": "km-help", "params": {}}
_NEVER = {"path": "result.tools", "exists": False}
RECIPES = {
    "recipes/good.yaml": recipe(_HELP),
    "recipes/failing.yaml": recipe({"tool": "km-graph-node", "params": {"node_id": "Code:gone.py"}}),
    "recipes/wrong.yaml": recipe({**_HELP, "assert": [_NEVER]}),
    "recipes/late.yaml": recipe(
        {
            "wait": {
                "tool": "km-ingest-status",
                "params": {},
                "until": {"path": "result.status", "equals": "never"},
                "interval_seconds": 0.5,
                "timeout_seconds": 1,
            }
        }
    ),
}
WORKFLOW = {"description": "Looks.", "steps": [{"id": "look", "tool": "km-ingest-status"}]}
SETTINGS: dict[str, Any] = {
    "toolPacks": {"knowledge": {}},
    "ingest": {"semantic": False},
    "server": {"logLevel": "info"},
    "workflows": {"look": WORKFLOW},
}


def team(folder: Path) -> Path:
    """What the server serves."""
    more = {"duvet.config.json": json.dumps(SETTINGS), "given.md": "# Given\n", **RECIPES}
    return fill(make(folder, {**FILES, **more}))


class Failing(Struct, frozen=True):
    """A call that fails."""

    tool: str
    given: dict[str, Any]
    code: str
    status: int
    """On `/api/mcp`."""


FAILING = (
    Failing("km-search", {}, "invalid_request", 400),
    Failing("km-graph-node", {"node_id": "Code:gone.py"}, "not_found", 404),
    Failing("km-graph-node", {"node_id": "nowhere"}, "invalid_identifier", 400),
    Failing("km-ingest-trigger", {"paths": ["a"]}, "unsupported_operation", 400),
    Failing("km-recipe-run", {"recipe": "nowhere"}, "recipe_not_found", 404),
    Failing("km-recipe-run", {"recipe": "failing"}, "tool_failed", 503),
    Failing("km-recipe-run", {"recipe": "wrong"}, "assert_failed", 409),
    Failing("km-recipe-run", {"recipe": "late"}, "timeout", 504),
    Failing("km-upload", {"source_path": "nowhere"}, "invalid_request", 400),
    Failing("km-storetext", {"content": " "}, "invalid_request", 400),
)


def shell(command: str, folder: Path, tool: str, given: Mapping[str, Any], **environ: str) -> Done:
    return run(command, folder, "call", tool, "--json", json.dumps(given), environ=environ)


def piped(wire: Wire, tool: str, given: Mapping[str, Any]) -> Any:
    """What a call over pipes comes to."""
    found = wire.ask("tools/call", {"name": tool, "arguments": dict(given)})["result"]
    return json.loads(found["content"][0]["text"])
