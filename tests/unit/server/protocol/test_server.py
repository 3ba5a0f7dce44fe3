import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import LoggingMessageNotificationParams
from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import ServerSection
from duvet.config.settings import ProtocolVersion
from duvet.server.live_project import LiveProject, ProjectReader, set_caller
from duvet.server.protocol.server import DuvetServer
from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import Scope
from duvet.version import VERSION
from tests.cli.command import run
from tests.conftest import ROOT
from tests.unit.server.clients import MODERN, blocks, client_of, over_stdio, prompt_text
from tests.unit.server.servers import INSTRUCTIONS, LONGEST, PAGE_SIZE, TOOLS, opened, server_of
from tests.unit.server.stdio_server import Message, Wire, enveloped

pytestmark = pytest.mark.anyio


async def test_instructions_are_rendered_for_each_client(kettle: Path) -> None:
    said = ["one", "two"]
    server = server_of(kettle, rule=ServerSection(protocol_version=ProtocolVersion.SECOND))
    server._instructions = lambda: said.pop(0)
    heard = []
    # A configured version leaves the era without a handshake alone.
    for mode, version in (("legacy", ProtocolVersion.SECOND.value), ("auto", MODERN)):
        async with Client(server, mode=mode) as client:
            assert client.protocol_version == version
            heard.append(client.instructions)
    assert heard == ["one", "two"]


FAILED = ("info", {"method": "tools/call", "name": "nothing", "failed": 'Unknown tool: "nothing"'})
CALLED = ("debug", {"method": "tools/call", "name": "twice"})


@pytest.mark.parametrize(
    ("mode", "level", "expected"),
    [
        ("legacy", None, []),
        ("legacy", "error", []),
        ("legacy", "info", [FAILED]),
        ("legacy", "debug", [CALLED, FAILED]),
        (MODERN, None, []),
        (MODERN, "info", [FAILED]),
        (MODERN, "debug", [CALLED, FAILED]),
    ],
)
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_a_client_hears_log_messages_of_its_level(
    kettle: Path, mode: str, level: Any, expected: list[object], recwarn: pytest.WarningsRecorder
) -> None:
    server = server_of(kettle, TOOLS)
    assert [str(one.message) for one in recwarn] == []
    heard = []

    async def hear(params: LoggingMessageNotificationParams) -> None:
        data = dict(params.data)
        assert data.pop("milliseconds", 0) >= 0 and params.logger == "duvet"
        if data.get("method") == "tools/call":
            heard.append((params.level, data))

    # Without a handshake, the level is sent with each request.
    more = {"log_level": level} if mode == MODERN else {}
    async with Client(server, mode=mode, logging_callback=hear, **more) as client:
        await client.list_tools()
        if mode != MODERN and level:
            await client.session.set_logging_level(level)
        await client.call_tool("twice", {"number": 1})
        with pytest.raises(MCPError):
            await client.call_tool("nothing", {})
        if mode != MODERN:
            await client.send_ping()
    assert heard == expected


LISTS = {
    "tools": ("tools/list", "tools"),
    "templates": ("resources/templates/list", "resourceTemplates"),
    "prompts": ("prompts/list", "prompts"),
}
OF_MODERN = {"resultType": "complete", "cacheScope": "private", "ttlMs": 0}


def ask_whole(version: str, process: Wire, method: str) -> Message:
    """Return the result of a request without parameters, without fields that its version adds to all results."""
    result: Message = process.ask(method, enveloped() if version == MODERN else None)["result"]
    if version == MODERN:
        info = result.pop("_meta")["io.modelcontextprotocol/serverInfo"]
        assert info["version"] == VERSION
        assert {key: result.pop(key) for key in OF_MODERN} == OF_MODERN
    return result


def test_the_description_of_the_server(wire: Callable[..., Wire], version: str, snapshot: Snapshot) -> None:
    ##= man/spec/mcp.md#connecting
    ##% The server MUST use the protocol version in the configuration, or else the requested version if the server
    ##% supports it, or else the server's newest version.
    def check(result: Any, name: str) -> None:
        text = json.dumps(result, indent=2, ensure_ascii=False, sort_keys=True)
        snapshot.assert_match(text.replace(f'"{VERSION}"', '"<version>"') + "\n", name)

    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "server"
    process = wire()
    if version == MODERN:
        result, name = ask_whole(version, process, "server/discover"), "discover.json"
    else:
        result, name = process.greet(version)["result"], "initialize.json"
        assert result.pop("protocolVersion") == version
    snapshot.assert_match(result.pop("instructions"), "instructions.md")
    check(result, name)
    for name, (method, key) in LISTS.items():
        result = ask_whole(version, process, method)
        assert set(result) == {key}
        check(result[key], f"{name}.json")
    assert (process.end(), process.told()) == (0, "")


class TestMadeTools:
    @pytest.fixture
    def server(self, kettle: Path) -> DuvetServer:
        return server_of(kettle, TOOLS)

    async def test_answers_have_blocks_and_structured_content(self, client: Client) -> None:
        ##= man/spec/mcp.md#answers
        ##% The first content block of a tool's result MUST contain only the JSON of the answer.
        answer = await client.call_tool("twice", {"number": 2})
        assert blocks(answer) == ['{"number":4}', "Double it again."]
        assert (answer.is_error, answer.structured_content) == (False, {"number": 4})
        ##= man/spec/mcp.md#answers
        ##% If a tool returns a list, the structured content MUST be an object with `result`, `total` and, if the
        ##% list continues, `next_cursor`.
        answer = await client.call_tool("numbers", {"number": 7})
        assert blocks(answer) == ['[{"number":7}]']
        assert answer.structured_content == {"result": [{"number": 7}], "total": 7, "next_cursor": "more"}

    async def test_a_failure_is_a_result_that_says_so(self, client: Client) -> None:
        failures: Sequence[tuple[str, dict[str, object] | None, tuple[str, str, str]]] = (
            ("refuse", {"number": 1}, ("unsupported_operation", "not today", "come back tomorrow")),
            ("twice", {}, ("invalid_request", "number is missing", "")),
            ("twice", None, ("invalid_request", "number is missing", "")),
        )
        for name, arguments, error in failures:
            ##= man/spec/mcp.md#answers
            ##% The server MUST answer a failed call with `isError` and a JSON block whose `error` has a `code`, a
            ##% `message` and a `hint`.
            answer = await client.call_tool(name, arguments)
            fields = dict(zip(("code", "message", "hint"), error, strict=True))
            assert [json.loads(block) for block in blocks(answer)] == [{"status": "error", "error": fields}]
            # A client that knows the output schema would refuse anything else.
            assert (answer.is_error, answer.structured_content) == (True, None)

    async def test_unknown_tools_and_unexpected_failures_are_protocol_errors(
        self, client: Client, caplog: pytest.LogCaptureFixture
    ) -> None:
        ##= man/spec/mcp.md#answers
        ##% After an unexpected exception, the server MUST answer only `Internal error` with the code -32603.
        for tool, error in (
            ("twise", (-32602, 'Unknown tool: "twise"', {"hint": "did you mean twice?"})),
            ("burst", (-32603, "Internal error", None)),
        ):
            with pytest.raises(MCPError) as raised:
                await client.call_tool(tool, {"number": 1})
            assert (raised.value.code, raised.value.message, raised.value.data) == error
        (logged,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
        assert (logged.name, logged.getMessage()) == ("duvet.server", "tools/call failed")
        assert logged.exc_info and str(logged.exc_info[1]) == "secret of /etc/passwd"

    async def test_a_missing_project_is_reported_without_its_path(self, client: Client, kettle: Path) -> None:
        kettle.rename(kettle.with_name("away"))
        (block,) = blocks(await client.call_tool("twice", {"number": 1}))
        hint = "fix the problem and try again; no restart is needed"
        error = {"code": "upstream_error", "message": "kettle: no such folder", "hint": hint}
        assert json.loads(block) == {"status": "error", "error": error}

    async def test_tools_above_the_scopes_of_the_caller_are_neither_listed_nor_run(self, server: DuvetServer) -> None:
        async with Client(server, mode=MODERN, cache=None) as client:
            with set_caller(Caller(scopes=frozenset([Scope.READER]))):
                names = [tool.name for tool in (await client.list_tools()).tools]
                assert names == ["twice", "numbers", "refuse", "burst"]
                (block,) = blocks(await client.call_tool("repair", {"number": 1}))
            assert json.loads(block)["error"]["code"] == "forbidden"
            assert [tool.name for tool in (await client.list_tools()).tools][-1] == "repair"
            assert blocks(await client.call_tool("repair", {"number": 1}))[0] == '{"number":2}'


class SlowProject(LiveProject):
    def __init__(self, folder: Path) -> None:
        super().__init__(ProjectReader(lambda: opened(folder), PAGE_SIZE))
        self.asked = 0
        self.door = anyio.Event()

    async def context(self) -> ProjectSnapshot:
        self.asked += 1
        await self.door.wait()
        return await super().context()


async def test_a_cancelled_call_ends_and_the_server_goes_on(kettle: Path, mode: str) -> None:
    live = SlowProject(kettle)
    with anyio.fail_after(LONGEST):
        async with Client(server_of(live, TOOLS), mode=mode) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "twice", {"number": 1})
                while not live.asked:
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            live.door.set()
            answer = await client.call_tool("twice", {"number": 1})
            assert answer.structured_content == {"number": 2}


async def test_the_command_line_prints_the_same(duvet_command: str, project: Path) -> None:
    asked = {
        "explain_section": {"section": "tea#pot"},
        "implement_requirement": {"requirement": "1dd64a535306"},
        "review_citations": {"file": "src"},
        "system": {},
        "triage_uncited": {"spec": "tea", "level": "must"},
        "write_test": {"requirement": "1dd64a535306"},
    }
    ##= man/spec/mcp.md#prompts
    ##% `duvet prompt` MUST print the text that `prompts/get` returns.
    async with client_of(over_stdio(duvet_command, project), "2025-06-18") as client:
        for name, arguments in asked.items():
            words = [word for key, value in arguments.items() for word in ("--arg", f"{key}={value}")]
            printed = run(duvet_command, project, "prompt", name, *words)
            assert (printed.code, printed.out) == (0, await prompt_text(client, name, arguments))
            if name == "system":
                assert client.instructions == printed.out


async def test_prompts_are_refused_and_those_of_a_broken_project(client: Client, project: Path) -> None:
    wrong: Sequence[tuple[str, dict[str, str], str]] = (
        ("write_tests", {}, 'unknown prompt "write_tests"'),
        ("write_test", {}, 'the prompt write_test requires the argument "requirement"'),
        ("write_test", {"requirement": "ffffffff"}, 'no requirement matches "ffffffff"'),
    )
    for name, arguments, message in wrong:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, arguments)
        assert (caught.value.code, caught.value.message) == (-32602, message)
    # The system prompt is the instructions even of a broken project.
    assert await prompt_text(client, "system") == INSTRUCTIONS
    (project / ".duvet/config.toml").write_text("[")
    assert await prompt_text(client, "system") == INSTRUCTIONS
    with pytest.raises(MCPError) as caught:
        await client.get_prompt("triage_uncited")
    assert caught.value.code == -32603
    assert str(project) not in str(caught.value.error)
