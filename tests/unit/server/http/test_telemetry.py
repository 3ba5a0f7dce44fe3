"""What is counted and told of the tools about what is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from duvet.server.http.metrics import ServerMetrics
from duvet.tools.audit import CallRecord, format_warning
from tests.cli.made import make
from tests.cli.server.http.test_knowledge import CALLS, TOKENS
from tests.unit.knowledge.stored import NOW, RUN, STORE, fill
from tests.unit.server.http.command import Command
from tests.unit.server.http.nexus import post
from tests.unit.server.http.serving import ADMIN, READER, asking, call
from tests.unit.tools.made import FILES

pytestmark = pytest.mark.anyio
CODES = {
    "invalid_request",
    "not_found",
    "unauthorized",
    "forbidden",
    "upstream_error",
    "unsupported_operation",
    "cancelled",
}
FURTHER = {
    "km-graph-node": {"invalid_identifier"},
    "km-recipe-run": {"recipe_not_found", "tool_failed", "assert_failed", "timeout"},
}
SETTINGS = {
    "toolPacks": {"knowledge": {}},
    "ingest": {"semantic": False},
    "server": {"logLevel": "info", "logFormat": "json"},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return fill(make(tmp_path / "pot", {**FILES, "duvet.config.json": json.dumps(SETTINGS)}), [RUN, RUN])


def samples(text: str, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    """The values of a metric by its labels with their names."""
    return {
        tuple(sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


def one(text: str, name: str, **labels: str) -> float | None:
    return samples(text, name).get(tuple(sorted(labels.items())))


async def test_every_tool_stands_at_nought(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#telemetry
    ##= type=test
    ##% `/metrics` MUST count and time the calls of `km-` tools by tool, result and error code, from 0 on and without
    ##% labels that callers choose.
    with Command(duvet_command, project) as command:
        async with asking(command.where) as client:
            text = (await client.get("/metrics")).text
            for tool in {*CALLS, *FURTHER}:
                codes = CODES | FURTHER.get(tool, set())
                assert {one(text, "km_mcp_requests_total", tool=tool, result=of) for of in ("success", "error")} == {0}
                assert {one(text, "km_mcp_failures_total", tool=tool, error=code) for code in codes} == {0}
                assert one(text, "km_mcp_request_seconds_bucket", tool=tool, le="+Inf") == 0
            assert samples(text, "km_search_requests_total") == {
                (("status", "error"),): 0,
                (("status", "success"),): 0,
            }
            before = {line.partition("}")[0] for line in text.splitlines() if line.startswith("km_")}
            for number in range(20):
                await post(client, f"km-made-up-{number}", **{f"argument{number}": "x"})
                await post(client, "km-search", query=f"words {number}", limit=number)
            after = (await client.get("/metrics")).text
            assert {line.partition("}")[0] for line in after.splitlines() if line.startswith("km_")} == before
            assert "made-up" not in after and "argument" not in after
            # What is switched off is not there at all.
            make(project, {"duvet.config.json": "{}"})
            await post(client, "coverage_summary")
            gone = (await client.get("/metrics")).text
            assert "km_ingest_last_run_status" not in gone


async def test_calls_are_counted(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#telemetry
    ##= type=test
    ##% `/metrics` MUST count and time the calls of `km-` tools by tool, result and error code, from 0 on and without
    ##% labels that callers choose.
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, READER) as client:
            await post(client, "km-search", query="boil")
            await call(client, "km-search", {"query": "boil"})
            await post(client, "km-search")
            await post(client, "km-help")
            await post(client, "km-ingest-status")
            await post(client, "km-graph-node", node_id="Code:gone.py")
            await post(client, "coverage_summary")
            text = (await client.get("/metrics")).text
    counted = {key: value for key, value in samples(text, "km_mcp_requests_total").items() if value}
    assert counted == {
        (("result", "success"), ("tool", "km-search")): 2,
        (("result", "error"), ("tool", "km-search")): 1,
        (("result", "success"), ("tool", "km-help")): 1,
        (("result", "error"), ("tool", "km-ingest-status")): 1,
        (("result", "error"), ("tool", "km-graph-node")): 1,
    }
    assert {key: value for key, value in samples(text, "km_mcp_failures_total").items() if value} == {
        (("error", "invalid_request"), ("tool", "km-search")): 1,
        (("error", "forbidden"), ("tool", "km-ingest-status")): 1,
        (("error", "not_found"), ("tool", "km-graph-node")): 1,
    }
    assert one(text, "km_mcp_request_seconds_bucket", tool="km-search", le="+Inf") == 3
    assert one(text, "km_mcp_request_seconds_count", tool="km-search") == 3
    assert (one(text, "km_search_requests_total", status="success")) == 2
    assert one(text, "km_search_requests_total", status="error") == 1
    assert "# TYPE km_mcp_request_seconds histogram" in text and "# TYPE km_mcp_requests_total counter" in text


def test_those_that_store() -> None:
    metrics = ServerMetrics("0")
    given: dict[str, Any] = dict.fromkeys(("face", "request", "scope", "arguments"), "")
    for tool, code in (("km-upload", ""), ("km-upload", "invalid_request"), ("km-storetext", ""), ("km-other", "")):
        metrics.saw(CallRecord(tool=tool, pack="knowledge", seconds=0.1, code=code, **given))
    metrics.saw(CallRecord(tool="km-upload", pack="another", seconds=0.1, **given))
    text = metrics.text().decode()
    assert samples(text, "km_mcp_upload_total") == {(("result", "success"),): 1, (("result", "error"),): 1}
    assert samples(text, "km_mcp_storetext_total") == {(("result", "success"),): 1}


async def test_how_things_stand(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#telemetry
    ##= type=test
    ##% `/metrics` MUST show the last ingest run and the reports as `km_ingest_`, `km_coverage_` and `km_lifecycle_`
    ##% gauges, and answer even when the index cannot be read.
    expected = {
        "ingest_duration_seconds": 1.5,
        "ingest_artifacts_total": 8,
        "ingest_chunks_total": 7,
        "ingest_last_run_status": 1,
        "ingest_last_run_timestamp": NOW - 60,
        "ingest_skips_total": 0,
        "ingest_stale_resolved_total": 2,
        "coverage_last_run_status": 1,
        "coverage_last_run_timestamp": NOW + 1,
        "coverage_missing_artifacts_total": 1,
        "coverage_stale_artifacts_total": 2,
        "coverage_history_snapshots": 2,
        "lifecycle_last_run_status": 1,
        "lifecycle_last_run_timestamp": NOW + 1,
        "lifecycle_stale_docs_total": 2,
        "lifecycle_isolated_nodes_total": 2,
        "lifecycle_missing_test_subsystems_total": 1,
        "lifecycle_removed_artifacts_total": 2,
        "lifecycle_history_snapshots": 2,
    }
    with Command(duvet_command, project) as command:
        async with asking(command.where) as client:
            text = (await client.get("/metrics")).text
            assert {name: one(text, f"km_{name}") for name in expected} == expected
            # The next question is answered from what the next run has left.
            (project / STORE).unlink()
            text = (await client.get("/metrics")).text
            assert {one(text, f"km_{name}") for name in expected} == {0}
            (project / STORE).write_bytes(b"no database " * 1000)
            answer = await client.get("/metrics")
            assert answer.status_code == 200 and one(answer.text, "km_ingest_last_run_status") == 0


async def test_the_log_of_a_call(duvet_command: str, project: Path) -> None:
    ##= man/spec/service.md#operations
    ##= type=test
    ##% The server MUST log each call of a tool as one line with time, request, tool, duration, outcome, sizes and
    ##% warnings.
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            given = {"query": "geheim geheim", "filters": {"max_age_days": 9_999}, "include_graph": False}
            _, found = await post(client, "km-search", **given)
            warning = "; ".join(found["metadata"]["warnings"])
            assert warning
        _, _, err = command.end()
    (told,) = [json.loads(line) for line in err.splitlines()]
    assert told.pop("time").endswith("Z") and told.pop("duration_ms") > 0 and told.pop("request")
    assert told.pop("bytes_in") > 1 and told.pop("bytes_out") > 1
    assert told == {
        "level": "info",
        "message": "call",
        "face": "rest",
        "tool": "km-search",
        "status": "ok",
        "warning": warning,
        "arguments": "query=str(13) filters=object(1) include_graph=false",
    }


def test_a_warning_is_one_line() -> None:
    assert format_warning("knowledge", "a\nb " + "x" * 500).startswith("a b")
    assert len(format_warning("knowledge", "word " * 500)) < 400
    assert (format_warning("trace", "geheim"), format_warning("trace", "")) == ("str(6)", "")
