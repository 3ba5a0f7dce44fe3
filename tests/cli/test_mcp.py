"""`duvet mcp`: `--check`, `--describe`, `--print-config`, and the service configuration."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.commands.mcp import CLIENTS
from tests.cli.command import Done, Run, environment, refuses, run
from tests.cli.sample_project import make
from tests.conftest import ROOT
from tests.unit.server.http.command import Command
from tests.unit.server.stdio_server import hello
from tests.unit.tools.tool_calls import FILES

PROJECT = FILES
GOOD = """
server:
  name: pot
  title: The pot
  version: "3"
  mode: http
  port: 8999
toolPacks:
  introspect: {}
providers:
  local: { baseUrl: "http://127.0.0.1:9/v1", defaultModel: small }
routing:
  brief: { model: local }
workflows:
  audit:
    description: Counts
    steps: [{ id: count, tool: coverage_summary }]
"""


def test_check_lists_what_the_server_offers(duvet: Run, duvet_command: str, folder: Path) -> None:
    ##= man/spec/service.md#configuration
    ##% `duvet mcp --check` MUST print the path of the service configuration and the tools that the server would offer.
    errors = "; 5 errors in the project; results may be incomplete"
    project = f"project        .duvet/config.toml: 8 requirements, 9 citations{errors}"
    server, pack = "server         duvet 0.1.0, stdio", "pack           trace: 13 tools"
    none = [project, "service        no configuration; the defaults apply", server, pack]
    assert duvet("mcp", "--check").out.splitlines()[:5] == [*none, "               validate_citation"]
    assert run(str(Path(duvet_command).with_name("contextive-mcp")), folder, "--check") == duvet("mcp", "--check")
    make(folder, {"duvet.config.yaml": GOOD})
    done = duvet("mcp", "--check")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    server = "server         pot 3, http at 127.0.0.1:8999"
    assert lines[:4] == [project, "service        duvet.config.yaml (found)", server, pack]
    assert lines[17:] == [
        "pack           introspect: 2 tools",
        "               duvet_server_info",
        "               duvet_health",
        "pack           workflows: 1 tool",
        "               workflow.audit",
        "provider       local: kind openai",
        "routing        brief: local",
    ]


def test_a_folder_without_a_project(duvet_command: str, tmp_path: Path) -> None:
    done = run(duvet_command, tmp_path, "mcp", "--check")
    warning = "no configuration in this folder or above it [DUV008]\n --> .duvet/config.toml\n"
    warning += "  = help: create one with `duvet init`\n"
    assert (done.code, done.out.splitlines()[0]) == (0, "project        none; the tools of trace need one")
    assert done.err == f"warning: {warning}"
    assert run(str(Path(duvet_command).with_name("contextive-mcp")), tmp_path, "--check") == done
    more = run(duvet_command, tmp_path, "mcp", "--check", "--pack", "knowledge")
    assert (more.code, more.out.splitlines()[0], more.err) == (0, done.out.splitlines()[0], done.err)
    # A command prints the error of a tool, so it isn't logged too.
    done = run(duvet_command, tmp_path, "call", "coverage_summary")
    assert done == Done(1, "", f"error: {warning}")
    assert " INFO call face=shell " in run(duvet_command, tmp_path, "-v", "call", "coverage_summary").err


WITHOUT_TRACE = """\
toolPacks: { trace: { enabled: false }, introspect: {} }
workflows:
  look:
    description: Look around
    steps: [{ id: info, tool: duvet_server_info }]
    outputs: { name: "${steps.info.result.name}" }
"""
CHECK_WITHOUT_TRACE = """\
project        none
service        duvet.config.yaml (found)
server         duvet 0.1.0, stdio
pack           introspect: 2 tools
               duvet_server_info
               duvet_health
pack           workflows: 1 tool
               workflow.look
"""


def test_other_packs_need_no_project(duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/service.md#packs
    ##% If the configuration disables the pack `trace`, the server MUST NOT offer the prompts and resources of the
    ##% pack, or mention them in its instructions.
    make(tmp_path, {"duvet.config.yaml": WITHOUT_TRACE})
    assert run(duvet_command, tmp_path, "mcp", "--check") == Done(0, CHECK_WITHOUT_TRACE, "")
    health = json.loads(run(duvet_command, tmp_path, "call", "duvet_health").out)
    assert (health["status"], health["problems"]) == ("healthy", [])
    look = json.loads(run(duvet_command, tmp_path, "call", "workflow.look").out)
    assert look["outputs"] == {"name": "duvet"}
    described = json.loads(run(duvet_command, tmp_path, "mcp", "--describe").out)
    assert described["server"]["title"] == "duvet" and described["server"]["description"] == "Tools for agents"
    assert [word for word in ("requirement", "specification") if word in described["instructions"].lower()] == []
    assert (described["resources"], described["resourceTemplates"]) == ([], [])
    # A workflow with a problem is named by the command that needs it.
    make(tmp_path, {"duvet.config.yaml": WITHOUT_TRACE.replace(".result.", ".")})
    failure = run(duvet_command, tmp_path, "call", "workflow.look")
    assert failure.code == 1 and "a workflow was not loaded workflow=look at=outputs.name" in failure.err


PROVIDER = "providers: {{ a: {{ baseUrl: {}, defaultModel: x }} }}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("server: { mode: htp }", "server.mode: unknown variant `htp`"),
        ("server: { mode: http, host: 999.1.1.1 }", "999.1.1.1"),
        (PROVIDER.format("ftp://example.org"), "duvet.config.yaml:1:"),
    ],
)
def test_invalid_configurations(duvet: Run, folder: Path, text: str, message: str) -> None:
    ##= man/spec/service.md#configuration
    ##% `duvet mcp --check` MUST fail if a configuration is invalid.
    make(folder, {"duvet.config.yaml": text})
    code, _, err = duvet("mcp", "--check")
    assert (code, message in err, "Traceback" in err) == (1, True, False), err
    assert ("providers.a.baseUrl" in err) is ("baseUrl" in text)


def test_check_prints_the_address(duvet: Run, duvet_command: str, folder: Path) -> None:
    assert "http at 127.0.0.1:9999" in duvet("mcp", "--check", "--http", "9999").out
    open_to_all = duvet("mcp", "--check", "--http", "0.0.0.0:9999")
    assert (open_to_all.code, "no token is set" in open_to_all.err) == (1, True)
    environ = {"DUVET_READER_TOKEN": "secret"}
    allowed = run(duvet_command, folder, "mcp", "--check", "--http", "0.0.0.0:9999", environ=environ)
    assert (allowed.code, "http at 0.0.0.0:9999" in allowed.out, "secret" in allowed.out) == (0, True, False)
    make(folder, {".duvet/config.toml": "x = {"})
    done = duvet("mcp", "--check")
    assert (done.code, ".duvet/config.toml:1:" in done.err) == (1, True)


MISNAMED = """
toolPacks:
  trase: {}
  trace:
    enabled: true
    tools:
      get_sektion: false
      get_section: true
      zzz: true
  workflows:
    tools: { workflow.awdit: false }
workflows:
  audit:
    description: Counts
    steps: [{ id: count, tool: coverage_summary }]
"""


def test_every_name_that_means_nothing_has_its_place(duvet: Run, folder: Path, gold: Snapshot) -> None:
    make(folder, {"duvet.config.yaml": MISNAMED})
    done = duvet("mcp", "--check", "--pack", "introspekt")
    assert (done.code, done.out) == (1, "")
    gold.assert_match(done.err, "misnamed.txt")


EVERYTHING_WRONG = """\
server: { prot: 3 }
toolPacks:
  nope: {}
  trace: { tools: { get_sektion: false } }
providers:
  away: { baseUrl: "http://model.example", defaultModel: x }
workflows:
  undescribed:
    steps:
      - { id: a, tool: nope }
"""
ALL_PROBLEMS = """\
error: server.prot: unknown field `prot` [DUV002]
 --> duvet.config.yaml:1:11
error: toolPacks.nope: unknown pack "nope" [DUV005]
 --> duvet.config.yaml:3:3
error: toolPacks.trace.tools.get_sektion: the pack trace has no tool "get_sektion" [DUV005]
 --> duvet.config.yaml:4:21
error: providers.away.baseUrl: the `baseUrl` of provider `away` is not https [DUV005]
 --> duvet.config.yaml:6:20
error: workflows.undescribed: missing field `description` [DUV003]
 --> duvet.config.yaml:9:5
error: workflows.undescribed.steps[0].tool: unknown tool "nope" [DUV005]
 --> duvet.config.yaml:10:24
"""


@pytest.mark.criterion("core 2.2.4", "core 4.1.4")
@pytest.mark.parametrize("command", ["mcp --check", "mcp", "tools"])
def test_all_problems_are_listed_at_once(duvet: Run, folder: Path, command: str) -> None:
    ##= man/spec/service.md#configuration
    ##% duvet MUST list all problems of a configuration at once, each with its line, column and key path.
    make(folder, {"duvet.config.yaml": EVERYTHING_WRONG})
    done = duvet(*command.split())
    lines = [line for line in done.err.splitlines() if line.startswith(("error", " -->"))]
    told = "".join(f"{line}\n" for line in lines).replace(", expected one of `name`, `title`,", "")
    assert done.code == 1
    assert re.sub(r"(`prot`).*(?= \[DUV002])", r"\1", told) == ALL_PROBLEMS


BROKEN_JSON = """{
  // A comment.
  "server": {"log-format": "json"},
  "x"
"""
JSON_LOGS: list[tuple[str, str, dict[str, str], list[tuple[str, str]]]] = [
    (
        "duvet.config.yaml",
        "server: {logFormat: json, port: 0}\ntoolPacks: {x: {}}\n",
        {},
        [
            ("duvet.config.yaml:1:33", "server.port: integer `0` is out of range"),
            ("duvet.config.yaml:2:13", 'toolPacks.x: unknown pack "x"'),
        ],
    ),
    (
        "duvet.config.yaml",
        "server:\n  log_format: 'JSON'\n  ]",
        {},
        [("duvet.config.yaml:3:3", "YAML parse error at ")],
    ),
    ("duvet.config.json", BROKEN_JSON, {}, [("duvet.config.json:2:3", "")]),
    ("duvet.config.toml", "[server]\nlogFormat = 'json'\nx\n", {}, [("duvet.config.toml:3:2", "TOML parse error at ")]),
    ("x", "", {"DUVET_SERVER__LOG_FORMAT": "json", "DUVET_CONFIG": "gone.yaml"}, [("", "DUVET_CONFIG points to gone")]),
    ("x", "", {"DUVET_SERVER__LOG_FORMAT": "json", "DUVET_SERVER__PORT": "x"}, [("", "the value of DUVET_SERVER__PO")]),
    ("duvet.config.yaml", "server: {logFormat: $FORMAT}\n", {"FORMAT": "json"}, [("", "other machines can reach")]),
    ("duvet.config.yaml", "server: {}  # logFormat: json\nx: 1\n", {}, []),
    ("duvet.config.yaml", "server: {logFormat: json}\nx: 1\n", {"DUVET_SERVER__LOG_FORMAT": "text"}, []),
]


@pytest.mark.parametrize(("name", "text", "environ", "problems"), JSON_LOGS)
def test_problems_are_json_if_the_log_is(
    duvet: Run, folder: Path, name: str, text: str, environ: dict[str, str], problems: list[tuple[str, str]]
) -> None:
    ##= man/spec/service.md#operations
    ##% With `logFormat: json`, the server MUST print only JSON lines on standard error, even while it starts.
    make(folder, {name: text})
    done = duvet("mcp", "--http", "0.0.0.0:1", environ=environ)
    assert (done.code, done.out) == (1, "")
    if not problems:
        assert done.err.startswith("error: ")
        return
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert [(one["level"], one.get("at", "")) for one in lines] == [("error", place) for place, _ in problems]
    assert all(one["message"].startswith(start) for one, (_, start) in zip(lines, problems, strict=True))


def test_a_workflow_with_a_fault_is_no_tool(duvet: Run, folder: Path) -> None:
    ##= man/spec/service.md#workflows
    ##% The server MUST offer each workflow without errors as the tool `workflow.NAME`.
    bad = "\n  bad:\n    description: x\n    steps: [{ id: s, tool: coverage_sumary }]\n"
    make(folder, {"duvet.config.yaml": GOOD.rstrip() + bad})
    tools = json.loads(duvet("tools", "--format", "json").out)
    assert [row["name"] for row in tools if row["pack"] == "workflows"] == ["workflow.audit"]
    done = duvet("mcp", "--check")
    assert done.code == 1
    assert 'workflows.bad.steps[0].tool: unknown tool "coverage_sumary"' in done.err
    health = json.loads(duvet("call", "duvet_health").out)
    why = ["the workflow bad is invalid: `duvet mcp --check` shows why"]
    assert (health["status"], health["problems"]) == ("degraded", why)
    assert "--> duvet.config.yaml:20:28" in done.err and "did you mean coverage_summary?" in done.err


def test_http_without_a_flag(duvet_command: str, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    make(folder, {"contextive.config.json": json.dumps({"server": {"mode": "http", "port": port}})})
    with Command(duvet_command, folder, address=None) as command:
        assert command.first == f"duvet mcp: serving http://127.0.0.1:{port}/mcp\n"
    done = run(duvet_command, folder, "mcp", "--stdio")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert run(duvet_command, folder, "mcp", "--stdio", "--http", "0").code == 2


@pytest.mark.criterion("core 4.2.4")
def test_the_description_is_pinned(duvet: Run, folder: Path, snapshot: Snapshot) -> None:
    make(folder, {"duvet.config.yaml": GOOD})
    described: dict[str, Any] = json.loads(duvet("mcp", "--describe").out)
    described["instructions"] = described["instructions"].splitlines()[0]
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "server"
    snapshot.assert_match(json.dumps(described, indent=1, ensure_ascii=False) + "\n", "describe.json")


KEYS = {"claude": "mcpServers", "vscode": "servers", "cursor": "mcpServers", "codex": "mcp_servers"}


def parsed(client: str, text: str) -> dict[str, Any]:
    """Return the only server in the configuration printed for a client."""
    read = tomllib.loads(text) if client == "codex" else json.loads(text)
    assert list(read) == [KEYS[client]]
    assert list(read[KEYS[client]]) == ["duvet"]
    return dict(read[KEYS[client]]["duvet"])


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_can_start_it(client: str, duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/mcp.md#connecting
    ##% `duvet mcp --print-config` MUST print a client configuration that can start the server for this project from any
    ##% folder.
    folder = make(tmp_path / 'a "b" \\ c \x7f é', FILES)
    done = run(duvet_command, folder, "mcp", "--print-config", client)
    note = "note: these paths are valid only on this machine; in a file that you commit, use the command `duvet` without -C\n"
    said = f"{note}add this to {CLIENTS[client].where}; keep any servers that are already there\n"
    assert (done.code, done.err) == (0, said)
    server = parsed(client, done.out)
    more = {"type": "stdio"} if client == "vscode" else {}
    assert server == {**more, "command": duvet_command, "args": ["-C", str(folder), "mcp"]}
    started = run(*[server["command"], Path("/"), *server["args"]], input=json.dumps(hello()).encode() + b"\n")
    assert json.loads(started.out)["result"]["serverInfo"]["name"] == "duvet"


def test_a_client_can_start_it_with_a_pack_and_no_project(duvet_command: str, tmp_path: Path) -> None:
    ##= man/spec/mcp.md#connecting
    ##% `duvet mcp --print-config` MUST print a client configuration that can start the server for this project from any
    ##% folder.
    arguments = ("mcp", "--print-config", "claude")
    refused = run(duvet_command, tmp_path, *arguments)
    assert refused.code == 1 and "no configuration in this folder or above it" in refused.err
    assert run(duvet_command, tmp_path, "pack", "new", "tea").code == 0
    server = parsed("claude", run(duvet_command, tmp_path, *arguments).out)
    assert server == {"command": duvet_command, "args": ["-C", str(tmp_path), "mcp"]}


@pytest.mark.parametrize("words", ["bin/duvet", "bin/python -m duvet"])
def test_a_client_gets_the_path_of_the_program(duvet_command: str, tmp_path: Path, words: str) -> None:
    """Python would import modules from the folder of a client that starts `python -m duvet`."""
    ##= man/spec/mcp.md#connecting
    ##% `duvet mcp --print-config` MUST print a client configuration that can start the server for this project from any
    ##% folder.
    folder = make(tmp_path, {"notes/a.md": "", "notes/msgspec.py": "raise SystemExit(7)"})
    program = shlex.join([os.path.relpath(Path(duvet_command).parent / words.partition("/")[2].split()[0], folder)])
    command = f"{program} {words.partition(' ')[2]} -q mcp --pages notes --print-config claude"
    done = subprocess.run(command, shell=True, cwd=folder, env=environment(), capture_output=True, check=True)
    assert parsed("claude", done.stdout.decode())["command"] == duvet_command


@pytest.mark.parametrize(
    "name", ["team.json", "Team.YAML", "x/team.yml", "x/duvet.config.toml", "contextive.config.toml"]
)
def test_config_may_name_the_configuration_of_the_service(name: str, duvet: Run, folder: Path) -> None:
    text = "[server]\nname = 'team'\n" if name.endswith(".toml") else '{"server": {"name": "team"}}'
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    done = duvet("mcp", "--check", "--service-config", name)
    assert "\nserver         team " in done.out and done.err == ""
    assert duvet("mcp", "--check", "--config", name) == done
    if name == "team.json":
        assert duvet("mcp", "--config", name, "--check", "--config-path", ".duvet/config.toml") == done
        note = f"note: `--config {name}` is deprecated; use `--service-config {name}`\n"
        assert duvet("-v", "mcp", "--check", "--config", name).err.startswith(note)
        assert duvet("mcp", "--check", "--config", name, "-v").err.startswith(note)
        assert duvet("tools", "--config", name, "validate_citation").code == 0
        assert duvet("backup", "--config", name).err.count("error:") == 1


@pytest.mark.parametrize("other", ["--config-path=a.toml --config=b.toml", "--service-config=a.json --config=b.json"])
def test_a_configuration_is_named_once(other: str, duvet: Run) -> None:
    first, second = other.split()
    name = first.partition("=")[0]
    message = f"Error: --config and {name} both name a configuration; give only one of them\n"
    refuses(duvet, f"mcp {first} {second}", 2, message)
    refuses(duvet, f"mcp {second} {first}", 2, message)


def test_its_options_are_handed_on(duvet: Run, folder: Path) -> None:
    (folder / ".duvet/config.toml").rename(folder / "other.toml")
    options = ["--config", "other.toml", "--offline", "--allow-http"]
    done = duvet("-q", "mcp", "--print-config", "cursor", *options)
    assert (done.code, done.err) == (0, "")
    assert parsed("cursor", done.out)["args"] == ["-C", str(folder), "mcp", *options]
    assert duvet("-q", "mcp", "--print-config", "cursor", "--config-path", *options[1:]) == done
    assert duvet("-q", "--config", "other.toml", "mcp", "--offline", "--allow-http", "--print-config=cursor") == done
