"""Calls that a client makes again with what its model says, and what is not done again then."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from msgspec import Struct, convert

from duvet.config.service_tables import ProviderKind, ProviderSection
from duvet.config.workflow_tables import WorkflowSection
from duvet.llm.router import StaticRouter
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.server import DuvetServer
from duvet.server.protocol.session import MAX_ROUNDS
from duvet.tools.call_context import CallContext
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.packs import Registry
from duvet.tools.plugin_runner import PluginCallContext
from duvet.tools.tool import MODELS_SERVICE, EnabledPack, Pack, Scope, Tool
from duvet.workflows.pack import make_workflow_tools
from duvet.workflows.workflow import Check, WaitStep, Workflow, WorkflowRun, make_configured_workflow
from tests.unit.server.clients import MODERN
from tests.unit.server.protocol.made import live_of

pytestmark = pytest.mark.anyio


class Nothing(Struct, frozen=True):
    pass


class Size(Struct, frozen=True):
    size: int = 1


class Count(Struct, frozen=True):
    count: int
    noise: str


class Kettle:
    """Something that is another thing each time it is looked at."""

    def __init__(self) -> None:
        self.count = 0

    def boil(self, asked: Size, ctx: CallContext) -> Count:
        self.count += 1
        return Count(self.count, secrets.token_hex(asked.size))

    @property
    def pack(self) -> Pack:
        common: Mapping[str, Any] = {"title": "", "description": "", "output": Count, "scope": Scope.MAINTAINER}
        return Pack("kettle", [Tool(name="boil", input=Size, handler=self.boil, **common)])


BOIL = {"id": "boil", "tool": "boil"}
ASK = {"id": "ask", "model": "mine", "prompt": "Is ${steps.boil.result.count} much?"}
FLOWS: Mapping[str, Any] = {
    "twice": [BOIL, ASK, {**BOIL, "id": "again"}, {**ASK, "id": "ask_again"}],
    "outer": [{"id": "one", "tool": "workflow.twice"}, {"id": "two", "tool": "workflow.twice"}],
    "large": [{**BOIL, "params": {"size": 600_000}}, ASK],
    "long": [BOIL, *({**ASK, "id": f"ask{number}"} for number in range(MAX_ROUNDS + 1))],
}

UNTIL = WaitStep(
    id="wait", tool="workflow.twice", until=Check(path="outputs.count", equals=4), interval=0.001, time_limit=60
)


def section(steps: Sequence[Mapping[str, Any]]) -> WorkflowSection:
    outputs = {"count": "${steps.again.result.count}"} if steps[-1]["id"] == "ask_again" else {}
    return convert({"description": "Boils.", "steps": steps, "outputs": outputs}, WorkflowSection)


def relay(asked: Nothing, ctx: PluginCallContext) -> Any:
    return ctx.call("workflow.twice").value


GUEST = Pack(
    "guest",
    [
        Tool(
            name="relay",
            title="",
            description="",
            input=Nothing,
            output=WorkflowRun,
            handler=relay,
            is_idempotent=False,
        )
    ],
)


def server_of(project: Path, kettle: Kettle) -> DuvetServer:
    flows = {name: make_configured_workflow(name, section(steps)) for name, steps in FLOWS.items()}
    flows["until"] = Workflow(name="until", description="Boils until it is enough.", steps=[UNTIL])
    found = make_workflow_tools(flows, kettle.pack.tools, {"mine"})  # type: ignore[arg-type]
    router = StaticRouter({"mine": ProviderSection(kind=ProviderKind.CLIENT)}, {}, {})
    registry = Registry([EnabledPack(kettle.pack), EnabledPack(found.pack), EnabledPack(GUEST, is_guest=True)])
    live = live_of(project)
    return DuvetServer(
        ServerIdentity(), "", live, ToolDispatcher(registry, live, ToolEnvironment(services={MODELS_SERVICE: router}))
    )


class Model:
    """A model that numbers its answers."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        (message,) = params.messages
        assert isinstance(message.content, types.TextContent)
        self.asked.append(message.content.text)
        said = types.TextContent(text=f"{len(self.asked)}.")
        return types.CreateMessageResult(role="assistant", content=said, model="theirs")


@pytest.mark.parametrize("era", ["legacy", MODERN])
@pytest.mark.parametrize(
    ("name", "counts"), [("twice", [1, 1]), ("outer", [1, 1, 3, 3]), ("until", [1, 1, 3, 3])], ids=lambda one: str(one)
)
async def test_each_step_is_done_once(project: Path, era: str, name: str, counts: Sequence[int]) -> None:
    ##= man/spec/workflows.md#steps
    ##= type=test
    ##% When a call is repeated to continue a workflow, the engine MUST NOT run finished steps again.
    kettle, model = Kettle(), Model()
    async with Client(server_of(project, kettle), mode=era, sampling_callback=model) as client:
        answer = await client.call_tool(f"workflow.{name}")
    assert not answer.is_error, answer.content
    assert (kettle.count, model.asked) == (len(counts), [f"Is {count} much?" for count in counts])


@pytest.mark.parametrize("era", ["legacy", MODERN])
async def test_a_further_pack_that_calls_a_workflow(project: Path, era: str) -> None:
    kettle = Kettle()
    async with Client(server_of(project, kettle), mode=era, sampling_callback=Model()) as client:
        answer = await client.call_tool("relay")
    assert (answer.is_error, kettle.count) == (False, 2), answer.content


@pytest.mark.parametrize("era", ["legacy", MODERN])
async def test_who_asks_the_same_again_has_another_answer(project: Path, era: str) -> None:
    async with Client(server_of(project, Kettle()), mode=era, sampling_callback=Model()) as client:
        found = (await client.call_tool("workflow.twice")).structured_content
    assert found
    assert [step["result"].get("text") for step in found["steps"]] == [None, "1.", None, "2."]


async def begun(client: Client, name: str) -> types.InputRequiredResult:
    found = await client.session.call_tool(name, allow_input_required=True)
    assert isinstance(found, types.InputRequiredResult)
    return found


def answers_to(asked: types.InputRequiredResult) -> types.InputResponses:
    said = types.CreateMessageResult(role="assistant", content=types.TextContent(text="yes"), model="theirs")
    return dict.fromkeys(asked.input_requests or {}, said)


async def test_a_state_that_is_another_one(project: Path) -> None:
    ##= man/spec/service.md#models-of-clients
    ##= type=test
    ##% The server MUST refuse state from a client that it did not issue for the same call, and fail a call after 32
    ##% rounds or with results that are too large for the client.
    kettle = Kettle()
    server = server_of(project, kettle)
    async with Client(server, mode=MODERN, sampling_callback=Model()) as client:
        asked = await begun(client, "workflow.twice")
        state, answers = asked.request_state or "", answers_to(asked)
        half = len(state) // 2
        tampered = f"{state[:half]}{'A' if state[half] != 'A' else 'B'}{state[half + 1 :]}"
        others: Sequence[tuple[str, dict[str, Any], str]] = (
            ("workflow.twice", {}, tampered),
            ("workflow.twice", {}, state[:-1]),
            ("workflow.twice", {"a": 1}, state),
            ("workflow.outer", {}, state),
        )
        for name, arguments, changed in others:
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await client.session.call_tool(name, arguments, input_responses=answers, request_state=changed)
    async with Client(server_of(project, kettle), mode=MODERN, sampling_callback=Model()) as client:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await client.session.call_tool("workflow.twice", input_responses=answers, request_state=state)
    assert kettle.count == 1


async def test_a_client_can_not_read_what_it_carries(project: Path) -> None:
    async with Client(server_of(project, Kettle()), mode=MODERN, sampling_callback=Model()) as client:
        state = (await begun(client, "workflow.twice")).request_state
    assert state and state.startswith("v1.") and len(state) < 1_000


@pytest.mark.parametrize(
    ("name", "asked", "message"),
    [
        ("large", 0, "the results before the client's model is asked are too large to be handed to the client"),
        ("long", MAX_ROUNDS, "the client's model was asked 32 times in one call, which is the most"),
    ],
)
async def test_bounds(project: Path, name: str, asked: int, message: str) -> None:
    ##= man/spec/service.md#models-of-clients
    ##= type=test
    ##% The server MUST refuse state from a client that it did not issue for the same call, and fail a call after 32
    ##% rounds or with results that are too large for the client.
    kettle, model = Kettle(), Model()
    rounds = MAX_ROUNDS + 1
    server = server_of(project, kettle)
    async with Client(server, mode=MODERN, sampling_callback=model, input_required_max_rounds=rounds) as client:
        answer = await client.call_tool(f"workflow.{name}")
    (block,) = answer.content
    assert answer.is_error and isinstance(block, types.TextContent)
    error = json.loads(block.text)["error"]
    assert (error["code"], error["message"].endswith(message)) == ("model_failed", True), error["message"]
    assert (kettle.count, len(model.asked)) == (1, asked)
