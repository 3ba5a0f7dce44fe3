"""The tools about what is known on every face: the protocol over pipes and HTTP, plain HTTP, the shell, workflows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cli.made import make
from tests.cli.running import run
from tests.unit.knowledge.stored import NODES, STORE, fill
from tests.unit.server.clients import MODERN, client_of, over_stdio
from tests.unit.server.http.command import Command
from tests.unit.server.http.nexus import API, post
from tests.unit.server.http.serving import ADMIN, READER, asking, call, error_of, value_of
from tests.unit.tools.made import FILES

pytestmark = pytest.mark.anyio
LONGEST = 60
CALLS: dict[str, dict[str, Any]] = {
    "km-help": {"tool": "km-search"},
    "km-search": {"query": "boil", "limit": 3, "filters": {"symbols": ["boil"]}},
    "km-graph-node": {"node_id": "Code:src/kettle/boil.py", "relationships": "all"},
    "km-graph-subsystem": {"name": "Kettle", "depth": 2},
    "km-graph-search": {"term": "kettle"},
    "km-coverage-summary": {"history": 1},
    "km-lifecycle-report": {},
    "km-ingest-status": {"profile": "local"},
}
MAINTAINERS = {"km-lifecycle-report", "km-ingest-status"}
CONFIG = {
    "toolPacks": {"knowledge": {}},
    "ingest": {"semantic": False},
    "workflows": {
        "look": {
            "description": "Looks at everything.",
            "steps": [
                {"id": f"step{number}", "tool": tool, "params": given}
                for number, (tool, given) in enumerate(CALLS.items())
            ],
            "outputs": {f"step{number}": f"${{steps.step{number}.result}}" for number in range(len(CALLS))},
        }
    },
}
TOKENS = {"KM_READER_TOKEN": READER, "KM_ADMIN_TOKEN": ADMIN}
CHANGING = ("generated_at", "generated_at_iso", "request_id", "freshness_days", "score", "adjusted_score")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return fill(make(tmp_path / "pot", {**FILES, "duvet.config.json": json.dumps(CONFIG)}))


def lasting(value: Any) -> Any:
    """Without what is different from one second to the next."""
    if isinstance(value, dict):
        return {name: lasting(one) for name, one in value.items() if name not in CHANGING}
    return [lasting(one) for one in value] if isinstance(value, list) else value


async def test_the_same_on_every_face(duvet_command: str, project: Path) -> None:
    ##= man/spec/knowledge.md#answers
    ##= type=test
    ##% Every answer of these tools MUST have a `status`, which is `ok` unless the tool says otherwise.
    faces: dict[str, dict[str, Any]] = {"pipes": {}, "http": {}, "rest": {}, "shell": {}}
    for version in ("2025-06-18", MODERN):
        with anyio.fail_after(LONGEST):
            async with client_of(over_stdio(duvet_command, project), version) as client:
                assert set(CALLS) <= {tool.name for tool in (await client.list_tools()).tools}
                for tool, given in CALLS.items():
                    found = await client.call_tool(tool, given)
                    assert not found.is_error and found.structured_content == value_of(found)
                    faces["pipes"][tool] = found.structured_content
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            for tool, given in CALLS.items():
                answer = (await call(client, tool, given)).json()["result"]
                faces["http"][tool] = answer["structuredContent"]
                status, faces["rest"][tool] = await post(client, tool, **given)
                assert status == 200
    ran = json.loads(run(duvet_command, project, "call", "workflow.look").out)["outputs"]
    faces["workflow"] = {tool: ran[f"step{number}"] for number, tool in enumerate(CALLS)}
    for tool, given in CALLS.items():
        done = run(duvet_command, project, "call", tool, "--json", json.dumps(given))
        faces["shell"][tool] = json.loads(done.out)
        assert faces["shell"][tool]["status"] == "ok"
    expected = lasting(faces.pop("shell"))
    for face, answers in faces.items():
        assert lasting(answers) == expected, face


async def test_who_may_call(duvet_command: str, project: Path) -> None:
    ##= man/spec/knowledge.md#reports
    ##= type=test
    ##% `km-lifecycle-report` and `km-ingest-status` MUST be reserved for maintainers, and MUST be available in a
    ##% `read-only` pack.
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, READER) as client:
            statuses = {tool: (await post(client, tool, **given))[0] for tool, given in CALLS.items()}
            assert statuses == {tool: 403 if tool in MAINTAINERS else 200 for tool in CALLS}
            # A workflow asks as much as the tools in it.
            assert (await post(client, "workflow.look"))[0] == 403
            listed = {tool["name"] for tool in (await client.get(API)).json()["tools"]}
            assert listed & {*CALLS} == {*CALLS} - MAINTAINERS
        async with asking(command.where, ADMIN) as client:
            told = (await client.get(API)).json()["tools"]
            assert {tool["name"]: tool["scope"] for tool in told if tool["name"] in MAINTAINERS} == dict.fromkeys(
                MAINTAINERS, "maintainer"
            )
            assert (await post(client, "workflow.look"))[0] == 200
    async with client_of(over_stdio(duvet_command, project), MODERN) as client:
        tools = (await client.list_tools()).tools
        hints = {tool.name: tool.annotations.read_only_hint for tool in tools if tool.annotations}
    assert {hints[tool] for tool in (*CALLS, "workflow_look") if tool in hints} == {True}


async def test_errors(duvet_command: str, project: Path) -> None:
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            wrong = await post(client, "km-graph-node", node_id="nowhere")
            assert wrong == (
                400,
                {
                    "status": "error",
                    "error": "Invalid node identifier",
                    "code": "invalid_identifier",
                    "hint": "write LABEL:KEY, such as DesignDoc:docs/README.md",
                },
            )
            gone = (await call(client, "km-graph-node", {"node_id": "Code:gone.py"})).json()["result"]
            assert gone["isError"] is True
            assert json.loads(gone["content"][0]["text"]) == error_of(
                "not_found",
                "Node 'Code:gone.py' not found",
                "km-graph-search finds nodes by a part of their names",
            )
            assert (await post(client, "km-graph-search"))[1]["error"] == "Missing required parameter: term"
            project.joinpath(STORE).write_bytes(b"no database " * 1000)
            status, broken = await post(client, "km-search", query="boil")
            assert (status, broken["code"]) == (503, "upstream_error")
            assert str(project) not in json.dumps(broken)
            # The server goes on, and follows what is put right.
            for path in project.joinpath(STORE).parent.iterdir():
                path.unlink()
            assert (await post(client, "km-ingest-status"))[1] == {"status": "not_found"}
            fill(project)
            assert (await post(client, "km-ingest-status"))[1]["run_id"] == "r1"
            text = (await client.get("/metrics")).text
            assert 'duvet_tool_failures_total{error="upstream_error",tool="km-search"} 1.0' in text


SENTENCES: dict[str, dict[str, Any]] = {
    "Field 'query' is required": {},
    "Field 'limit' must be an integer": {"query": "a", "limit": "5"},
    "Field 'filters' must be an object": {"query": "a", "filters": []},
    "filters.tags must be an array of strings": {"query": "a", "filters": {"tags": "a"}},
    "Unsupported artifact type 'poem'": {"query": "a", "filters": {"artifact_types": ["poem"]}},
}


async def test_what_is_wrong_is_said_in_the_same_words_on_every_face(duvet_command: str, project: Path) -> None:
    ##= man/spec/knowledge.md#search
    ##= type=test
    ##% `km-search` MUST refuse a missing query, an unknown or mistyped field, and a blank or too long filter, by its
    ##% name.
    async with client_of(over_stdio(duvet_command, project), MODERN) as client:
        for message, given in SENTENCES.items():
            found = value_of(await client.call_tool("km-search", given))
            assert (found["error"]["code"], found["error"]["message"]) == ("invalid_request", message)
        # What is higher than the highest is told in the schema, and counts as that.
        assert not (await client.call_tool("km-search", {"query": "boil", "limit": 1000})).is_error
    with Command(duvet_command, project, **TOKENS) as command:
        async with asking(command.where, ADMIN) as client:
            for message, given in SENTENCES.items():
                status, told = await post(client, "km-search", **given)
                assert (status, told["code"], told["error"]) == (400, "invalid_request", message)
                answer = (await call(client, "km-search", given)).json()["result"]
                assert json.loads(answer["content"][0]["text"])["error"]["message"] == message
            status, told = await post(client, "km-search", query="boil " * 200_000)
            assert status == 200 and told["results"]
    for message, given in SENTENCES.items():
        done = run(duvet_command, project, "call", "km-search", "--json", json.dumps(given))
        assert done.code == 2 and message in done.err


async def test_the_pack_is_off_unless_it_is_asked_for(duvet_command: str, project: Path) -> None:
    make(project, {"duvet.config.json": "{}"})
    with Command(duvet_command, project) as command:
        async with asking(command.where) as client:
            assert {tool["name"] for tool in (await client.get(API)).json()["tools"]}.isdisjoint(CALLS)
            assert (await post(client, "km-search", query="boil"))[0] == 400
            # An edit of the configuration is in force with the next request.
            make(project, {"duvet.config.json": json.dumps({"toolPacks": {"knowledge": {}}})})
            assert (await post(client, "km-graph-node", node_id=NODES[0].id))[1]["status"] == "ok"
            make(project, {"duvet.config.json": json.dumps({"store": {"path": "other/store.db"}, **CONFIG})})
            # But for where it is kept, which is for who starts a server to say.
            assert (await post(client, "km-graph-node", node_id=NODES[0].id))[0] == 200
    with Command(duvet_command, project) as command:
        async with asking(command.where) as client:
            assert (await post(client, "km-graph-node", node_id=NODES[0].id))[0] == 503
