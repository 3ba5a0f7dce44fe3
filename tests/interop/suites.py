"""Other projects' programs against the server: the conformance suite, the MCP Inspector, and clients."""

import json
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.bench.measure import FailedError
from tests.interop.external_programs import duvet, output_of

HERE = Path(__file__).parent
_CONFORMANCE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
_INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_HANDSHAKE = (
    *("server-initialize", "server-session-lifecycle", "ping", "logging-set-level", "tools-list", "resources-list"),
    *("prompts-list", "completion-complete", "resources-subscribe", "resources-unsubscribe"),
    *("server-sse-multiple-streams", "dns-rebinding-protection"),
)
SCENARIOS = {  # The scenarios that a server without the suite's own tools and resources can pass.
    "2025-06-18": _HANDSHAKE,
    "2025-11-25": _HANDSHAKE,
    "2026-07-28": (
        *("tools-list", "resources-list", "prompts-list", "completion-complete", "caching", "http-header-validation"),
        *("sep-2164-resource-not-found", "input-required-result-unsupported-methods", "dns-rebinding-protection"),
        "server-stateless",
    ),
}
UNTESTABLE = [  # The checks of `server-stateless` that need tools of the suite's own.
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-missing-capability-http-400",
    "sep-2575-server-no-log-without-loglevel",
    "sep-2575-server-rejects-undeclared-capability",
]
VERSIONS = {  # The version that each client agrees on with the server.
    "@modelcontextprotocol/sdk": "2025-11-25",
    "@modelcontextprotocol/client": "2026-07-28",
    "fastmcp": "2026-07-28",
}


def _node(folder: Path) -> Path:
    return folder / "node_modules/.bin/node"


def _conform(folder: Path, url: str, version: str, out: Path, *args: str, allowed: Sequence[int] = (0,)) -> list[Any]:
    words: Sequence[str | Path] = ("server", "--url", url, "--spec-version", version, "-o", out, *args)
    output_of(_node(folder), folder / _CONFORMANCE, *words, where=folder, allowed=allowed)
    return [check for file in out.rglob("checks.json") for check in json.loads(file.read_text())]


def run_on_product(folder: Path, url: str) -> str:
    """Run one scenario at a time, and report how many there were."""
    for version, names in SCENARIOS.items():
        for name in names:
            out, is_stateless = folder / "conformance" / version / name, name == "server-stateless"
            checks = _conform(folder, url, version, out, "--scenario", name, allowed=(1,) if is_stateless else (0,))
            failed = sorted(check["id"] for check in checks if check["status"] == "FAILURE")
            if is_stateless and failed != UNTESTABLE:
                raise FailedError(f"{name} on {version} fails in {failed}")
    return f"{sum(map(len, SCENARIOS.values()))} scenarios on {len(SCENARIOS)} versions"


def run_on_fixtures(folder: Path, url: str) -> str:
    """Run the whole suite; exactly the cases in the baseline must fail."""
    counts = []
    for version in SCENARIOS:
        out = folder / "conformance" / version / "suite"
        checks = _conform(folder, url, version, out, "--expected-failures", str(HERE / "baseline.yml"))
        statuses = [check["status"] for check in checks if check["status"] in ("SUCCESS", "FAILURE")]
        if not statuses:
            raise FailedError(f"the suite has checked nothing on {version}")
        counts.append(f"{version} {statuses.count('SUCCESS')}/{len(statuses)}")
    return ", ".join(counts)


def walk_with_clients(folder: Path, project: Path, plan: Path, url: str) -> str:
    """Let each client list and use everything over stdio and HTTP, and compare with the plan."""
    for name in ("walk.mjs", "sdk.mjs", "client.mjs"):
        # Node looks for packages above the script.
        shutil.copy(HERE / name, folder)
    programs: dict[str, Sequence[str | Path]] = {
        "@modelcontextprotocol/sdk": (_node(folder), folder / "sdk.mjs"),
        "@modelcontextprotocol/client": (_node(folder), folder / "client.mjs"),
        "fastmcp": (folder / "fastmcp/bin/python", HERE / "speak_fastmcp.py"),
    }
    ways: dict[str, Sequence[str | Path]] = {"stdio": (duvet(), "-C", project, "mcp"), "http": (url,)}
    planned = json.loads(plan.read_text())
    counts = []
    for name, program in programs.items():
        expected = {"version": VERSIONS[name], "failed": [], **{kind: sorted(planned[kind]) for kind in planned}}
        for way, target in ways.items():
            found = json.loads(output_of(*program, plan, way, *target, where=folder))
            resources, templates = found.pop("resources"), found.pop("templates")
            got = {**found, **{kind: sorted(found[kind]) for kind in planned}}
            if got != expected or not templates:
                raise FailedError(f"{name} finds {got} and {templates} templates\nwhere this is planned: {expected}")
            counts.append(f"{len(got['tools'])} tools, {resources} resources, {len(got['prompts'])} prompts")
    if len(set(counts)) > 1:
        raise FailedError(f"one finds other resources than the others: {counts}")
    return f"{len(counts)} walks by {', '.join(programs)}, each {counts[0]}"


class Inspector:
    def __init__(self, folder: Path, target: Sequence[str | Path], era: str) -> None:
        self._folder = folder
        self._command = (_node(folder), folder / _INSPECTOR, "--cli", *target, "--protocol-era", era)
        self.asked = 0

    def ask(self, method: str, *args: str) -> dict[str, Any]:
        """Return the answer; fail if a schema is not portable, or a call fails."""
        self.asked += 1
        return dict(json.loads(output_of(*self._command, "--method", method, *args, where=self._folder)))


def inspect(folder: Path, project: Path, plan: Path, url: str) -> str:
    """Let the Inspector list and use everything over stdio and HTTP, and report how much that was."""
    targets: dict[str, Sequence[str | Path]] = {
        "legacy": (duvet(), "-C", project, "mcp"),
        "modern": (url, "--transport", "http"),
    }
    asked = 0
    for era, target in targets.items():
        inspector = Inspector(folder, target, era)
        _inspect(inspector, json.loads(plan.read_text()))
        asked += inspector.asked
    return f"{asked} questions over stdio and HTTP, schemas strict"


def _inspect(inspector: Inspector, plan: dict[str, Any]) -> None:
    tools = [tool["name"] for tool in inspector.ask("tools/list", "--strict")["tools"]]
    prompts = [prompt["name"] for prompt in inspector.ask("prompts/list")["prompts"]]
    if sorted(tools) != sorted(plan["tools"]) or sorted(prompts) != sorted(plan["prompts"]):
        raise FailedError(f"the Inspector finds the tools {tools} and the prompts {prompts}")
    uris = [one["uri"] for one in inspector.ask("resources/list")["resources"]]
    # The first URI of each depth and collection; all the others are made alike.
    kinds = {(uri.count("/"), *uri.split("/")[3::2]): uri for uri in reversed(uris)}
    if not inspector.ask("resources/templates/list")["resourceTemplates"] or not kinds:
        raise FailedError("the Inspector finds no resources, or no templates of them")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda asked: inspector.ask(*asked), _questions(plan)))
        for found in pool.map(lambda uri: inspector.ask("resources/read", "--uri", uri), kinds.values()):
            json.loads(found["contents"][0]["text"])


def _questions(plan: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, given in plan["tools"].items():
        yield "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(given)
    for name, given in plan["prompts"].items():
        pairs = [f"{key}={value}" for key, value in given.items()]
        yield "prompts/get", "--prompt-name", name, *(["--prompt-args", *pairs] if pairs else [])
