"""`duvet mcp --pages`: a folder of notes without a project, for an agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.cli.command import environment, run
from tests.cli.sample_project import make
from tests.unit.server.clients import client_of

NOTES = {
    "index.md": "# Tea\n\nSee [[green tea]], [the pot](things/pot.md), [[gone]] and ![[pot.png]].\n",
    "things/pot.md": "---\ntags: [clay]\n---\nOf clay.\n",
    "Green tea.md": "Warm the [[pot]] first.\n",
    "pot.png": "",
    ".obsidian/app.md": "hidden",
}
CODE_WORDS = ("specification", "requirement", "citation")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return make(tmp_path / "vault", NOTES)


@pytest.mark.anyio
async def test_an_agent_gets_notes_and_nothing_else(duvet_command: str, vault: Path, version: str) -> None:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages FOLDER`, `duvet mcp` MUST serve the Markdown files in this folder as pages, without a project.
    server = StdioServerParameters(
        command=duvet_command, args=["mcp", "--pages", "vault"], env=environment(), cwd=vault.parent
    )
    async with client_of(stdio_client(server), version) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("search", {"query": "where is the clay pot?"})
        page = await client.call_tool("get_page", {"slug": "index"})
        ##= man/spec/pages.md#folders-of-notes
        ##% With `--pages`, instructions, prompts and resources MUST be about pages alone.
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        prompt: Any = await client.get_prompt("answer_from_pages", {"question": "How hot?"})
        system: Any = (await client.get_prompt("system", {})).messages[0].content
        resources = (await client.list_resources()).resources
        (template,) = (await client.list_resource_templates()).resource_templates
        ##= man/spec/pages.md#folders-of-notes
        ##% The server MUST answer `resources/read` of `duvet:///pages/SLUG` with the text of the page.
        text: Any
        (text,) = (await client.read_resource("duvet:///pages/Green%20tea")).contents
    assert tools == ["list_pages", "get_page", "search", "ask", "get_connections"]
    assert found.structured_content and page.structured_content
    assert [hit["slug"] for hit in found.structured_content["result"]] == ["things/pot", "index", "Green tea"]
    assert page.structured_content["outlinks"] == ["Green tea", "things/pot", "gone"]
    assert prompts == ["answer_from_pages", "system"]
    assert prompt.messages[0].content.text.startswith("Answer this question from the notes alone: How hot?\n")
    assert [word for word in CODE_WORDS if word in system.text.lower()] == []
    names = {(one.uri, one.name, one.title, one.mime_type) for one in resources}
    assert names == {
        ("duvet:///pages/index", "index", "Tea", "text/markdown"),
        ("duvet:///pages/Green%20tea", "Green tea", "Green tea", "text/markdown"),
        ("duvet:///pages/things/pot", "things/pot", "pot", "text/markdown"),
    }
    assert template.uri_template == "duvet:///pages/{slug}"
    assert (text.text, text.mime_type) == (NOTES["Green tea.md"], "text/markdown")


CHECKED = """\
folder         {folder}
pages          3 pages, 5 links, 1 of them broken
service        no configuration; the defaults apply
server         duvet 0.1.0, stdio
pack           pages: 5 tools
               list_pages
               get_page
               search
               ask
               get_connections
"""


def test_a_check_counts_pages_and_broken_links(duvet_command: str, vault: Path) -> None:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, `duvet mcp --check` MUST print the number of pages and of broken links, and fail if there are no
    ##% pages.
    done = run(duvet_command, vault.parent, "mcp", "--pages", "vault", "--check")
    assert (done.code, done.out) == (0, CHECKED.format(folder=vault))
    empty = run(duvet_command, make(vault.parent / "empty", {"a.txt": ""}), "mcp", "--pages", ".", "--check")
    assert empty.code == 1 and "no Markdown files in this folder [DUV009]" in empty.err
    missing = run(duvet_command, vault, "mcp", "--pages", "nowhere")
    assert (missing.code, missing.out) == (1, "")
    assert "can't serve this folder: it does not exist" in missing.err and "nowhere" in missing.err


def test_the_folder_is_relative_to_that_of_the_user(duvet_command: str, vault: Path) -> None:
    """A project around the user's folder does not count."""
    make(vault.parent, {".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\n", ".git/HEAD": ""})
    done = run(duvet_command, vault / "things", "call", "--pages", "..", "list_pages", "--tag", "clay")
    assert json.loads(done.out) == [{"slug": "things/pot", "title": "pot"}]
    client = run(duvet_command, vault, "mcp", "--pages", "things", "--print-config", "claude")
    assert json.loads(client.out)["mcpServers"]["duvet"]["args"][-3:] == ["mcp", "--pages", str(vault / "things")]
    assert client.err.startswith("note: these paths are valid only on this machine\nadd this to ")


@pytest.mark.parametrize("config", ["", "toolPacks: {trace: {enabled: true}, pages: {enabled: true}}\n"])
def test_requirements_are_not_offered(config: str, duvet_command: str, vault: Path) -> None:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST NOT offer the pack `trace`.
    make(vault, {"duvet.config.yaml": config})
    done = run(duvet_command, vault, "call", "--pages", ".", "search_requirements", "--query", "tea")
    assert (done.code, done.out) == (1, "") and 'no tool is named "search_requirements"' in done.err
    checked = run(duvet_command, vault, "mcp", "--pages", ".", "--pack", "trace", "--check")
    assert [line for line in checked.out.splitlines() if line.startswith("pack ")] == ["pack           pages: 5 tools"]


UNTRUSTED = (
    "a configuration in a folder that --pages serves can't load code; if you trust it, name the configuration with "
    "--service-config"
)


@pytest.mark.parametrize("mode", ["mcp", "call"])
def test_a_vault_is_data(mode: str, duvet_command: str, vault: Path) -> None:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST NOT load the file of a pack, but report it, unless `--service-config` or an
    ##% environment variable names the configuration.
    config = "toolPacks: {mine: {path: mine.py}}\n"
    code = "from pathlib import Path\n\nfrom duvet.tools.tool import Pack\n\nPath('ran').touch()\nPACK = Pack('mine', ())\n"
    make(vault, {"duvet.config.yaml": config, "mine.py": code})
    args = (mode, "--pages", "vault", *(["--check"] if mode == "mcp" else ["list_pages"]))
    # The relative path of a variable is that of a file outside of the folder, so there is none.
    refused = run(duvet_command, vault.parent, *args, environ={"DUVET_CONFIG": "duvet.config.yaml"})
    assert refused.code == 1 and "duvet.config.yaml, which does not exist" in refused.err
    found = run(duvet_command, vault.parent, *args)
    assert found.code == (mode == "mcp") and UNTRUSTED in found.out + found.err
    assert not (vault / "ran").exists()
    for option, environ in (
        (("--service-config", "vault/duvet.config.yaml"), {}),
        ((), {"DUVET_CONFIG": "vault/duvet.config.yaml"}),
    ):
        named = run(duvet_command, vault.parent, mode, *option, *args[1:], environ=environ)
        assert (named.code, (vault / "ran").exists()) == (0, True)
        (vault / "ran").unlink()
