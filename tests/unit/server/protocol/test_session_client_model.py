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

from duvet.config.service_tables import ProviderKind, ProviderSection, WorkflowSection
from duvet.llm.router import StaticRouter
from duvet.server.protocol.server import DuvetServer
from duvet.server.protocol.session import MAX_ROUNDS
from duvet.tools.call_context import CallContext
from duvet.tools.packs import TRACE, Registry
from duvet.tools.plugin_runner import PackContext
from duvet.tools.tool import MODELS_SERVICE, EnabledPack, Pack, Scope, Tool
from duvet.workflows.pack import make_workflow_tools
from duvet.workflows.workflow import Check, WaitStep, Workflow, WorkflowRun, make_configured_workflow
from tests.unit.server.clients import MODERN, Request, blocks
from tests.unit.server.servers import server_of

pytestmark = pytest.mark.anyio

BOIL = {"id": "boil", "tool": "boil"}
ASK = {"id": "ask", "model": "mine", "prompt": "Is ${steps.boil.result.count} much?"}
FLOWS: Mapping[str, Mapping[str, Any]] = {
    "sum": {
        "variables": {"about": {}},
        "steps": [
            {"id": "count", "tool": "coverage_summary"},
            {"id": "first", "model": "mine", "prompt": "Tell of ${vars.about}", "system": "Be brief"},
            {"id": "second", "model": "mine/small", "prompt": "Again: ${steps.first.result.text}"},
        ],
        "outputs": {"text": "${steps.second.result.text}", "model": "${steps.second.result.model}"},
    },
    "twice": {
        "steps": [BOIL, ASK, {**BOIL, "id": "again"}, {**ASK, "id": "ask_again"}],
        "outputs": {"count": "${steps.again.result.count}"},
    },
    "outer": {"steps": [{"id": "one", "tool": "workflow.twice"}, {"id": "two", "tool": "workflow.twice"}]},
    "large": {"steps": [{**BOIL, "params": {"size": 600_000}}, ASK]},
    "long": {"steps": [BOIL, *({**ASK, "id": f"ask{number}"} for number in range(MAX_ROUNDS + 1))]},
}
ENOUGH = Check(path="outputs.count", equals=4)
UNTIL = WaitStep(id="wait", tool="workflow.twice", until=ENOUGH, interval=0.001, time_limit=60)
SUM: dict[str, Any] = {"name": "workflow.sum", "arguments": {"about": "tea"}}


class Nothing(Struct, frozen=True):
    pass


class Size(Struct, frozen=True):
    size: int = 1


class Count(Struct, frozen=True):
    count: int
    noise: str


class Kettle:
    def __init__(self) -> None:
        self.count = 0

    def boil(self, asked: Size, ctx: CallContext) -> Count:
        self.count += 1
        return Count(self.count, secrets.token_hex(asked.size))

    @property
    def pack(self) -> Pack:
        common: Mapping[str, Any] = {"title": "", "description": "", "output": Count, "scope": Scope.MAINTAINER}
        return Pack("kettle", [Tool(name="boil", input=Size, handler=self.boil, **common)])


def relay(asked: Nothing, ctx: PackContext) -> Any:
    return ctx.call("workflow.twice").value


RELAY: Mapping[str, Any] = {"title": "", "description": "", "input": Nothing, "output": WorkflowRun}
GUEST = Pack("guest", [Tool(name="relay", handler=relay, is_idempotent=False, **RELAY)])


def asking_server(project: Path, kettle: Kettle | None = None) -> DuvetServer:
    sections = {name: convert({"description": "Asks.", **flow}, WorkflowSection) for name, flow in FLOWS.items()}
    flows = {name: make_configured_workflow(name, section) for name, section in sections.items()}
    flows["until"] = Workflow(name="until", description="Boils until it is enough.", steps=[UNTIL])
    pack = (kettle or Kettle()).pack
    tools: list[Any] = [*EnabledPack(TRACE).tools(), *pack.tools]  # type: ignore[misc]
    found = make_workflow_tools(flows, tools)
    chosen = [EnabledPack(TRACE), EnabledPack(pack), EnabledPack(found.pack), EnabledPack(GUEST, is_guest=True)]
    router = StaticRouter({"mine": ProviderSection(kind=ProviderKind.CLIENT)}, {}, {})
    return server_of(project, Registry(chosen), services={MODELS_SERVICE: router})


class Model:
    def __init__(self) -> None:
        self.asked: list[types.CreateMessageRequestParams] = []

    @property
    def prompts(self) -> list[str]:
        return [one.messages[0].content.text for one in self.asked]  # type: ignore[union-attr]

    async def __call__(self, context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        (_,) = params.messages
        self.asked.append(params)
        said = types.TextContent(text=f"{len(self.asked)}.")
        return types.CreateMessageResult(role="assistant", content=said, model="theirs")


def error_of(answer: types.CallToolResult) -> dict[str, Any]:
    assert answer.is_error
    (block,) = blocks(answer)
    found: dict[str, Any] = json.loads(block)["error"]
    return found


async def test_the_model_of_the_client_is_asked(kettle: Path, mode: str) -> None:
    ##= man/spec/service.md#models-of-clients
    ##% For a provider of the kind `client`, the server MUST call the model of the calling client, if that client offers
    ##% one.
    model = Model()
    async with Client(asking_server(kettle), mode=mode, sampling_callback=model) as client:
        answer = await client.call_tool("workflow_sum", {"about": "tea"})
    assert not answer.is_error and answer.structured_content
    assert answer.structured_content["outputs"] == {"text": "2.", "model": "mine/small"}
    first, second = model.asked
    assert model.prompts == ["Tell of tea", "Again: 1."]
    assert (first.system_prompt, first.max_tokens, first.model_preferences) == ("Be brief", 1024, None)
    assert second.model_preferences and second.model_preferences.hints == [types.ModelHint(name="small")]


async def test_clients_that_refuse_dots_in_names(kettle: Path, mode: str) -> None:
    server = asking_server(kettle)
    for client, name in (("claude-code", "workflow_sum"), ("Cursor", "workflow_sum"), ("tests", "workflow.sum")):
        info = types.Implementation(name=client, version="1")
        async with Client(server, mode=mode, client_info=info, sampling_callback=Model()) as connected:
            names = [tool.name for tool in (await connected.list_tools()).tools]
            assert [one for one in names if one.endswith("sum")] == [name]
            assert not (await connected.call_tool(name, {"about": "tea"})).is_error


async def refuse(context: Any, params: types.CreateMessageRequestParams) -> types.ErrorData:
    return types.ErrorData(code=-1, message="the user said no")


async def draw(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    return types.CreateMessageResult.model_validate(ANSWERS[0])


NOT_TEXT = "sum failed in step first: mine: the client's model returned something other than text"


async def test_a_model_that_does_not_answer_with_text_fails_the_step(kettle: Path) -> None:
    for mode, model, message in (
        *((mode, None, "no usable model: mine: no MCP client offers a model") for mode in ("legacy", MODERN)),
        ("legacy", refuse, "the client's model did not answer"),
        ("legacy", draw, NOT_TEXT.rpartition(": ")[2]),
    ):
        async with Client(asking_server(kettle), mode=mode, sampling_callback=model) as client:
            error = error_of(await client.call_tool(**SUM))
        assert (error["code"], error["message"]) == ("model_failed", f"sum failed in step first: mine: {message}")
        run = error["details"]
        assert (run["status"], [step["status"] for step in run["steps"]]) == ("error", ["success", "error", "skipped"])


THEIRS = {"role": "assistant", "model": "theirs"}
ANSWERS: Sequence[Any] = (
    {**THEIRS, "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}},
    {**THEIRS, "content": {"type": "text"}},
    {"model": "theirs", "content": {"type": "text", "text": "tea"}},
    *({}, {"action": "accept", "content": {}}, [1], "tea"),
)


async def test_a_repeated_call_without_text_of_the_model_fails_the_step(kettle: Path) -> None:
    async with Client(asking_server(kettle), mode=MODERN, sampling_callback=Model()) as client:
        for answer in ANSWERS:
            asked = await begin(client, **SUM)
            answers = dict.fromkeys(asked.input_requests or {}, answer)
            again = {**SUM, "requestState": asked.request_state, "inputResponses": answers}
            call = Request(method="tools/call", params=again)
            error = error_of(await client.session.send_request(call, types.CallToolResult))
            assert (error["code"], error["message"]) == ("model_failed", NOT_TEXT), answer
            assert [step["status"] for step in error["details"]["steps"]] == ["success", "error", "skipped"]


@pytest.mark.parametrize(
    ("name", "counts"), [("twice", [1, 1]), ("outer", [1, 1, 3, 3]), ("until", [1, 1, 3, 3]), ("relay", [1, 1])]
)
async def test_each_step_runs_once(project: Path, mode: str, name: str, counts: Sequence[int]) -> None:
    ##= man/spec/workflows.md#steps
    ##% If a client repeats a call to continue a workflow, the engine MUST NOT run completed steps again.
    kettle, model = Kettle(), Model()
    async with Client(asking_server(project, kettle), mode=mode, sampling_callback=model) as client:
        answer = await client.call_tool("relay" if name == "relay" else f"workflow.{name}")
    assert not answer.is_error, answer.content
    assert (kettle.count, model.prompts) == (len(counts), [f"Is {count} much?" for count in counts])
    if name == "twice":
        assert answer.structured_content
        texts = [step["result"].get("text") for step in answer.structured_content["steps"]]
        assert texts == [None, "1.", None, "2."]


async def begin(client: Client, name: str, arguments: dict[str, Any] | None = None) -> types.InputRequiredResult:
    found = await client.session.call_tool(name, arguments, allow_input_required=True)
    assert isinstance(found, types.InputRequiredResult) and found.input_requests
    return found


async def test_state_of_another_call_is_refused(project: Path) -> None:
    ##= man/spec/service.md#models-of-clients
    ##% The server MUST refuse a request state that it did not issue for the same call.
    kettle, model = Kettle(), Model()
    said = types.CreateMessageResult(role="assistant", content=types.TextContent(text="yes"), model="theirs")
    async with Client(asking_server(project, kettle), mode=MODERN, sampling_callback=model) as client:
        asked = await begin(client, "workflow.twice")
        state = asked.request_state or ""
        answers: types.InputResponses = dict.fromkeys(asked.input_requests or {}, said)
        # The client cannot read the state that it carries.
        assert state.startswith("v1.") and len(state) < 1_000
        half = len(state) // 2
        tampered = f"{state[:half]}{'A' if state[half] != 'A' else 'B'}{state[half + 1 :]}"
        made_up = ["", "{", "[]", '{"a": 1}', "v1.AAAA", "x" * 2_000_000]
        wrong: Sequence[tuple[str, dict[str, Any], str]] = (
            *(("workflow.twice", {}, one) for one in (tampered, state[:-1], *made_up)),
            ("workflow.twice", {"a": 1}, state),
            ("workflow.outer", {}, state),
        )
        for name, arguments, changed in wrong:
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await client.session.call_tool(name, arguments, input_responses=answers, request_state=changed)
    async with Client(asking_server(project, kettle), mode=MODERN, sampling_callback=model) as client:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await client.session.call_tool("workflow.twice", input_responses=answers, request_state=state)
    assert (kettle.count, model.asked) == (1, [])


@pytest.mark.parametrize(
    ("name", "asked", "message"),
    [
        ("large", 0, "the results so far are too large to send to the client"),
        ("long", MAX_ROUNDS, "a call can ask the client's model at most 32 times"),
    ],
)
async def test_rounds_and_results_are_limited(project: Path, name: str, asked: int, message: str) -> None:
    kettle, model = Kettle(), Model()
    server, rounds = asking_server(project, kettle), MAX_ROUNDS + 1
    async with Client(server, mode=MODERN, sampling_callback=model, input_required_max_rounds=rounds) as client:
        error = error_of(await client.call_tool(f"workflow.{name}"))
    assert (error["code"], error["message"].endswith(message)) == ("model_failed", True), error["message"]
    assert (kettle.count, len(model.asked)) == (1, asked)
