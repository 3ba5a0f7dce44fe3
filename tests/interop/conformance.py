"""The official conformance suite, against the product as it is and against its server with what the suite looks for."""

from __future__ import annotations

import json
from pathlib import Path

from tests.interop.running import FailedError, output_of

_PROGRAM = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
_BASELINE = Path(__file__).with_name("baseline.yml")
_HANDSHAKE = (
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "logging-set-level",
    "tools-list",
    "resources-list",
    "prompts-list",
    "completion-complete",
    "resources-subscribe",
    "resources-unsubscribe",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
SCENARIOS = {
    "2025-06-18": _HANDSHAKE,
    "2025-11-25": _HANDSHAKE,
    "2026-07-28": (
        "tools-list",
        "resources-list",
        "prompts-list",
        "completion-complete",
        "caching",
        "http-header-validation",
        "sep-2164-resource-not-found",
        "input-required-result-unsupported-methods",
        "dns-rebinding-protection",
        "server-stateless",
    ),
}
"""What a server that has none of the suite's own tools and resources can pass."""
UNTESTABLE = (
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
)
"""The checks of `server-stateless` that need tools of the suite's own."""


def of_product(folder: Path, url: str) -> str:
    """One scenario at a time; says how many there were."""
    passed = 0
    for version, names in SCENARIOS.items():
        for name in names:
            _scenario(folder, url, version, name)
            passed += 1
    return f"{passed} scenarios on {len(SCENARIOS)} versions"


def of_fixtures(folder: Path, url: str) -> str:
    """The whole suite; only what the baseline names may fail, and all of that has to."""
    return ", ".join(f"{version} {_suite(folder, url, version)}" for version in SCENARIOS)


def _scenario(folder: Path, url: str, version: str, name: str) -> None:
    out = folder / "conformance" / version / name
    allowed = (1,) if name == "server-stateless" else (0,)
    told = _run(folder, url, version, out, "--scenario", name, allowed=allowed)
    if name == "server-stateless":
        failed = _failed(out)
        if sorted(failed) != sorted(UNTESTABLE):
            raise FailedError(f"{name} on {version} fails in {failed}\n{told}")


def _suite(folder: Path, url: str, version: str) -> str:
    out = folder / "conformance" / version / "suite"
    told = _run(folder, url, version, out, "--expected-failures", str(_BASELINE))
    checks = [check["status"] for file in out.rglob("checks.json") for check in json.loads(file.read_text())]
    counted = [status for status in checks if status in ("SUCCESS", "FAILURE")]
    if not counted:
        raise FailedError(f"the suite has checked nothing on {version}\n{told}")
    return f"{counted.count('SUCCESS')}/{len(counted)}"


def _failed(out: Path) -> list[str]:
    (file,) = out.rglob("checks.json")
    return [check["id"] for check in json.loads(file.read_text()) if check["status"] == "FAILURE"]


def _run(folder: Path, url: str, version: str, out: Path, *args: str, allowed: tuple[int, ...] = (0,)) -> str:
    node = folder / "node_modules/.bin/node"
    ways = ("--url", url, "--spec-version", version, "-o", out)
    return output_of(node, folder / _PROGRAM, "server", *ways, *args, where=folder, allowed=allowed)
