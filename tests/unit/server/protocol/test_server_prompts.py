"""Prompts over the protocol and on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.cli.command import run
from tests.unit.server.clients import client_of, over_stdio, prompt_text
from tests.unit.server.servers import INSTRUCTIONS

pytestmark = pytest.mark.anyio

ASKED = {
    "explain_section": {"section": "tea#pot"},
    "implement_requirement": {"requirement": "1dd64a535306"},
    "review_citations": {"file": "src"},
    "system": {},
    "triage_uncited": {"spec": "tea", "level": "must"},
    "write_test": {"requirement": "1dd64a535306"},
}


@pytest.mark.parametrize("name", list(ASKED))
async def test_the_command_line_prints_the_same(name: str, duvet_command: str, project: Path) -> None:
    ##= man/spec/mcp.md#prompts
    ##% `duvet prompt` MUST print the text that `prompts/get` returns.
    words = [word for key, value in ASKED[name].items() for word in ("--arg", f"{key}={value}")]
    printed = run(duvet_command, project, "prompt", name, *words)
    async with client_of(over_stdio(duvet_command, project), "2025-06-18") as client:
        assert (printed.code, printed.out) == (0, await prompt_text(client, name, ASKED[name]))
        assert client.instructions if name != "system" else client.instructions == printed.out


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("write_tests", {}, 'unknown prompt "write_tests"'),
        ("write_test", {}, 'the prompt write_test requires the argument "requirement"'),
        ("write_test", {"requirement": "1dd6", "x": "y"}, 'the prompt write_test has no argument "x"'),
        ("write_test", {"requirement": "ffffffff"}, 'no requirement matches "ffffffff"'),
        ("triage_uncited", {"level": "shall"}, '"shall" is not a level'),
    ],
)
async def test_unknown_prompts_and_wrong_arguments_are_refused(
    client: Client, name: str, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(MCPError) as caught:
        await client.get_prompt(name, arguments)
    assert (caught.value.code, caught.value.message) == (-32602, message)


async def test_the_system_prompt_is_the_instructions_even_of_a_broken_project(client: Client, project: Path) -> None:
    assert await prompt_text(client, "system") == INSTRUCTIONS
    (project / ".duvet/config.toml").write_text("[")
    assert await prompt_text(client, "system") == INSTRUCTIONS
    with pytest.raises(MCPError) as caught:
        await client.get_prompt("triage_uncited")
    assert caught.value.code == -32603
    assert str(project) not in str(caught.value.error)
