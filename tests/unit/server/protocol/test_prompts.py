"""Prompts over the protocol, and the same on the command line"""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from duvet.prompts.library import complete_prompt_argument, load_prompts
from tests.cli.running import run
from tests.unit.prompts.made import context_of
from tests.unit.server.clients import client_of, over_stdio
from tests.unit.server.conftest import INSTRUCTIONS

pytestmark = pytest.mark.anyio

ASKED = {
    "explain_section": {"section": "tea#pot"},
    "implement_requirement": {"requirement": "1dd64a535306"},
    "review_citations": {"file": "src"},
    "system": {},
    "triage_uncited": {"spec": "tea", "level": "must"},
    "write_test": {"requirement": "1dd64a535306"},
}


async def text_of(client: Client, name: str, arguments: dict[str, str]) -> str:
    answer = await client.get_prompt(name, arguments)
    (message,) = answer.messages
    assert isinstance(message.content, TextContent)
    assert message.role == "user"
    return message.content.text


async def test_the_list_has_all_that_there_is_to_know(client: Client) -> None:
    listed = (await client.list_prompts()).prompts
    assert [
        (
            one.name,
            one.title,
            one.description,
            [(arg.name, arg.description, arg.required) for arg in one.arguments or ()],
        )
        for one in listed
    ] == [
        (one.name, one.title, one.description, [(arg.name, arg.description, arg.required) for arg in one.arguments])
        for one in load_prompts()
    ]


async def test_the_list_has_no_parts(client: Client) -> None:
    with pytest.raises(MCPError) as caught:
        await client.list_prompts(cursor="x")
    assert caught.value.error.code == -32602


async def test_the_system_prompt_is_the_instructions(client: Client) -> None:
    assert await text_of(client, "system", {}) == INSTRUCTIONS


@pytest.mark.parametrize("name", list(ASKED))
async def test_the_command_line_prints_the_same(name: str, duvet_command: str, project: Path) -> None:
    ##= man/spec/mcp.md#prompts
    ##% `duvet prompt` MUST print what `prompts/get` returns.
    words = [word for key, value in ASKED[name].items() for word in ("--arg", f"{key}={value}")]
    printed = run(duvet_command, project, "prompt", name, *words)
    async with client_of(over_stdio(duvet_command, project), "2025-06-18") as client:
        assert (printed.code, printed.out) == (0, await text_of(client, name, ASKED[name]))
        assert client.instructions if name != "system" else client.instructions == printed.out


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("write_tests", {}, 'there is no prompt "write_tests"'),
        ("write_test", {}, 'the prompt write_test needs the argument "requirement"'),
        ("write_test", {"requirement": "1dd6", "x": "y"}, 'the prompt write_test has no argument "x"'),
        ("write_test", {"requirement": "ffffffff"}, 'there is no requirement "ffffffff"'),
        ("triage_uncited", {"level": "shall"}, 'there is no level "shall"'),
    ],
)
async def test_what_can_not_be_answered(client: Client, name: str, arguments: dict[str, str], message: str) -> None:
    ##= man/spec/mcp.md#prompts
    ##% duvet MUST refuse an unknown prompt with similar names, and an unknown or missing argument by its name.
    with pytest.raises(MCPError) as caught:
        await client.get_prompt(name, arguments)
    assert (caught.value.error.code, caught.value.error.message) == (-32602, message)


async def test_a_broken_project_keeps_nobody_from_the_system_prompt(client: Client, project: Path) -> None:
    (project / ".duvet/config.toml").write_text("[")
    assert await text_of(client, "system", {}) == INSTRUCTIONS
    with pytest.raises(MCPError) as caught:
        await client.get_prompt("triage_uncited")
    assert caught.value.error.code == -32603
    assert str(project) not in str(caught.value.error)


def test_completions_are_those_of_the_project() -> None:
    assert complete_prompt_argument(context_of().catalogue, "spec", "t") == ["tea"]
