import json
import re
from pathlib import Path
from typing import Any

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.sample_project import make
from tests.cli.server.team import ALL, SETTINGS, break_store, replace_varying_values, team
from tests.unit.knowledge.stored_project import RUN, STORE, fill
from tests.unit.server.http.command import Command, HttpClient
from tests.unit.server.http.http_server import ADMIN, READER, TOKENS, refused, samples

CODES = {
    *("invalid_request", "not_found", "unauthorized", "forbidden", "upstream_error", "unsupported_operation"),
    "cancelled",
}
FURTHER = {
    "km-graph-node": {"invalid_identifier"},
    "km-recipe-run": {"recipe_not_found", "tool_failed", "assert_failed", "timeout"},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    logging = {"logLevel": "info", "logFormat": "json"}
    return team(tmp_path / "pot", {**SETTINGS, "server": logging}, runs=[RUN, RUN, RUN])


def names_in(metrics: str) -> set[str]:
    return {line.partition("}")[0] for line in metrics.splitlines() if line.startswith("km_")}


def test_every_tool_is_counted_from_zero_on(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#metrics
    ##% `/metrics` MUST count and time the calls to `km-` tools by tool, result and error code.
    with Command(duvet_command, project) as command, command.client() as client:
        text = client.get("/metrics").text
        assert samples(text, "km_mcp_requests_total") == {(of, tool): 0 for tool in ALL for of in ("success", "error")}
        failures = {(code, tool): 0 for tool in ALL for code in CODES | FURTHER.get(tool, set())}
        refused = {("unauthorized", "unknown"): 0, ("rate_limited", "unknown"): 0}
        assert samples(text, "km_mcp_failures_total") == failures | refused
        seconds = samples(text, "km_mcp_request_seconds_bucket")
        assert {key: value for key, value in seconds.items() if "+Inf" in key} == {("+Inf", tool): 0 for tool in ALL}
        assert samples(text, "km_search_requests_total") == {("error",): 0, ("success",): 0}
        before = names_in(text)
        for number in range(20):
            client.post_tool(f"km-made-up-{number}", **{f"argument{number}": "x"})
            client.post_tool("km-search", query=f"words {number}", limit=number)
        after = client.get("/metrics").text
        assert names_in(after) == before
        assert "made-up" not in after and "argument" not in after
        # A disabled pack has no metrics.
        make(project, {"duvet.config.json": "{}"})
        client.post_tool("coverage_summary")
        assert "km_ingest_last_run_status" not in client.get("/metrics").text


@pytest.mark.criterion("knowledge 5.1")
def test_calls_are_counted(duvet_command: str, project: Path, gold: Snapshot) -> None:
    with Command(duvet_command, project, **TOKENS) as command, command.client(READER) as client:
        client.post_tool("km-search", query="boil")
        client.call("km-search", query="boil")
        for tool in ("km-search", "km-help", "km-ingest-status"):
            client.post_tool(tool)
        client.post_tool("km-graph-node", node_id="Code:gone.py")
        client.post_tool("coverage_summary")
        text = client.get("/metrics").text
    counted = re.compile(
        r"(?:# TYPE )?km_(?:mcp_(?:requests|failures)|search_requests)_total|km_mcp_request_seconds_count"
    )
    lines = [line for line in text.splitlines() if counted.match(line) and not line.endswith(" 0.0")]
    gold.assert_match("\n".join(lines) + "\n", "counted.txt")
    assert samples(text, "km_mcp_request_seconds_bucket")["+Inf", "km-search"] == 3
    assert "# TYPE km_mcp_request_seconds histogram" in text


def test_the_last_run_and_its_reports_are_gauges(duvet_command: str, project: Path, gold: Snapshot) -> None:
    ##= man/spec/gateway.md#metrics
    ##% `/metrics` MUST show the last ingest run and the stored reports as gauges, even if the index is unreadable.
    gauge = re.compile(r"km_(?:ingest|coverage|lifecycle)_\w+ ")
    with Command(duvet_command, project) as command, command.client() as client:

        def gauges() -> list[str]:
            answer = client.get("/metrics")
            assert answer.status_code == 200
            return [line for line in answer.text.splitlines() if gauge.match(line) and "_created" not in line]

        found = gauges()
        gold.assert_match("\n".join(found) + "\n", "gauges.txt")
        (project / STORE).unlink()
        assert gauges() == [f"{line.partition(' ')[0]} 0.0" for line in found]
        break_store(project)
        assert "km_ingest_last_run_status 0.0" in gauges()


@pytest.mark.criterion("knowledge 5.2")
def test_a_call_is_logged_with_its_warnings(duvet_command: str, project: Path) -> None:
    with Command(duvet_command, project, **TOKENS) as command:
        with command.client(ADMIN) as client:
            given = {"query": "geheim geheim", "filters": {"max_age_days": 9_999}, "include_graph": False}
            warning = "; ".join(client.post_tool("km-search", **given)[1]["metadata"]["warnings"])
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


V1 = "/api/v1"
HISTORY = f"{V1}/lifecycle/history"
REPORTS = {f"{V1}/coverage": "km-coverage-summary", f"{V1}/lifecycle": "km-lifecycle-report"}


def report(client: HttpClient, path: str, **query: str) -> tuple[int, Any]:
    answer = client.get(path, params=query)
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json()


def test_reports_are_those_of_their_tools(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#access
    ##% `GET /api/v1/coverage`, `/api/v1/lifecycle` and `/api/v1/lifecycle/history` MUST return the stored reports to
    ##% callers that may call the corresponding tools.
    with Command(duvet_command, project, **TOKENS) as command:
        with command.client(ADMIN) as client:
            for path, tool in REPORTS.items():
                status, found = report(client, path)
                assert (status, replace_varying_values(found)) == (
                    200,
                    replace_varying_values(client.post_tool(tool)[1]),
                )
                assert found["run"] == {"run_id": "r1", "profile": "local", "repo_head": "c1"}
            status, whole = report(client, HISTORY)
            assert status == 200 and whole.keys() == {"status", "history"} and len(whole["history"]) == 3
            assert whole["history"][0].keys() == {"generated_at", "generated_at_iso", "run", "summary"}
            assert report(client, HISTORY, limit="1") == (200, {"status": "ok", "history": whole["history"][:1]})
            wrong = refused(
                "invalid_request", "limit must be a number from 1 to 100", "omit it to get the last 10 reports"
            )
            for limit in ("0", "101", "-1", "x", "", "1e1", "9" * 5000):
                assert report(client, HISTORY, limit=limit) == (400, wrong)
            assert client.head(f"{V1}/coverage").status_code == 200
            assert client.post(f"{V1}/coverage").status_code == 405
            assert client.get(f"{V1}/nothing").status_code == 404
            counted = samples(client.get("/metrics").text, "duvet_http_requests_total")
            assert counted[HISTORY, "400"] == 7
        for token, codes in (("", ["unauthorized"] * 3), (READER, [None, "forbidden", "forbidden"])):
            with command.client(token) as client:
                found = [report(client, path)[1] for path in (*REPORTS, HISTORY)]
            assert [one.get("code") for one in found] == codes


def test_there_are_no_reports_before_the_first_run(duvet_command: str, project: Path) -> None:
    (project / STORE).unlink()
    with Command(duvet_command, project, **TOKENS) as command, command.client(ADMIN) as client:
        for path in (*REPORTS, HISTORY):
            status, error = report(client, path)
            name = "Coverage" if path.endswith("coverage") else "Lifecycle"
            assert (status, error["code"], error["error"]) == (404, "not_found", f"{name} report not found")
        fill(project)
        assert report(client, f"{V1}/coverage")[0] == 200
        break_store(project)
        status, error = report(client, f"{V1}/coverage")
        assert (status, error["code"]) == (503, "upstream_error") and str(project) not in json.dumps(error)
        make(project, {"duvet.config.json": "{}"})
        hint = "enable km-coverage-summary in the pack `knowledge`"
        assert report(client, f"{V1}/coverage") == (404, refused("not_found", "Coverage report not found", hint))
