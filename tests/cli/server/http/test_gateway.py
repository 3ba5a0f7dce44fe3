"""Calls that are forwarded to another server: real processes, at ports of loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.made import make
from tests.cli.running import run
from tests.cli.server.http.test_knowledge import CALLS, MAINTAINERS, lasting
from tests.unit.knowledge.stored import STORE
from tests.unit.server.http.command import Command
from tests.unit.server.http.desk import Here, at, desk, project
from tests.unit.server.http.nexus import API, post
from tests.unit.server.http.serving import ADMIN, READER, asking
from tests.unit.server.http.team import TOKENS

__all__ = ["desk", "project"]  # fixtures, which tests ask for by name

pytestmark = pytest.mark.anyio
STRANGER = "another-token"
PROMPT = "km-feedback-submit takes your vote on a result, by the request_id here and its chunk_id"


async def test_the_same_as_there(duvet_command: str, project: Path, desk: Path) -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% With `KM_GATEWAY_URL`, the shell and `duvet mcp` over standard input and output MUST enable the pack `knowledge`
    ##% unless it is disabled, forward the calls of its tools except `km-help` to that server, and refuse
    ##% `duvet recipe run`.
    with Command(duvet_command, project, **TOKENS) as command:
        here = Here(duvet_command, desk, at(command.url, **TOKENS))
        async with asking(command.where, READER) as client:
            there = {tool: (await post(client, tool, **CALLS[tool]))[1] for tool in CALLS if tool not in MAINTAINERS}
        async with asking(command.where, ADMIN) as client:
            there |= {tool: (await post(client, tool, **CALLS[tool]))[1] for tool in MAINTAINERS}
            # The reader's token is shown there, and votes are taken here.
            assert "feedback_prompt" not in there["km-search"]["metadata"]
            there["km-search"]["metadata"]["feedback_prompt"] = PROMPT
            shown, answers = await here.pipes(CALLS)
            assert shown >= {*CALLS} and lasting(answers) == lasting(there)
            for tool in ("km-search", "km-ingest-status"):
                done = here.call(tool, CALLS[tool])
                assert (done.code, lasting(json.loads(done.out))) == (0, lasting(there[tool]))
            counted = (await client.get("/metrics")).text
            assert 'duvet_tool_requests_total{face="rest",result="success",tool="km-ingest-status"} 3.0' in counted
            assert 'duvet_tool_requests_total{face="rest",result="success",tool="km-help"} 1.0' in counted
    assert not (desk / STORE).exists()


async def test_what_is_shown_and_sent(duvet_command: str, project: Path, desk: Path) -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% duvet MUST forward a call with the reader's or else the admin's token, and neither list nor forward maintainers'
    ##% tools without the admin's token.
    with Command(duvet_command, project, **TOKENS) as command:
        readers = Here(duvet_command, desk, at(command.url, KM_READER_TOKEN=READER))
        shown, answers = await readers.pipes(CALLS)
        assert shown & {*CALLS} == {*CALLS} - MAINTAINERS
        codes = {tool: answer.get("error", {}).get("code") for tool, answer in answers.items()}
        assert codes == {tool: "forbidden" if tool in MAINTAINERS else None for tool in CALLS}
        assert "feedback_prompt" not in answers["km-search"]["metadata"]
        both = Here(duvet_command, desk, at(command.url, **TOKENS))
        _, answers = await both.pipes({"km-search": CALLS["km-search"]})
        assert answers["km-search"]["metadata"]["feedback_prompt"] == PROMPT
        done = readers.call("km-ingest-status", {})
        assert (done.code, done.out) == (1, "") and "set KM_ADMIN_TOKEN beside KM_GATEWAY_URL" in done.err
        listed = {row["name"] for row in json.loads(readers.run("tools", "--format", "json").out)}
        assert listed & {*CALLS} == {*CALLS} - MAINTAINERS

        nobody = Here(duvet_command, desk, at(command.url))
        shown, answers = await nobody.pipes(CALLS)
        assert shown & {*CALLS} == {*CALLS} - MAINTAINERS
        codes = {tool: answer.get("error", {}).get("code") for tool, answer in answers.items()}
        assert codes == {tool: None if tool == "km-help" else "unauthorized" for tool in CALLS}

        _, answers = await Here(duvet_command, desk, at(command.url, DUVET_ADMIN_TOKEN=ADMIN)).pipes(CALLS)
        assert {answer["status"] for answer in answers.values()} == {"ok"}

        # The wrong scope, and a token that nobody knows.
        for token, code in ((READER, "forbidden"), (STRANGER, "unauthorized")):
            _, answers = await Here(duvet_command, desk, at(command.url, KM_ADMIN_TOKEN=token)).pipes(CALLS)
            assert {answers[tool]["error"]["code"] for tool in MAINTAINERS} == {code}
            assert token not in json.dumps(answers)


async def test_a_server_without_tokens(duvet_command: str, project: Path, desk: Path) -> None:
    with Command(duvet_command, project) as command:
        _, answers = await Here(duvet_command, desk, at(command.url)).pipes(CALLS)
        assert answers["km-search"]["status"] == "ok"
        assert {answers[tool]["error"]["code"] for tool in MAINTAINERS} == {"unauthorized"}


async def test_its_errors(duvet_command: str, project: Path, desk: Path) -> None:
    ##= man/spec/gateway.md#forwarding
    ##= type=test
    ##% duvet MUST pass on errors of the gateway, and answer `upstream_error` for anything that is not an answer of the
    ##% tool or is larger than 32 MiB.
    with Command(duvet_command, project, **TOKENS) as command:
        here = Here(duvet_command, desk, at(command.url, **TOKENS))
        calls: dict[str, dict[str, Any]] = {"km-graph-node": {"node_id": "Code:gone.py"}}
        _, answers = await here.pipes(calls)
        assert answers["km-graph-node"] == {
            "status": "error",
            "error": {
                "code": "not_found",
                "message": "Node 'Code:gone.py' not found",
                "hint": "km-graph-search finds nodes by a part of their names",
            },
        }
        assert here.call("km-graph-node", {"node_id": "nowhere"}).code == 2
        (project / STORE).write_bytes(b"no database " * 1000)
        done = here.call("km-search", {"query": "boil"})
        assert done.code == 1 and str(project) not in done.err and "store.db" in done.err
        make(project, {"duvet.config.json": "{}"})
        done = here.call("km-search", {"query": "boil"})
        assert (done.code, "Unknown tool: km-search" in done.err) == (2, True), done.err


async def test_a_report_is_cut_there(duvet_command: str, project: Path, desk: Path) -> None:
    ##= man/spec/knowledge.md#answers
    ##= type=test
    ##% For MCP clients these tools MUST cut long lists, forwarded ones too, to about 4,000 tokens unless `limit` asks
    ##% for more, and say so.
    make(project, {f"src/many/part_{number:03}.py": "" for number in range(300)})
    assert run(duvet_command, project, "ingest").code == 0
    with Command(duvet_command, project, **TOKENS) as command:
        here = Here(duvet_command, desk, at(command.url, **TOKENS))
        _, answers = await here.pipes({"km-coverage-summary": {}})
        report = answers["km-coverage-summary"]
        assert 0 < len(report["artifacts"]) < report["summary"]["artifact_total"] >= 300
        whole = json.loads(here.call("km-coverage-summary", {}).out)
        assert len(whole["artifacts"]) == whole["summary"]["artifact_total"]


def test_workflows_forward_too(duvet_command: str, project: Path, desk: Path) -> None:
    steps = [{"id": "look", "tool": "km-ingest-status"}]
    workflow = {"description": "Looks", "steps": steps, "outputs": {"run": "${steps.look.result.run_id}"}}
    make(desk, {"duvet.config.json": json.dumps({"workflows": {"look": workflow}})})
    with Command(duvet_command, project, **TOKENS) as command:
        here = Here(duvet_command, desk, at(command.url, **TOKENS))
        assert json.loads(here.run("call", "workflow.look").out)["outputs"] == {"run": "r1"}
        readers = Here(duvet_command, desk, at(command.url, KM_READER_TOKEN=READER))
        assert readers.run("mcp", "--check").code == 0
        done = readers.run("call", "workflow.look")
        assert done.code == 1 and "km-ingest-status needs the scope maintainer" in done.err


def test_what_is_changed_is_changed_there(duvet_command: str, project: Path, desk: Path) -> None:
    with Command(duvet_command, project, **TOKENS) as command:
        here = Here(duvet_command, desk, at(command.url, **TOKENS))
        done = here.call("km-storetext", {"content": "# Leaf", "title": "Leaf", "ingest": True})
        assert (done.code, json.loads(done.out)["relative_path"]) == (0, "docs/leaf.md")
        assert (project / "docs/leaf.md").read_text().endswith("# Leaf\n")
        (line,) = (project / STORE).with_name("audit.jsonl").read_text().splitlines()
        kept = json.loads(line)
        assert (kept["tool"], kept["outcome"], kept["who"]) == ("km-storetext", "success", "admin")
    assert not (desk / "docs/leaf.md").exists() and not (desk / STORE).parent.exists()


async def test_the_manifest_of_a_reader(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% The server MUST NOT list maintainers' tools to other callers, and MUST refuse them as `forbidden`, or as
    ##% `unauthorized` without a token where tokens are configured, whatever the arguments are.
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where) as client:
            for answer in (await client.get(API), await client.post(API, json={"tool": "km-ingest-status"})):
                assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        async with asking(command.where, READER) as client:
            assert MAINTAINERS.isdisjoint(tool["name"] for tool in (await client.get(API)).json()["tools"])
