"""`/api/v1`: the reports about what was taken in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.made import make
from tests.cli.server.http.test_knowledge import CONFIG, TOKENS, lasting
from tests.unit.knowledge.stored import RUN, STORE, fill
from tests.unit.server.http.command import Command
from tests.unit.server.http.nexus import post
from tests.unit.server.http.serving import ADMIN, READER, asking
from tests.unit.tools.made import FILES

pytestmark = pytest.mark.anyio
V1 = "/api/v1"
REPORTS = {f"{V1}/coverage": "km-coverage-summary", f"{V1}/lifecycle": "km-lifecycle-report"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return fill(make(tmp_path / "pot", {**FILES, "duvet.config.json": json.dumps(CONFIG)}), [RUN, RUN, RUN])


def refused(code: str, message: str, hint: str = "") -> dict[str, str]:
    return {"status": "error", "error": message, "code": code, "hint": hint}


async def told(client: httpx2.AsyncClient, path: str, **query: str) -> tuple[int, Any]:
    answer = await client.get(path, params=query)
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json()


async def test_what_they_are(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% `GET /api/v1/coverage`, `/api/v1/lifecycle` and `/api/v1/lifecycle/history` MUST return these reports to callers
    ##% who may use their tools, and 404 before the first ingest run.
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            for path, tool in REPORTS.items():
                status, report = await told(client, path)
                assert (status, lasting(report)) == (200, lasting((await post(client, tool))[1]))
                assert report["run"] == {"run_id": "r1", "profile": "local", "repo_head": "c1"}
            status, whole = await told(client, f"{V1}/lifecycle/history")
            assert status == 200 and whole.keys() == {"status", "history"} and len(whole["history"]) == 3
            assert whole["history"][0].keys() == {"generated_at", "generated_at_iso", "run", "summary"}
            assert await told(client, f"{V1}/lifecycle/history", limit="1") == (
                200,
                {"status": "ok", "history": whole["history"][:1]},
            )
            for limit in ("0", "101", "-1", "x", "", "1e1", "9" * 5000):
                assert await told(client, f"{V1}/lifecycle/history", limit=limit) == (
                    400,
                    refused("invalid_request", "limit is no number of reports", "give one from 1 to 100"),
                )
            assert (await client.head(f"{V1}/coverage")).status_code == 200
            assert (await client.post(f"{V1}/coverage")).status_code == 405
            assert (await client.get(f"{V1}/nothing")).status_code == 404
            counted = (await client.get("/metrics")).text
            assert f'duvet_http_requests_total{{path="{V1}/lifecycle/history",status="400"}} 7.0' in counted


async def test_who_may_see_them(duvet_command: str, project: Path) -> None:
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where) as client:
            statuses = [(await told(client, path))[0] for path in (*REPORTS, f"{V1}/lifecycle/history")]
            assert statuses == [401, 401, 401]
        async with asking(command.where, READER) as client:
            answers = [await told(client, path) for path in (*REPORTS, f"{V1}/lifecycle/history")]
        assert [status for status, _ in answers] == [200, 403, 403]
        assert answers[1][1]["code"] == answers[2][1]["code"] == "forbidden"


async def test_nothing_was_taken_in(duvet_command: str, tmp_path: Path) -> None:
    config: dict[str, Any] = {"toolPacks": {"knowledge": {}}}
    project = make(tmp_path / "pot", {**FILES, "duvet.config.json": json.dumps(config)})
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            for path in (*REPORTS, f"{V1}/lifecycle/history"):
                status, error = await told(client, path)
                name = "Coverage" if path.endswith("coverage") else "Lifecycle"
                assert (status, error["code"], error["error"]) == (404, "not_found", f"{name} report not found")
            fill(project)
            assert (await told(client, f"{V1}/coverage"))[0] == 200
            (project / STORE).write_bytes(b"no database " * 1000)
            status, error = await told(client, f"{V1}/coverage")
            assert (status, error["code"]) == (503, "upstream_error") and str(project) not in json.dumps(error)
            make(project, {"duvet.config.json": "{}"})
            status, error = await told(client, f"{V1}/coverage")
            assert (status, error) == (
                404,
                refused(
                    "not_found",
                    "Coverage report not found",
                    "km-coverage-summary, of the pack `knowledge`, is switched off",
                ),
            )
