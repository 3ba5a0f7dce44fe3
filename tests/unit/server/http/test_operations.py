"""`/metrics`, `/ready`, and the lines of the log."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from duvet.server.http.metrics import ServerMetrics
from duvet.server.log import EventLevel, ServerLog
from duvet.server.protocol.server import DuvetServer
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from tests.unit.server.http.command import Command
from tests.unit.server.http.serving import BOTH, READER, asking, call, serving

pytestmark = pytest.mark.anyio
API = "/api/mcp"
CALLS = 600
"""So many lines that no pipe takes them."""
LONG = ("abcdefghijkl", "".join(map(chr, range(0x1F600, 0x1F60C))))
"""Names of arguments that make lines longer than a page."""


def counted(text: str, name: str) -> dict[tuple[str, ...], float]:
    """The values of a metric by its labels."""
    return {
        tuple(sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


async def test_calls_are_counted(server: DuvetServer) -> None:
    ##= man/spec/service.md#operations
    ##= type=test
    ##% `/metrics` MUST count calls by tool, interface and outcome, and MUST be open only to callers who may call tools.
    metrics = ServerMetrics("1.0")
    desk = ToolDispatcher(server.dispatcher.registry, server.live, ToolEnvironment(observers=[metrics.saw]))
    counting = DuvetServer(server.identity, "", server.live, desk)
    async with serving(counting) as where, asking(where) as client:
        for _ in range(3):
            await client.post(API, json={"tool": "coverage_summary"})
        await client.post(API, json={"tool": "search_requirements"})
        await call(client, "coverage_summary", {})
    text = metrics.text().decode()
    assert counted(text, "duvet_tool_requests_total") == {
        ("rest", "success", "coverage_summary"): 3,
        ("rest", "error", "search_requirements"): 1,
        ("mcp", "success", "coverage_summary"): 1,
    }
    assert counted(text, "duvet_tool_failures_total") == {("invalid_request", "search_requirements"): 1}
    assert counted(text, "duvet_tool_request_seconds_count") == {
        ("coverage_summary",): 4,
        ("search_requirements",): 1,
    }
    assert counted(text, "duvet_info") == {("1.0",): 1}


async def test_unknown_tools_are_told_of(server: DuvetServer) -> None:
    metrics = ServerMetrics("1.0")
    lines: list[str] = []
    log = ServerLog(lines.append, EventLevel.INFO, clock=lambda: datetime(2026, 5, 4, tzinfo=UTC))
    desk = ToolDispatcher(server.dispatcher.registry, server.live, ToolEnvironment(observers=[log.saw, metrics.saw]))
    async with serving(DuvetServer(server.identity, "", server.live, desk)) as where, asking(where) as client:
        given = {"tool": "nöthing\n" + "x" * 5000, "input": {"secret": "words"}}
        await client.post(API, json=given, headers={"x-request-id": "r-1"})
        await call(client, "nowhere", {})
    told = "duration_ms=0 status=error code=not_found"
    assert lines == [
        (
            f'2026-05-04T00:00:00.000Z INFO call face=rest request=r-1 tool="n\\\\xf6thing\\\\n{"x" * 68} …" {told} '
            'bytes_in=18 bytes_out=0 arguments="secret=str(5)"'
        ),
        f'2026-05-04T00:00:00.000Z INFO call face=mcp request=1 tool=nowhere {told} bytes_in=2 bytes_out=0 arguments=""',
    ]
    text = metrics.text().decode()
    assert counted(text, "duvet_tool_requests_total") == {
        ("rest", "error", "unknown"): 1,
        ("mcp", "error", "unknown"): 1,
    }
    assert counted(text, "duvet_tool_failures_total") == {("not_found", "unknown"): 2}
    assert counted(text, "duvet_tool_request_seconds_count") == {("unknown",): 2}


async def test_requests_are_counted_by_paths_that_there_are(server: DuvetServer) -> None:
    ##= man/spec/service.md#operations
    ##= type=test
    ##% `/metrics` MUST count calls by tool, interface and outcome, and MUST be open only to callers who may call tools.
    async with serving(server, tokens=BOTH) as where:
        async with asking(where) as client:
            for path in ("/health", "/made-up-1", "/made-up-2"):
                await client.get(path)
            assert (await client.get("/metrics")).status_code == 401
        async with asking(where, READER) as client:
            answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert counted(answer.text, "duvet_http_requests_total") == {
        ("/health", "200"): 1,
        ("other", "404"): 2,
        ("/metrics", "401"): 1,
    }
    assert counted(answer.text, "duvet_http_requests_at_work") == {(): 1}
    assert counted(answer.text, "process_open_fds")


async def test_ready_and_not(server: DuvetServer, project: Path) -> None:
    ##= man/spec/service.md#operations
    ##= type=test
    ##% Without a token, `/health` MUST answer 200 with `{"status":"ok"}`, and `/ready` MUST answer 200 if the project
    ##% can be read or else 503.
    async with serving(server, tokens=BOTH) as where, asking(where) as client:
        answer = await client.get("/ready")
        assert (answer.status_code, answer.json()) == (200, {"status": "ready"})
        config = project / ".duvet/config.toml"
        text = config.read_text()
        config.write_text("secret = {")
        answer = await client.get("/ready")
        assert (answer.status_code, answer.json()) == (
            503,
            {"status": "not ready", "reason": "the project can't be read"},
        )
        assert (await client.get("/health")).status_code == 200
        config.write_text(text)
        assert (await client.get("/ready")).status_code == 200
        assert (await client.post("/ready")).status_code == 405


async def test_lines_of_json(duvet_command: str, project: Path) -> None:
    (project / "duvet.config.json").write_text('{"server": {"logLevel": "info", "logFormat": "json"}}')
    with Command(duvet_command, project) as command:
        async with asking(command.where) as client:
            given = {"tool": "search_requirements", "input": {"query": "secret words"}}
            await client.post(API, json=given, headers={"x-request-id": "r-1"})
        _, _, err = command.end()
    (told,) = [json.loads(line) for line in err.splitlines()]
    ##= man/spec/service.md#operations
    ##= type=test
    ##% The server MUST log each call of a tool as one line with time, request, tool, duration, outcome, sizes and
    ##% warnings.
    assert told.pop("warning") == "str(164)"
    assert told.pop("time").endswith("Z") and told.pop("duration_ms") > 0 and told.pop("bytes_out") > 1
    assert told == {
        "level": "info",
        "message": "call",
        "face": "rest",
        "request": "r-1",
        "tool": "search_requirements",
        "status": "ok",
        "bytes_in": 24,
        "arguments": "query=str(12)",
    }


@pytest.mark.parametrize("names", ["", *LONG])
async def test_nobody_reads_the_log(duvet_command: str, project: Path, names: str) -> None:
    ##= man/spec/service.md#operations
    ##= type=test
    ##% The server MUST NOT wait for the reader of its log, and MUST log how many lines it left out.
    (project / "duvet.config.json").write_text('{"server": {"logLevel": "info", "logFormat": "json"}}')
    with Command(duvet_command, project) as command:
        async with asking(command.where) as client:
            asked = {"tool": "coverage_summary", "input": {name * 80: 1 for name in names}}
            for _ in range(CALLS):
                assert (await client.post(API, json=asked)).status_code == (400 if names else 200)
            log = command.process.stderr
            assert log is not None
            told = [json.loads(log.readline()) for _ in range(10)]
            assert (await client.post(API, json=asked)).status_code == (400 if names else 200)
        command.process.terminate()
        told += [json.loads(line) for line in log]
    (missed,) = [one["lines_left_out_before"] for one in told if "lines_left_out_before" in one]
    assert missed > 0 and len(told) + missed == CALLS + 1
