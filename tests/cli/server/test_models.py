import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import run
from tests.cli.sample_project import make
from tests.unit.llm.provider_server import Reply, Wire, openai_says, refuses
from tests.unit.llm.test_router_discovery import models
from tests.unit.server.http.command import Command
from tests.unit.tools.tool_calls import FILES

PACK = """
from duvet import PackContext, tool


@tool
def answer(question: str, ctx: PackContext, model: str | None = None) -> str:
    return ctx.model(question, model=model, system=ctx.settings["system"])
"""
LIMITS: dict[str, Any] = {
    "dailyTokens": 100,
    "dailySpend": 5,
    "prices": {name: {"input": 250, "output": 250} for name in ("brief", "embedding", "large")},
}
LLMS = "## Models\n- [small](/small): Quick\n"


def configured(folder: Path, wire: Wire, server: dict[str, Any] | None = None, **section: Any) -> Path:
    config = {
        "server": server or {},
        "providers": {"local": {"baseUrl": f"{wire.url}/v1", "retries": 0, **section}, "off": {"enabled": False}},
        "routing": {"brief": {"model": "local/brief"}},
        "toolPacks": {"questions": {"path": "questions.py", "settings": {"system": "Be brief."}}},
    }
    return make(folder / "project", {**FILES, "questions.py": PACK, "duvet.config.json": json.dumps(config)})


@pytest.mark.criterion("core 2.5.1", "core 2.5.2", "core 2.5.3")
def test_a_tool_of_a_pack_asks_a_model(duvet_command: str, tmp_path: Path, provider: Wire) -> None:
    provider.files = {"/v1/models": models("large", "small"), "/llms.txt": Reply(body=LLMS.encode())}
    provider.plan(openai_says("<think>hm</think>Tea."))
    folder = configured(tmp_path, provider, {"logLevel": "info"}, discover=True, llmsTxt=True)
    with Command(duvet_command, folder) as command, command.client() as client:
        assert client.post_tool("answer", question="What?") == (200, {"result": "Tea."})
        assert client.post_tool("answer", question="What?", model="brief") == (200, {"result": "Tea."})
        for refused, status in {400: 500, 503: 503, 429: 503, 401: 500}.items():
            provider.replies.clear()
            provider.plan(refuses(refused, "no"))
            answered, error = client.post_tool("answer", question="What?", model="local/large")
            assert (answered, error["code"]) == (status, "model_failed")
        _, _, log = command.end()
    asked = [one.body for one in provider.asked if one.method == "POST"]
    # The model that `llms.txt` names, and the one of the route.
    assert [one["model"] for one in asked[:3]] == ["small", "brief", "large"]
    assert asked[0]["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What?"}]
    assert "INFO model provider=local model=small" in log and "tokens_in=12 tokens_out=3\n" in log


@pytest.mark.parametrize("variable", ["HOME", "XDG_STATE_HOME"])
def test_all_processes_count_together(duvet_command: str, tmp_path: Path, provider: Wire, variable: str) -> None:
    ##= man/spec/ask.md#calls
    ##% duvet MUST count the calls of all processes that a user starts in a project towards `dailyTokens` and
    ##% `dailySpend`.
    provider.plan(openai_says("Tea [1]."))
    section = {"baseUrl": f"{provider.url}/v1", "defaultModel": "small", "dailyTokens": 30}
    make(tmp_path, {"c.json": json.dumps({"providers": {"local": section}}), "a/tea.md": "Tea.", "b/tea.md": "Tea."})
    environ = {"DUVET_CONFIG": str(tmp_path / "c.json"), variable: str(tmp_path / "home")}

    def ask(folder: str) -> str:
        return run(duvet_command, tmp_path, "call", "--pages", folder, "ask", "--question", "tea", environ=environ).err

    assert [ask(folder) for folder in ("a", "a", "b")] == ["", "", ""]
    assert "provider `local` has used up its limit for today: 30 of 30 tokens" in ask("a")
    assert ask("b") == ""
    found = list((tmp_path / "home").rglob("*.jsonl"))
    start = "home/.local/state" if variable == "HOME" else "home"
    assert len(found) == 2 and all(path.is_relative_to(tmp_path / start / "duvet/spending") for path in found)


@pytest.mark.criterion("core 2.5.2")
def test_models_are_checked(duvet_command: str, tmp_path: Path, provider: Wire) -> None:
    ##= man/spec/ask.md#discovery
    ##% `duvet mcp --check --models` MUST send a short prompt to at most 20 configured and discovered models of each
    ##% HTTP provider, and print the latency or the error of each model.
    provider.files = {"/v1/models": models("embedding", "large"), "/llms.txt": Reply(body=LLMS.encode())}
    provider.plan(openai_says("yes"), refuses(400, "no chat"), openai_says("yes"))
    folder = configured(tmp_path, provider, discover=True, llmsTxt=True, defaultModel="brief", **LIMITS)
    done = run(duvet_command, folder, "mcp", "--check", "--models")
    lines = [re.sub(r"\d+ ms", "N ms", line) for line in done.out.splitlines() if line[:5] in ("model", "spent")]
    assert (done.code, done.err, lines) == (
        0,
        "",
        [
            "model          local/brief: answered in N ms; the default model",
            "model          local/embedding: provider `local` rejected the request (400): no chat",
            "model          local/large: answered in N ms",
            "spent today    local: 30 of 100 tokens",
            "spent today    local: 0.0075 of 5",
        ],
    )
    provider.replies.clear()
    provider.plan(refuses(401))
    done = run(duvet_command, folder, "mcp", "--check", "--models")
    assert (done.code, done.err.splitlines()[0]) == (1, "error: no model of the provider `local` answered [DUV122]")
    bare = {"providers": {"local": {"baseUrl": f"{provider.url}/v1"}}}
    make(folder, {"duvet.config.json": json.dumps(bare)})
    done = run(duvet_command, folder, "mcp", "--check", "--models")
    assert done.out.endswith("\nmodel          local: no known model; set `providers.local.defaultModel`\n")
    assert run(duvet_command, folder, "mcp", "--models").err.endswith("Error: --models only applies to --check\n")
