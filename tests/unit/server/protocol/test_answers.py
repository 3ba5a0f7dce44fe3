"""What a tool answers, and how it fails."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from duvet.server.backpressure import set_caller
from duvet.tools.tool import Scope
from tests.cli.made import KETTLE, make
from tests.unit.server.clients import MODERN
from tests.unit.server.protocol.made import live_of, made

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One in which nothing is wrong, so that answers are no more than themselves."""
    return make(tmp_path / "tea", KETTLE)


@pytest.fixture(params=["legacy", MODERN])
async def client(request: pytest.FixtureRequest, project: Path) -> AsyncIterator[Client]:
    async with Client(made(live_of(project)), mode=request.param) as client:
        yield client


def blocks(answer: CallToolResult) -> list[str]:
    return [block.text for block in answer.content if isinstance(block, TextContent)]


async def test_the_first_block_is_the_answer_and_the_second_the_next_step(client: Client) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% The first block of a result MUST be the JSON of the answer and nothing else, and a second block MAY add the next
    ##% step or a note.
    answer = await client.call_tool("twice", {"number": 2})
    assert blocks(answer) == ['{"number":4}', "Double it again."]
    assert (answer.is_error, answer.structured_content) == (False, {"number": 4})


async def test_a_list_is_structured_with_its_total_and_its_cursor(client: Client) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% Structured content MUST conform to the output schema of its tool, and wrap a list in an object with `result`,
    ##% `total` and `next_cursor`.
    answer = await client.call_tool("numbers", {"number": 7})
    assert blocks(answer) == ['[{"number":7}]']
    assert answer.structured_content == {"result": [{"number": 7}], "total": 7, "next_cursor": "more"}


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("refuse", {"number": 1}, ("unsupported_operation", "not today", "come back tomorrow")),
        (
            "twice",
            {"number": "1"},
            ("invalid_request", "number: expected int, got str", ""),
        ),
        ("twice", {}, ("invalid_request", "number is missing", "")),
        ("twice", None, ("invalid_request", "number is missing", "")),
        (
            "twice",
            {"number": 1, "nummer": 2},
            ("invalid_request", 'twice has no argument "nummer"', "did you mean number?"),
        ),
    ],
)
async def test_a_failure_is_a_result_that_says_so(
    client: Client, name: str, arguments: dict[str, object] | None, error: tuple[str, str, str]
) -> None:
    ##= man/spec/mcp.md#errors
    ##= type=test
    ##% A tool that fails MUST return `isError` and a JSON block whose `error` has a `code`, a `message` and a `hint`
    ##% without commands; an unknown tool MUST be the protocol error -32602.
    answer = await client.call_tool(name, arguments)
    assert [json.loads(block) for block in blocks(answer)] == [
        {"status": "error", "error": dict(zip(("code", "message", "hint"), error, strict=True))}
    ]
    # A client that knows the schema of answers would refuse anything else.
    assert (answer.is_error, answer.structured_content) == (True, None)


async def test_an_unknown_tool_is_an_error_of_the_protocol(client: Client) -> None:
    ##= man/spec/mcp.md#errors
    ##= type=test
    ##% A tool that fails MUST return `isError` and a JSON block whose `error` has a `code`, a `message` and a `hint`
    ##% without commands; an unknown tool MUST be the protocol error -32602.
    with pytest.raises(MCPError) as raised:
        await client.call_tool("twise", {"number": 1})
    error = raised.value.error
    assert (error.code, error.message, error.data) == (-32602, 'Unknown tool: "twise"', {"hint": "did you mean twice?"})


async def test_what_nobody_foresaw_is_kept_from_clients(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    ##= man/spec/mcp.md#errors
    ##= type=test
    ##% An unexpected failure MUST reach the client only as `Internal error` with the code -32603, and standard error as
    ##% one line without the text of the request.
    with pytest.raises(MCPError) as raised:
        await client.call_tool("burst", {"number": 1})
    error = raised.value.error
    assert (error.code, error.message, error.data) == (-32603, "Internal error", None)
    (record,) = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert (record.name, record.getMessage()) == ("duvet.server", "tools/call failed")
    assert record.exc_info and str(record.exc_info[1]) == "secret of /etc/passwd"


async def test_a_broken_configuration_is_told_without_the_folder(client: Client, project: Path) -> None:
    ##= man/spec/gateway.md#access
    ##= type=test
    ##% Answers and log lines MUST NOT contain tokens nor, apart from `stored_path` and the reason why an index cannot
    ##% be read, the folder of the project or the text of exceptions.
    (project / ".duvet/config.toml").unlink()
    for path in sorted(project.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    project.rmdir()
    answer = await client.call_tool("twice", {"number": 1})
    (block,) = blocks(answer)
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% While the project cannot be read, the server MUST answer each request with the reason, and recover without a
    ##% restart.
    hint = "put that right and ask again: what is on disk then is read"
    assert json.loads(block) == {
        "status": "error",
        "error": {"code": "upstream_error", "message": "tea: there is no such folder", "hint": hint},
    }


async def test_tools_above_the_scopes_of_the_caller_are_neither_shown_nor_run(project: Path) -> None:
    async with Client(made(live_of(project)), mode=MODERN, cache=None) as client:
        with set_caller(frozenset([Scope.READER])):
            assert [tool.name for tool in (await client.list_tools()).tools] == ["twice", "numbers", "refuse", "burst"]
            (block,) = blocks(await client.call_tool("repair", {"number": 1}))
        assert json.loads(block)["error"]["code"] == "forbidden"
        assert [tool.name for tool in (await client.list_tools()).tools][-1] == "repair"
        assert blocks(await client.call_tool("repair", {"number": 1}))[0] == '{"number":2}'


async def test_the_list_of_tools_has_no_parts(client: Client) -> None:
    with pytest.raises(MCPError) as raised:
        await client.list_tools(cursor="2")
    assert (raised.value.error.code, raised.value.error.message) == (-32602, "Invalid cursor")
