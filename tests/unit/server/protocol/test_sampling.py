"""Models of clients, in steps of workflows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from msgspec import convert

from duvet.config.service_tables import ProviderKind, ProviderSection
from duvet.config.workflow_tables import WorkflowSection
from duvet.llm.router import StaticRouter
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.server import DuvetServer
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import TRACE, Registry
from duvet.tools.tool import MODELS_SERVICE, EnabledPack
from duvet.workflows.pack import make_workflow_tools
from duvet.workflows.workflow import make_configured_workflow
from tests.unit.server.clients import MODERN
from tests.unit.server.protocol.made import live_of

pytestmark = pytest.mark.anyio
SUM_UP: Mapping[str, Any] = {
    "description": "Sums up twice.",
    "variables": {"about": {}},
    "steps": [
        {"id": "count", "tool": "coverage_summary"},
        {"id": "first", "model": "mine", "prompt": "Tell of ${vars.about}", "system": "Be brief"},
        {"id": "second", "model": "mine/small", "prompt": "Again: ${steps.first.result.text}"},
    ],
    "outputs": {"text": "${steps.second.result.text}", "model": "${steps.second.result.model}"},
}


@pytest.fixture(params=["legacy", MODERN])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def server_of(project: Path) -> DuvetServer:
    section = convert(SUM_UP, WorkflowSection)
    found = make_workflow_tools({"sum": make_configured_workflow("sum", section)}, EnabledPack(TRACE).tools(), {"mine"})
    router = StaticRouter({"mine": ProviderSection(kind=ProviderKind.CLIENT)}, {}, {})
    live = live_of(project)
    registry = Registry([EnabledPack(TRACE), EnabledPack(found.pack)])
    return DuvetServer(
        ServerIdentity(), "", live, ToolDispatcher(registry, live, ToolEnvironment(services={MODELS_SERVICE: router}))
    )


class Model:
    """A model that repeats what it is asked."""

    def __init__(self) -> None:
        self.asked: list[types.CreateMessageRequestParams] = []

    async def __call__(self, context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        self.asked.append(params)
        (message,) = params.messages
        assert isinstance(message.content, types.TextContent)
        said = types.TextContent(text=f"<{message.content.text}>")
        return types.CreateMessageResult(role="assistant", content=said, model="theirs")


async def test_the_model_of_the_client_is_asked(project: Path, era: str) -> None:
    ##= man/spec/service.md#models-of-clients
    ##= type=test
    ##% With a provider of the kind `client`, the server MUST ask the model of the calling client if that client offers
    ##% it, and fail the step for an answer that is not text.
    model = Model()
    async with Client(server_of(project), mode=era, sampling_callback=model) as client:
        answer = await client.call_tool("workflow_sum", {"about": "tea"})
    assert not answer.is_error and answer.structured_content
    assert answer.structured_content["outputs"] == {"text": "<Again: <Tell of tea>>", "model": "mine/small"}
    first, second = model.asked
    assert (first.system_prompt, first.max_tokens, first.model_preferences) == ("Be brief", 1024, None)
    assert second.model_preferences and second.model_preferences.hints == [types.ModelHint(name="small")]


@pytest.mark.parametrize(
    ("client", "name"), [("claude-code", "workflow_sum"), ("Cursor", "workflow_sum"), ("tests", "workflow.sum")]
)
async def test_clients_that_refuse_dots(project: Path, era: str, client: str, name: str) -> None:
    ##= man/spec/service.md#workflows
    ##= type=test
    ##% The server MUST offer a workflow as the tool `workflow.NAME` and as `workflow_NAME`, to callers who may call
    ##% every tool in it.
    info = types.Implementation(name=client, version="1")
    async with Client(server_of(project), mode=era, client_info=info, sampling_callback=Model()) as connected:
        assert (await connected.list_tools()).tools[-1].name == name
        assert not (await connected.call_tool(name, {"about": "tea"})).is_error


async def test_a_client_that_offers_none(project: Path, era: str) -> None:
    ##= man/spec/service.md#workflows
    ##= type=test
    ##% The server MUST answer for a workflow that fails with the code of the failure and the record of the run.
    async with Client(server_of(project), mode=era) as client:
        answer = await client.call_tool("workflow.sum", {"about": "tea"})
    (block,) = answer.content
    assert answer.is_error and isinstance(block, types.TextContent)
    error = json.loads(block.text)["error"]
    assert (error["code"], error["message"]) == (
        "model_failed",
        "sum failed in the step first: mine: no model can be asked: mine: no client offers its model",
    )
    run = error["details"]
    assert (run["status"], [step["status"] for step in run["steps"]]) == ("error", ["success", "error", "skipped"])


async def test_a_client_that_refuses(project: Path) -> None:
    async def refuse(context: Any, params: types.CreateMessageRequestParams) -> types.ErrorData:
        return types.ErrorData(code=-1, message="the user said no")

    async with Client(server_of(project), mode="legacy", sampling_callback=refuse) as client:
        answer = await client.call_tool("workflow.sum", {"about": "tea"})
    (block,) = answer.content
    assert isinstance(block, types.TextContent)
    assert json.loads(block.text)["error"]["message"].endswith("mine: the client's model does not answer")


@pytest.mark.parametrize("state", ["", "{", "[]", '{"a": 1}', "v1.AAAA", "x" * 2_000_000])
async def test_a_state_that_was_made_up(project: Path, state: str) -> None:
    model = Model()
    async with Client(server_of(project), mode=MODERN, sampling_callback=model) as client:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await client.session.call_tool("workflow.sum", {"about": "tea"}, request_state=state)
    assert not model.asked


class Raw(types.Request[dict[str, Any], str]):
    """A call of the tool with answers as they are."""

    method: str = "tools/call"


def error_of(answer: types.CallToolResult) -> dict[str, Any]:
    (block,) = answer.content
    assert answer.is_error and isinstance(block, types.TextContent)
    found: dict[str, Any] = json.loads(block.text)["error"]
    return found


USELESS = "sum failed in the step first: mine: the client's model answers something else than text"
ANSWERS: Mapping[str, Any] = {
    "an image": {
        "role": "assistant",
        "model": "theirs",
        "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    },
    "no text": {"role": "assistant", "model": "theirs", "content": {"type": "text"}},
    "no role": {"model": "theirs", "content": {"type": "text", "text": "tea"}},
    "nothing": {},
    "a form": {"action": "accept", "content": {}},
    "a list": [1],
    "a text": "tea",
}


@pytest.mark.parametrize("answer", ANSWERS)
async def test_answers_that_are_no_text(project: Path, answer: str) -> None:
    ##= man/spec/service.md#models-of-clients
    ##= type=test
    ##% With a provider of the kind `client`, the server MUST ask the model of the calling client if that client offers
    ##% it, and fail the step for an answer that is not text.
    async with Client(server_of(project), mode=MODERN, sampling_callback=Model()) as client:
        name, arguments = "workflow.sum", {"about": "tea"}
        asked = await client.session.call_tool(name, arguments, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult) and asked.input_requests
        answers = dict.fromkeys(asked.input_requests, ANSWERS[answer])
        call = {"name": name, "arguments": arguments}
        answered = Raw(params={**call, "requestState": asked.request_state, "inputResponses": answers})
        error = error_of(await client.session.send_request(answered, types.CallToolResult))
    assert (error["code"], error["message"]) == ("model_failed", USELESS)
    assert [step["status"] for step in error["details"]["steps"]] == ["success", "error", "skipped"]


async def test_an_image_at_once(project: Path) -> None:
    async def draw(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        return types.CreateMessageResult.model_validate(ANSWERS["an image"])

    async with Client(server_of(project), mode="legacy", sampling_callback=draw) as client:
        error = error_of(await client.call_tool("workflow.sum", {"about": "tea"}))
    assert (error["code"], error["message"]) == ("model_failed", USELESS)
    assert [step["status"] for step in error["details"]["steps"]] == ["success", "error", "skipped"]
