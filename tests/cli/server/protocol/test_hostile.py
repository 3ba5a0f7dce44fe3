"""Requests that are wrong, early, late, of the other era, or huge: each is refused, and the next one answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.server.wire import Wire, enveloped, hello, request

Start = Callable[..., Wire]
INVALID, UNKNOWN, WRONG_ERA, WRONG_VERSION = -32602, -32601, -32600, -32022
DEEP: dict[str, Any] = {}
for _ in range(60):
    DEEP = {"deeper": [DEEP]}

EARLY = [
    ("nothing", None, UNKNOWN),
    ("tools/list", None, INVALID),
    ("tools/call", {"name": "resolve_spec_id", "arguments": {"url": "tea.md"}}, INVALID),
    ("tools/list", {"cursor": 5}, INVALID),
    ("server/discover", None, UNKNOWN),
    ("initialize", None, INVALID),
    ("initialize", {"protocolVersion": 20250326, "capabilities": [], "clientInfo": "me"}, INVALID),
]
WRONG = [
    ("nothing", {}, UNKNOWN),
    ("", {}, UNKNOWN),
    ("tools/list ", {}, UNKNOWN),
    ("notifications/initialized", {}, UNKNOWN),
    ("tools/call", None, INVALID),
    ("tools/call", {"name": 5}, INVALID),
    ("tools/call", {"name": None}, INVALID),
    ("tools/call", {"name": ["resolve_spec_id"]}, INVALID),
    ("tools/call", {"name": "resolve_spec_id", "arguments": [1]}, INVALID),
    ("tools/call", {"name": "resolve_spec_id", "arguments": "url"}, INVALID),
    ("tools/call", {"name": "../../etc/passwd"}, INVALID),
    ("tools/call", {"name": "\0\x1b[31m" * 100}, INVALID),
    ("tools/call", {"name": "resolve_spec_id" * 100_000}, INVALID),
    ("tools/list", {"cursor": 5}, INVALID),
    ("tools/list", {"cursor": "5"}, INVALID),
    ("tools/list", {"_meta": 5}, INVALID),
    ("tools/list", {"_meta": {"progressToken": [1]}}, INVALID),
    ("logging/setLevel", {"level": "loud"}, INVALID),
    ("logging/setLevel", {"level": 7}, INVALID),
    ("server/discover", {}, UNKNOWN),
    ("tools/list", enveloped(), WRONG_ERA),
]
MODERN = [
    ("initialize", hello()["params"], WRONG_VERSION),
    ("tools/list", {}, INVALID),
    ("tools/list", enveloped(version="2026-01-01"), WRONG_VERSION),
    ("tools/list", enveloped(version="2025-11-25"), WRONG_VERSION),
    ("tools/list", enveloped(version=5), INVALID),  # type: ignore[arg-type]
    ("ping", enveloped(), UNKNOWN),
    ("nothing", enveloped(), UNKNOWN),
    ("resources/subscribe", enveloped({"uri": "duvet:///specifications"}), UNKNOWN),
    ("logging/setLevel", enveloped({"level": "debug"}), UNKNOWN),
    ("tools/call", enveloped({"name": 5}), INVALID),
    ("tools/call", enveloped({"name": "nothing"}), INVALID),
]
BAD_ARGUMENTS: list[Any] = [{}, {"url": 5}, {"url": None}, {"url": ["tea.md"]}, {"url": DEEP}, {"url": "x", "more": 1}]
ODD_URLS = [
    "",
    "\0",
    "\x1b[31m",
    "../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    "x" * 1_000_000,
    "%00%2e%2e%2f",
]


def errors_of(process: Wire, asked: list[tuple[str, Any, int]]) -> list[tuple[str, Any, int]]:
    """The same with the codes that were answered; one that holds something internal fails here."""
    found = []
    for method, params, _ in asked:
        answer = process.ask(method, params)
        assert set(answer) == {"jsonrpc", "id", "error"}, answer
        said = str(answer["error"])
        assert "Traceback" not in said and "duvet/" not in said and len(said) < 2_000, said
        found.append((method, params, answer["error"]["code"]))
    return found


def test_what_comes_before_a_handshake_is_refused_and_ping_is_not(wire: Start) -> None:
    process = wire()
    process.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert errors_of(process, EARLY) == EARLY
    assert process.ask("ping")["result"] == {}
    assert process.greet()["result"]["serverInfo"]["name"] == "duvet"
    assert process.ask("tools/list")["result"]["tools"]


def test_what_is_wrong_is_refused_and_the_next_request_is_answered(wire: Start) -> None:
    process = wire()
    process.greet()
    assert errors_of(process, WRONG) == WRONG
    for arguments in BAD_ARGUMENTS:
        answer = process.ask("tools/call", {"name": "resolve_spec_id", "arguments": arguments})
        assert answer["result"]["isError"], answer
    for url in ODD_URLS:
        answer = process.ask("tools/call", {"name": "resolve_spec_id", "arguments": {"url": url}})
        assert not answer["result"].get("isError") or len(str(answer)) < 1_000
        assert "passwd:" not in str(answer)
    assert process.ask("ping")["result"] == {}
    assert (process.end(), process.told()) == (0, "")


def test_the_era_without_a_handshake_refuses_what_is_not_its_own(wire: Start) -> None:
    process = wire()
    assert process.ask("server/discover", enveloped())["result"]["supportedVersions"] == ["2026-07-28"]
    assert errors_of(process, MODERN) == MODERN
    assert process.ask("tools/list", enveloped())["result"]["tools"]
    assert (process.end(), process.told()) == (0, "")


def test_cancelling_what_is_not_there_changes_nothing(wire: Start) -> None:
    process = wire()
    process.greet()
    ids: list[Any] = [99, "99", None, [], {"id": 1}]
    for id in ids:
        process.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
    assert process.ask("ping")["result"] == {}


def test_requests_all_at_once_are_all_answered(wire: Start) -> None:
    process = wire()
    process.greet()
    asked = [
        request("tools/call", {"name": "resolve_spec_id", "arguments": {"url": "tea.md"}}, id) for id in range(1, 501)
    ]
    process.send(*asked)
    answers = {answer["id"]: answer["result"]["structuredContent"] for answer in (process.read() for _ in asked)}
    assert answers == {id: {"spec_id": "tea"} for id in range(1, 501)}


@pytest.mark.parametrize("version", ["", "1.0", "2026-07-28", "2099-01-01", "latest"])
def test_an_unknown_version_is_answered_with_the_newest_that_has_a_handshake(wire: Start, version: str) -> None:
    assert wire().greet(version)["result"]["protocolVersion"] == "2025-11-25"
