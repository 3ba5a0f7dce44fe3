"""A team's server with the pack `knowledge`, and calls of its tools over MCP, HTTP, pipes and in the shell."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.command import run
from tests.cli.sample_project import make
from tests.unit.knowledge.stored_project import STORE, fill
from tests.unit.server.http.command import HttpClient
from tests.unit.server.http.http_server import ADMIN, READER
from tests.unit.server.stdio_server import Wire
from tests.unit.tools.tool_calls import FILES

Given = Mapping[str, Any]

READERS: dict[str, Given] = {
    "km-help": {"tool": "km-search"},
    "km-search": {"query": "boil", "limit": 3, "filters": {"symbols": ["boil"]}},
    "km-graph-node": {"node_id": "Code:src/kettle/boil.py", "relationships": "all"},
    "km-graph-subsystem": {"name": "Kettle", "depth": 2},
    "km-graph-search": {"term": "kettle"},
    "km-coverage-summary": {"history": 1},
}
LOOKING: dict[str, Given] = {"km-lifecycle-report": {}, "km-ingest-status": {"profile": "local"}}
"""Tools of maintainers that change nothing."""
CHANGING: dict[str, Given] = {
    "km-ingest-trigger": {"dry_run": True},
    "km-feedback-submit": {"request_id": "r", "chunk_id": "src/kettle/boil.py::0", "vote": 1},
    "km-backup-trigger": {},
    "km-recipe-run": {"recipe": "good"},
    "km-upload": {"source_path": "given.md", "destination": "docs/uploads/", "overwrite": True},
    "km-storetext": {"content": "# Tea", "destination": "docs/tea-note.md", "overwrite": True},
}
MAINTAINERS = {**LOOKING, **CHANGING}
READING = {**READERS, **LOOKING}
ALL = {**READERS, **MAINTAINERS}
CALLERS: dict[str, dict[str, str]] = {  # The variables of each, over pipes and in the shell.
    "nobody": {},
    "reader": {"KM_READER_TOKEN": READER},
    "admin": {"KM_ADMIN_TOKEN": ADMIN},
}


def recipe(*steps: Given) -> str:
    return json.dumps({"version": 1, "summary": "Made.", "steps": [{"id": f"s{n}", **s} for n, s in enumerate(steps)]})


_HELP = {"tool": "km-help", "params": {}}
_NEVER = {
    "tool": "km-ingest-status",
    "params": {},
    "until": {"path": "result.status", "equals": "never"},
    "interval_seconds": 0.5,
    "timeout_seconds": 1,
}
RECIPES = {
    "recipes/good.yaml": recipe(_HELP),
    "recipes/look.yaml": 'variables: { x: 1 }\nsteps: [{ id: a, tool: km-help }]\noutputs: { x: "${vars.x}" }\n',
    "recipes/failing.yaml": recipe({"tool": "km-graph-node", "params": {"node_id": "Code:gone.py"}}, _HELP),
    "recipes/wrong.yaml": recipe({**_HELP, "assert": [{"path": "result.tools", "exists": False}]}),
    "recipes/late.yaml": recipe({"wait": _NEVER}),
    "recipes/bad.yaml": recipe({"tool": "km-hlep", "params": {}}),
}
LOOK = {
    "description": "Looks at everything.",
    "steps": [{"id": f"step{n}", "tool": tool, "params": given} for n, (tool, given) in enumerate(READING.items())],
    "outputs": {f"step{n}": f"${{steps.step{n}.result}}" for n in range(len(READING))},
}
SETTINGS: dict[str, Any] = {
    "toolPacks": {"knowledge": {}},
    # Uploaded files would change what later runs count.
    "ingest": {"semantic": False, "exclude": ["docs/uploads/**", "docs/tea-note.md"]},
    "server": {"logLevel": "info"},
    "workflows": {"look": LOOK},
}


def team(folder: Path, settings: Given = SETTINGS, **more: Any) -> Path:
    files = {"duvet.config.json": json.dumps(settings), "given.md": "# Given\n", **RECIPES}
    return fill(make(folder, {**FILES, **files}), **more)


def break_store(folder: Path) -> None:
    (folder / STORE).write_bytes(b"no database " * 1000)


class Outcome(NamedTuple):
    code: str
    value: Any


Ask = Callable[[str, Given], Outcome]
STATUSES = {  # The status of plain HTTP for each code.
    "": 200,
    **dict.fromkeys(("invalid_request", "invalid_identifier", "unsupported_operation"), 400),
    "unauthorized": 401,
    "forbidden": 403,
    "assert_failed": 409,
    "timeout": 504,
    # The status of a recipe whose step finds nothing.
    **dict.fromkeys(("not_found", "recipe_not_found", "tool_failed"), 404),
    "upstream_error": 503,
}


def by_rest(client: HttpClient) -> Ask:
    def ask(tool: str, given: Given) -> Outcome:
        status, found = client.post_tool(tool, **given)
        code = found["code"] if status != 200 else ""
        assert status == STATUSES[code] and (not code or (found["status"] == "error" and "hint" in found)), found
        return Outcome(code, found["error"] if code else found)

    return ask


def by_mcp(client: HttpClient) -> Ask:
    def ask(tool: str, given: Given) -> Outcome:
        answer = client.call(tool, **given)
        return _outcome_of(answer["result"]) if "result" in answer else Outcome(answer["error"]["code"], None)

    return ask


def by_pipes(wire: Wire) -> Ask:
    return lambda tool, given: _outcome_of(wire.ask("tools/call", {"name": tool, "arguments": dict(given)})["result"])


def by_shell(command: str, folder: Path, **environ: str) -> Ask:
    """Call a tool in the shell; the error code is `exit` with the exit code."""

    def ask(tool: str, given: Given) -> Outcome:
        done = run(command, folder, "call", tool, "--json", json.dumps(given), environ=environ)
        assert bool(done.out) != bool(done.code) and "Traceback" not in done.err
        return Outcome(f"exit {done.code}", done.err) if done.code else Outcome("", json.loads(done.out))

    return ask


def _outcome_of(result: Any) -> Outcome:
    value = json.loads(result["content"][0]["text"])
    if result.get("isError"):
        assert value["status"] == "error"
        return Outcome(value["error"]["code"], value["error"]["message"])
    assert value == result["structuredContent"]
    return Outcome("", value)


_VOLATILE = {
    *("generated_at", "generated_at_iso", "request_id", "freshness_days", "score", "adjusted_score"),
    *("run_id", "started_at", "started_at_iso", "finished_at", "duration_seconds", "timestamp", "source"),
    *("stored_path", "overwritten", "archive", "size"),
}


def replace_varying_values(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if name != "feedback_prompt"}
        return {name: "…" if name in _VOLATILE else replace_varying_values(one) for name, one in kept.items()}
    return [replace_varying_values(one) for one in value] if isinstance(value, list) else value
