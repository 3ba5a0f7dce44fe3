"""Who may call what, how a call is refused and counted, and what callers can't reach"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from duvet.tools.tool import ErrorCode, Scope, Tool
from tests.cli.running import run
from tests.cli.server.duskmantle.calling import CODES, KM, SCOPES, client
from tests.unit.server.http.command import Command
from tests.unit.server.http.serving import ADMIN, READER
from tests.unit.server.http.team import FAILING, TOKENS, team


class TestScopeAndAuthentication:
    """1"""

    @pytest.mark.parametrize("tool", SCOPES)
    def test_tokens(self, gateway: Command, tool: str) -> None:
        for token, status in (("", 401), (READER, 200 if SCOPES[tool] == "reader" else 403)):
            with client(gateway, token) as http:
                answer = http.post("/api/mcp", json={"tool": tool, "input": {"nonsense": 1}})
            # Who may call it is told of the argument instead.
            assert answer.status_code == (400 if status == 200 else status)

    @pytest.mark.parametrize(
        ("name", "value", "tools"),
        [("KM_READER_TOKEN", READER, {"reader"}), ("KM_ADMIN_TOKEN", ADMIN, {"reader", "maintainer"})],
    )
    def test_the_environment_of_a_client(
        self, duvet_command: str, gateway: Command, tmp_path: Path, name: str, value: str, tools: set[str]
    ) -> None:
        url = gateway.url.removesuffix("/mcp")
        desk = team(tmp_path / "desk")
        listed = run(duvet_command, desk, "tools", "--format", "json", environ={"KM_GATEWAY_URL": url, name: value}).out
        assert {row["scope"] for row in json.loads(listed) if row["name"] in KM} == tools


class TestToolCatalogue:
    """2"""

    def test_all_of_them(self, admin: httpx2.Client) -> None:
        listed = {one["name"]: one["scope"] for one in admin.get("/api/mcp").json()["tools"]}
        assert {name: scope for name, scope in listed.items() if name.startswith("km-")} == SCOPES

    @pytest.mark.parametrize("tool", KM.values(), ids=KM)
    def test_what_changes_something_says_so(self, tool: Tool) -> None:
        reads = tool.scope is Scope.READER or tool.name in ("km-lifecycle-report", "km-ingest-status")
        assert tool.only_reads == reads


class TestErrorModel:
    """4"""

    @pytest.mark.parametrize("code", CODES)
    def test_standard_codes(self, code: str) -> None:
        assert ErrorCode(code)

    @pytest.mark.parametrize(
        "code", ["invalid_identifier", "recipe_not_found", "tool_failed", "assert_failed", "timeout"]
    )
    def test_codes_of_single_tools(self, code: str) -> None:
        assert code in {one.code for one in FAILING}

    @pytest.mark.parametrize("failing", FAILING, ids=[f"{one.tool} {one.code}" for one in FAILING])
    def test_every_answer_has_a_status(self, admin: httpx2.Client, failing: Any) -> None:
        answer = admin.post("/api/mcp", json={"tool": failing.tool, "input": failing.given})
        found = answer.json()
        assert (answer.status_code, found["status"], found["code"]) == (failing.status, "error", failing.code)
        assert found["error"]


class TestTelemetry:
    """5"""

    @pytest.mark.parametrize("tool", SCOPES)
    def test_metrics(self, admin: httpx2.Client, tool: str) -> None:
        text = admin.get("/metrics").text
        for result in ("success", "error"):
            assert f'km_mcp_requests_total{{result="{result}",tool="{tool}"}} ' in text
        assert f'km_mcp_request_seconds_bucket{{le="+Inf",tool="{tool}"}} ' in text
        for code in CODES:
            assert f'km_mcp_failures_total{{error="{code}",tool="{tool}"}} ' in text


class TestSecurity:
    """6"""

    def test_rates_are_limited(self, duvet_command: str, tmp_path: Path) -> None:
        here = team(tmp_path / "pot")
        rarely = Command(duvet_command, here, "--rate", "0.001", **TOKENS)
        with rarely as command, client(command, READER) as http:
            found = [http.get("/api/mcp") for _ in range(3)]
        assert [one.status_code for one in found] == [200, 429, 429]
        assert int(found[1].headers["retry-after"]) > 1

    @pytest.mark.parametrize("destination", ["../x.md", "/etc/x.md", "docs/../../x.md", "~/x.md\x00", "C:\\x.md"])
    def test_paths(self, admin: httpx2.Client, destination: str) -> None:
        given = {"content": "x", "destination": destination}
        answer = admin.post("/api/mcp", json={"tool": "km-storetext", "input": given})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")

    @pytest.mark.parametrize("node", ["", ":", "x", "Label:", "Nothing:x", ":x", "Code:" + "x" * 30_000])
    def test_node_ids(self, admin: httpx2.Client, node: str) -> None:
        answer = admin.post("/api/mcp", json={"tool": "km-graph-node", "input": {"node_id": node}})
        assert answer.status_code in (400, 404)
