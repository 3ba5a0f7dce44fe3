"""The command line of the MCP Inspector lists and uses everything, over stdio and HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.interop.running import FailedError, duvet, output_of

_PROGRAM = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


class Inspector:
    """The Inspector in front of one server."""

    def __init__(self, folder: Path, target: Sequence[str | Path], era: str) -> None:
        self._folder = folder
        self._command = (folder / "node_modules/.bin/node", folder / _PROGRAM, "--cli", *target, "--protocol-era", era)
        self.asked = 0

    def ask(self, method: str, *args: str) -> dict[str, Any]:
        """The answer to one question."""
        self.asked += 1
        said = output_of(*self._command, "--method", method, *args, where=self._folder)
        found: dict[str, Any] = json.loads(said)
        return found


def inspect(folder: Path, project: Path, plan: Path, url: str) -> str:
    """Look at everything; says how much that was."""
    targets: dict[str, Sequence[str | Path]] = {
        "legacy": (duvet(), "-C", project, "mcp"),
        "modern": (url, "--transport", "http"),
    }
    asked = 0
    for era, target in targets.items():
        inspector = Inspector(folder, target, era)
        _look(inspector, json.loads(plan.read_text()))
        asked += inspector.asked
    return f"{asked} questions over stdio and HTTP, schemas strict"


def _look(inspector: Inspector, plan: dict[str, Any]) -> None:
    # It ends with another code where a schema is not portable, or a call fails.
    tools = [tool["name"] for tool in inspector.ask("tools/list", "--strict")["tools"]]
    prompts = [prompt["name"] for prompt in inspector.ask("prompts/list")["prompts"]]
    if sorted(tools) != sorted(plan["tools"]) or sorted(prompts) != sorted(plan["prompts"]):
        raise FailedError(f"the Inspector finds the tools {tools} and the prompts {prompts}")
    templates = inspector.ask("resources/templates/list")["resourceTemplates"]
    uris = _one_of_each_kind([one["uri"] for one in inspector.ask("resources/list")["resources"]])
    if not templates or not uris:
        raise FailedError("the Inspector finds no resources, or no templates of them")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda asked: inspector.ask(*asked), _questions(plan)))
        for found in pool.map(lambda uri: inspector.ask("resources/read", "--uri", uri), uris):
            json.loads(found["contents"][0]["text"])


def _questions(plan: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, given in plan["tools"].items():
        yield "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(given)
    for name, given in plan["prompts"].items():
        pairs = [f"{key}={value}" for key, value in given.items()]
        yield "prompts/get", "--prompt-name", name, *(["--prompt-args", *pairs] if pairs else [])


def _one_of_each_kind(uris: list[str]) -> list[str]:
    """The first URI of each depth and collection; all the others are made alike."""
    kinds = {(uri.count("/"), *uri.split("/")[3::2]): uri for uri in reversed(uris)}
    return list(kinds.values())
