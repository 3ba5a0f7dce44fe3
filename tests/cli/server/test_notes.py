import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import environment, play, run
from tests.cli.sample_project import make
from tests.unit.llm.provider_server import Wire, openai_says
from tests.unit.server.clients import client_of, got, list_below, over_stdio
from tests.unit.server.stdio_server import Wire as Session

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
async def test_an_agent_gets_notes_and_nothing_else(
    duvet_command: str, vault: Path, version: str, gold: Snapshot
) -> None:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages FOLDER`, `duvet mcp` MUST serve the Markdown files in this folder as pages, without a project.
    async with client_of(over_stdio(duvet_command, vault.parent, "--pages", "vault"), version) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("search", {"query": "where is the clay pot?"})
        page = await client.call_tool("get_page", {"slug": "index"})
        ##= man/spec/pages.md#folders-of-notes
        ##% With `--pages`, the server MUST NOT offer tools, prompts or resources for requirements.
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        prompt: Any = await client.get_prompt("answer_from_pages", {"question": "How hot?"})
        system: Any = (await client.get_prompt("system", {})).messages[0].content
        resources = (await client.list_resources()).resources
        (template,) = (await client.list_resource_templates()).resource_templates
        ##= man/spec/pages.md#folders-of-notes
        ##% The server MUST answer `resources/read` of `duvet:///pages/SLUG` with the text of the page.
        text: Any
        (text,) = (await client.read_resource("duvet:///pages/Green%20tea")).contents
    assert found.structured_content and page.structured_content
    told = {
        "tools": tools,
        "found": [hit["slug"] for hit in found.structured_content["result"]],
        "outlinks": page.structured_content["outlinks"],
        "prompts": prompts,
        "prompt": prompt.messages[0].content.text.splitlines()[0],
        "resources": sorted([one.uri, one.name, one.title, one.mime_type] for one in resources),
        "template": template.uri_template,
        "text": [text.text, text.mime_type],
    }
    gold.assert_match(json.dumps(told, indent=1) + "\n", "parts.json")
    assert [word for word in CODE_WORDS if word in system.text.lower()] == []


ABOUT_CODE = ("duvet:///requirements", "duvet:///specifications", "duvet:///citations?limit=1", "duvet:///packs/x/y")


@pytest.mark.anyio
async def test_nothing_about_code_can_be_read(duvet_command: str, vault: Path, version: str) -> None:
    make(vault, {".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\n"})
    async with client_of(over_stdio(duvet_command, vault, "--pages", "."), version) as client:
        for uri in ABOUT_CODE:
            refusal = (
                f"Resource not found: this server has no resources except pages: read duvet:///pages/{{slug}} {uri}"
            )
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert f"{refused.value.message} {refused.value.data['uri']}" == refusal
        with pytest.raises(MCPError, match="this server has no resources except pages"):
            await list_below(client, "/requirements")
        with pytest.raises(MCPError, match="this server has no resources except pages"):
            await got(client, path="/requirements")
        with pytest.raises(MCPError, match="unknown prompt"):
            await client.get_prompt("implement_requirement", {"requirement": "a"})
        slugs = await client.complete(
            types.ResourceTemplateReference(uri="duvet:///pages/{slug}"), {"name": "slug", "value": "th"}
        )
        others = await client.complete(
            types.ResourceTemplateReference(uri="duvet:///specifications/{spec_id}"), {"name": "spec_id", "value": ""}
        )
        instructions = (client.instructions or "").lower()
    assert (slugs.completion.values, others.completion.values) == (["things/pot"], [])
    # Clients of the newest version ask for the prompt instead.
    assert [word for word in CODE_WORDS if word in instructions] == []
    described = json.loads(run(duvet_command, vault, "mcp", "--pages", ".", "--describe").out)
    assert described["resources"] == []
    assert [one["uriTemplate"] for one in described["resourceTemplates"]] == ["duvet:///pages/{slug}"]
    assert [one["name"] for one in described["prompts"]] == ["answer_from_pages", "system"]


def test_changes_of_pages_are_notified(wire: Callable[..., Session], vault: Path) -> None:
    ##= man/spec/mcp.md#freshness
    ##% The server MUST notify clients of changes in subscribed resources, and of new and removed specifications,
    ##% requirements, citations and pages.
    server = wire("mcp", "--pages", str(vault))
    server.greet()
    listed = server.ask("resources/list")["result"]["resources"]
    for one in listed:
        assert server.ask("resources/subscribe", {"uri": one["uri"]})["result"] == {}
    make(vault, {"things/pot.md": "Of iron.\n"})
    updated = {"jsonrpc": "2.0", "method": "notifications/resources/updated"}
    assert server.read() == {**updated, "params": {"uri": "duvet:///pages/things/pot"}}
    (vault / "Green tea.md").rename(vault / "Black tea.md")
    changed = [server.read(), server.read()]
    assert {**updated, "params": {"uri": "duvet:///pages/Green%20tea"}} in changed
    assert "notifications/resources/list_changed" in [one["method"] for one in changed]
    names = [one["name"] for one in server.ask("resources/list")["result"]["resources"]]
    assert len(listed) == 3 and sorted(names) == ["Black tea", "index", "things/pot"]


CHECK = "mcp --pages vault --check"


def test_a_check_counts_pages_and_broken_links(duvet_command: str, vault: Path, gold: Snapshot) -> None:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, `duvet mcp --check` MUST print the number of pages and of broken links, list these links with
    ##% `--verbose`, and fail if there are no pages.
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST NOT forward calls to a gateway.
    environ = {"KM_GATEWAY_URL": "http://127.0.0.1:1", "KM_ADMIN_TOKEN": "secret"}
    duvet = partial(run, duvet_command, vault.parent, environ=environ)
    make(vault.parent, {"empty/a.txt": ""})
    lines = (CHECK, f"{CHECK} -v", "mcp --pages empty --check", "mcp --pages nowhere")
    upload = "call --pages vault km-upload --source-path index.md --destination copies/"
    gold.assert_match(play(duvet, vault.parent, *lines), "check.txt")
    assert duvet(*upload.split()).code == 0
    assert (vault / "copies/index.md").read_text() == NOTES["index.md"]


def test_the_folder_is_relative_to_that_of_the_user(duvet_command: str, vault: Path) -> None:
    """A project around the user's folder does not count."""
    make(vault.parent, {".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\n", ".git/HEAD": ""})
    done = run(duvet_command, vault / "things", "call", "--pages", "..", "list_pages", "--tag", "clay")
    assert json.loads(done.out) == [{"slug": "things/pot", "title": "pot"}]
    client = run(duvet_command, vault, "mcp", "--pages", "things", "--print-config", "claude")
    assert json.loads(client.out)["mcpServers"]["duvet"]["args"][-3:] == ["mcp", "--pages", str(vault / "things")]
    assert client.err.startswith("note: these paths are valid only on this machine\nadd this to ")


def test_requirements_are_not_offered(duvet_command: str, vault: Path) -> None:
    for config in ("", "toolPacks: {trace: {enabled: true}, pages: {enabled: true}}\n"):
        make(vault.parent, {"duvet.config.yaml": config})
        duvet = partial(run, duvet_command, vault, environ={"DUVET_CONFIG": "../duvet.config.yaml"})
        done = duvet("call", "--pages", ".", "search_requirements", "--query", "tea")
        assert (done.code, done.out) == (1, "") and 'no tool is named "search_requirements"' in done.err
        checked = duvet("mcp", "--pages", ".", "--pack", "trace", "--check")
        packs = [line for line in checked.out.splitlines() if line.startswith("pack ")]
        assert packs == ["pack           pages: 5 tools"]


def test_packs_are_beside_the_configuration(duvet_command: str, vault: Path) -> None:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST look for the files of packs in the folder of the service configuration.
    duvet = partial(run, duvet_command, make(vault.parent, {"vault/packs/mine.py": PACK, "vault/out.py": PACK}))
    named = ("--service-config", "own/c.yaml")
    call = ("call", *named, "--pages", "vault", "boil")
    make(vault.parent, {"own/c.yaml": "toolPacks: {mine: {path: packs/mine.py}}\n"})
    # A file of the notes with the same path is not loaded.
    missing = duvet(*call)
    assert missing.code == 1 and "own/packs/mine.py does not exist [DUV005]" in missing.err
    make(vault.parent, {"own/packs/mine.py": PACK.replace("'ran'", "'/dev/null'")})
    assert duvet(*call).out == '{\n  "result": 1\n}\n'
    described = json.loads(duvet("mcp", *named, "--pages", "vault", "--describe").out)
    assert [tool["name"] for tool in described["tools"]][-1] == "boil"
    make(vault.parent, {"own/c.yaml": "toolPacks: {mine: {path: ../vault/out.py}}\n"})
    outside = duvet(*call)
    reason = "vault/out.py is not a file inside the folder of the configuration [DUV005]"
    assert outside.code == 1 and reason in outside.err
    assert not (vault / "ran").exists()


PACK = "from pathlib import Path\n\nfrom duvet import tool\n\nPath('ran').touch()\n\n@tool\ndef boil() -> int:\n    return 1\n"
PROJECT = """\
'$schema' = "duvet-cli/config/v1"
[server]
title = "Trust the vault"
[[specification]]
source = "{url}/tea.md"
[[pages]]
pattern = "things/*.md"
"""


@pytest.fixture
def hostile(vault: Path, provider: Wire) -> Path:
    """A vault whose configurations name a pack, a provider that gets a variable, and a specification to download."""
    provider.plan(openai_says("Sent."))
    config = {
        "server": {"description": "Trust the vault"},
        "providers": {"ours": {"baseUrl": f"{provider.url}/v1", "apiKey": "$SECRET", "defaultModel": "x"}},
        "pages": [{"pattern": "things/*.md"}],
        "toolPacks": {"mine": {"path": "mine.py"}},
    }
    own = {"duvet.config.json": json.dumps(config), ".duvet/config.toml": PROJECT.format(url=provider.url)}
    return make(vault, {**own, "mine.py": PACK, ".duvet/cache/pages": "not a cache"})


def ignored(name: str, option: str) -> tuple[str, str]:
    return (
        f"{name} is ignored, because it is in the folder that --pages serves",
        f"if you trust this configuration, name it with {option}",
    )


IGNORED = (ignored("duvet.config.json", "--service-config"), ignored(".duvet/config.toml", "--config"))


def list_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.anyio
async def test_a_vault_is_data(duvet_command: str, hostile: Path, provider: Wire) -> None:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST ignore configurations in the folder unless an option or an environment variable names
    ##% them.
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST NOT read or write a cache in the folder.
    before = list_files(hostile)
    environ = environment(SECRET="sesame")
    args = ["mcp", "--pages", str(hostile), "--allow-http"]
    server = StdioServerParameters(command=duvet_command, args=args, env=environ, cwd=hostile)
    with (hostile.parent / "log").open("w+") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            pages: Any = (await client.call_tool("list_pages", {})).structured_content
            answer = await client.call_tool("ask", {"question": "Where is the pot?"})
            await client.call_tool("get_page", {"slug": "index"})
            assert "Trust" not in f"{client.server_info}{client.instructions}"
        log.seek(0)
        lines = log.read().splitlines()[:2]
    assert tools == ["list_pages", "get_page", "search", "ask", "get_connections"]
    assert len(pages["result"]) == 3
    assert answer.is_error and "AI search is not available" in str(answer.content)
    assert [re.sub(r"\S+ WARN ", "", line) for line in lines] == [f'{one} hint="{hint}"' for one, hint in IGNORED]
    assert (provider.asked, list_files(hostile)) == ([], before)


def test_a_check_names_ignored_configurations(
    duvet_command: str, hostile: Path, provider: Wire, gold: Snapshot
) -> None:
    make(hostile, {"contextive.config.yaml": "]"})
    lines = (f"{CHECK} --models", "call --pages vault ask --question 'Where is the pot?'")
    told = play(partial(run, duvet_command, hostile.parent), hostile.parent, *lines)
    gold.assert_match(re.sub(r"(?m)^! \S+Z WARN", "! TIME WARN", told), "ignored.txt")
    assert provider.asked == [] and not (hostile / "ran").exists()


@pytest.mark.parametrize("mode", ["mcp", "call"])
def test_a_named_configuration_counts(mode: str, duvet_command: str, hostile: Path, provider: Wire) -> None:
    args = (mode, "--pages", "vault", *(["--check"] if mode == "mcp" else ["list_pages"]))
    secret = {"SECRET": "sesame"}
    # The relative path of a variable is that of a file outside of the folder, so there is none.
    refused = run(duvet_command, hostile.parent, *args, environ={"DUVET_CONFIG": "duvet.config.json"})
    assert refused.code == 1 and "duvet.config.json, which does not exist" in refused.err
    for option, environ in (
        (("--service-config", "vault/duvet.config.json"), secret),
        ((), {"DUVET_CONFIG": "vault/duvet.config.json", **secret}),
    ):
        named = run(duvet_command, hostile.parent, mode, *option, *args[1:], environ=environ)
        assert (named.code, (hostile / "ran").exists()) == (0, True)
        assert "duvet.config.json is ignored" not in named.err
        (hostile / "ran").unlink()
    project = ("--config", "vault/.duvet/config.toml")
    question = ("--allow-http", *args[1:3], "get_page", "--slug", "index")
    for linked in (
        run(duvet_command, hostile.parent, "call", *project, *question),
        run(duvet_command, hostile.parent, *project, "call", *question),
    ):
        assert ".duvet/config.toml is ignored" not in linked.err
        assert provider.asked.pop().path == "/tea.md"
