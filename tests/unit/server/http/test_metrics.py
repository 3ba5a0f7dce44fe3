from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from duvet.server.http.metrics import ServerMetrics
from duvet.server.log import EventLevel, ServerLog
from duvet.server.protocol.server import DuvetServer
from duvet.tools.dispatcher import CallRecord, format_warning
from tests.unit.server.http.http_server import API, BOTH, READER, asking, call, connected, samples, serving
from tests.unit.server.servers import server_of

pytestmark = pytest.mark.anyio


def observed(server: DuvetServer, *observers: Any) -> DuvetServer:
    return server_of(server.live, server.dispatcher.registry, observers=observers)


async def test_calls_are_counted(server: DuvetServer) -> None:
    ##= man/spec/service.md#operations
    ##% `/metrics` MUST count calls by tool, interface and outcome.
    metrics = ServerMetrics("1.0")
    async with connected(observed(server, metrics.record_call)) as client:
        for _ in range(3):
            await client.post(API, json={"tool": "coverage_summary"})
        await client.post(API, json={"tool": "search_requirements"})
        await call(client, "coverage_summary", {})
    text = metrics.text().decode()
    assert samples(text, "duvet_tool_requests_total") == {
        ("rest", "success", "coverage_summary"): 3,
        ("rest", "error", "search_requirements"): 1,
        ("mcp", "success", "coverage_summary"): 1,
    }
    assert samples(text, "duvet_tool_failures_total") == {("invalid_request", "search_requirements"): 1}
    seconds = {("coverage_summary",): 4, ("search_requirements",): 1}
    assert samples(text, "duvet_tool_request_seconds_count") == seconds
    assert samples(text, "duvet_info") == {("1.0",): 1}


async def test_unknown_tools_are_counted_together_and_logged(server: DuvetServer) -> None:
    metrics = ServerMetrics("1.0")
    lines: list[str] = []
    log = ServerLog(lines.append, EventLevel.INFO, clock=lambda: datetime(2026, 5, 4, tzinfo=UTC))
    async with connected(observed(server, log.record_call, metrics.record_call)) as client:
        given = {"tool": "nöthing\n" + "x" * 5000, "input": {"secret": "words"}}
        await client.post(API, json=given, headers={"x-request-id": "r-1"})
        await call(client, "nowhere", {})
    time, told = "2026-05-04T00:00:00.000Z", "duration_ms=0 status=error code=not_found"
    name = f"n\\\\xf6thing\\\\n{'x' * 68} …"
    first = f'face=rest request=r-1 tool="{name}" {told} bytes_in=18 bytes_out=0 arguments="secret=str(5)"'
    other = f'face=mcp request=1 tool=nowhere {told} bytes_in=2 bytes_out=0 arguments=""'
    assert lines == [f"{time} INFO call {first}", f"{time} INFO call {other}"]
    text = metrics.text().decode()
    requests = {(face, "error", "unknown"): 1 for face in ("rest", "mcp")}
    assert samples(text, "duvet_tool_requests_total") == requests
    assert samples(text, "duvet_tool_failures_total") == {("not_found", "unknown"): 2}
    assert samples(text, "duvet_tool_request_seconds_count") == {("unknown",): 2}


async def test_requests_are_counted_by_known_paths(server: DuvetServer) -> None:
    ##= man/spec/service.md#operations
    ##% `/metrics` MUST answer only callers that may call tools.
    async with serving(server, tokens=BOTH) as where:
        async with asking(where) as client:
            for path in ("/health", "/made-up-1", "/made-up-2"):
                await client.get(path)
            assert (await client.get("/metrics")).status_code == 401
        async with asking(where, READER) as client:
            answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    requests = {("/health", "200"): 1, ("other", "404"): 2, ("/metrics", "401"): 1}
    assert samples(answer.text, "duvet_http_requests_total") == requests
    assert samples(answer.text, "duvet_http_requests_at_work") == {(): 1}
    assert samples(answer.text, "process_open_fds")


async def test_the_server_is_ready_while_the_project_can_be_read(server: DuvetServer, project: Path) -> None:
    ##= man/spec/service.md#operations
    ##% `/ready` MUST answer 200 if the project can be read, and otherwise 503.
    config = project / ".duvet/config.toml"
    text = config.read_text()
    unready = (503, {"status": "not ready", "reason": "the server can't read the project"})
    async with connected(server, tokens=BOTH) as client:
        for written, expected in ((text, (200, {"status": "ready"})), ("secret = {", unready)) * 2:
            config.write_text(written)
            answer = await client.get("/ready")
            assert (answer.status_code, answer.json()) == expected
        assert (await client.get("/health")).status_code == 200
        assert (await client.post("/ready")).status_code == 405


def test_tools_that_store_and_refusals_are_counted() -> None:
    metrics = ServerMetrics("0")
    given: dict[str, Any] = dict.fromkeys(("face", "request", "scope", "arguments"), "")
    for tool, code in (("km-upload", ""), ("km-upload", "invalid_request"), ("km-storetext", ""), ("km-other", "")):
        metrics.record_call(CallRecord(tool=tool, pack="knowledge", seconds=0.1, code=code, **given))
    metrics.record_call(CallRecord(tool="km-upload", pack="another", seconds=0.1, **given))
    for path, status in (("/mcp", 401), ("/api/mcp", 429), ("/api/mcp", 429), ("/metrics", 401), ("/mcp", 200)):
        metrics.record_request(path, status)
    text = metrics.text().decode()
    assert samples(text, "km_mcp_upload_total") == {("success",): 1, ("error",): 1}
    assert samples(text, "km_mcp_storetext_total") == {("success",): 1}
    counted = {("unauthorized", "unknown"): 1, ("rate_limited", "unknown"): 2, ("invalid_request", "km-upload"): 1}
    assert samples(text, "km_mcp_failures_total") == counted


def test_a_logged_warning_is_one_line() -> None:
    assert format_warning("knowledge", "a\nb " + "x" * 500).startswith("a b")
    assert len(format_warning("knowledge", "word " * 500)) < 400
    assert (format_warning("trace", "geheim"), format_warning("trace", "")) == ("str(6)", "")
