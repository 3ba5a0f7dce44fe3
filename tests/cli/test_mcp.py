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
from tests.cli.command import Run, environment, play, run, runner
from tests.cli.sample_project import PROJECTS, make
from tests.conftest import ROOT
from tests.sample_project import read_files
from tests.unit.server.http.command import Command
from tests.unit.server.stdio_server import hello
from tests.unit.tools.tool_calls import FILES

PROJECT = FILES
PATH = ".duvet/config.toml"
SERVICES = read_files(PROJECTS / "mcp")
GOOD, WITHOUT_TRACE = SERVICES["good.yaml"], SERVICES["no_trace.yaml"]


def test_check_lists_what_the_server_offers(duvet: Run, duvet_command: str, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/service.md#configuration
    ##% `duvet mcp --check` MUST print the path of the service configuration and the tools that the server would offer.
    check = "mcp --check"
    assert run(str(Path(duvet_command).with_name("contextive-mcp")), folder, "--check") == duvet(*check.split())
    told = play(duvet, folder, check, {"duvet.config.yaml": GOOD}, check, f"{check} --http 9999")
    told += play(duvet, folder, {PATH: "x = {"}, check, {PATH: FILES[PATH]}, f"{check} --http 0.0.0.0:9999")
    allowed = f"$ DUVET_READER_TOKEN=secret duvet {check} --http 0.0.0.0:9999 | grep -e http -e secret"
    gold.assert_match(f"{told}\n{play(duvet, folder, allowed)}", "check.txt")


def test_a_folder_without_a_project(duvet_command: str, tmp_path: Path, gold: Snapshot) -> None:
    check = "mcp --check"
    duvet = runner(duvet_command, tmp_path)
    # A command prints the error of a tool, so it isn't logged too.
    logged = "$ duvet -v call coverage_summary 2>&1 | grep -o 'INFO call face=shell '"
    told = play(duvet, tmp_path, check, f"{check} --pack knowledge", "call coverage_summary", logged)
    gold.assert_match(told, "no_project.txt")
    assert run(str(Path(duvet_command).with_name("contextive-mcp")), tmp_path, "--check") == duvet(*check.split())


def test_other_packs_need_no_project(duvet_command: str, tmp_path: Path, gold: Snapshot) -> None:
    ##= man/spec/service.md#packs
    ##% If the configuration disables the pack `trace`, the server MUST NOT offer the prompts and resources of the
    ##% pack, or mention them in its instructions.
    make(tmp_path, {"duvet.config.yaml": WITHOUT_TRACE})
    gold.assert_match(play(runner(duvet_command, tmp_path), tmp_path, "mcp --check"), "no_trace.txt")
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
INVALID = ("server: { mode: htp }", "server: { mode: http, host: 999.1.1.1 }", PROVIDER.format("ftp://example.org"))


@pytest.mark.criterion("core 2.2.4", "core 4.1.4")
def test_all_problems_are_listed_at_once(duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/service.md#configuration
    ##% `duvet mcp --check` MUST fail if a configuration is invalid.
    ##= man/spec/service.md#configuration
    ##% duvet MUST list all problems of a configuration at once, each with its line, column and key path.
    told = ""
    for text in (*INVALID, SERVICES["misnamed.yaml"], SERVICES["wrong.yaml"]):
        told += play(duvet, folder, {"duvet.config.yaml": text}, "mcp --check --pack introspekt") + "\n"
    gold.assert_match(told + play(duvet, folder, "mcp --check", "mcp", "tools"), "problems.txt")


BROKEN_JSON = """{
  // A comment.
  "server": {"log-format": "json"},
  "x"
"""
AS_JSON, AT = "DUVET_SERVER__LOG_FORMAT=json", "duvet.config"
JSON_LOGS = [
    (f"{AT}.yaml", "server: {logFormat: json, port: 0}\ntoolPacks: {x: {}}\n", ""),
    (f"{AT}.yaml", "server:\n  log_format: 'JSON'\n  ]", ""),
    (f"{AT}.json", BROKEN_JSON, ""),
    (f"{AT}.toml", "[server]\nlogFormat = 'json'\nx\n", ""),
    ("x", "", f"{AS_JSON} DUVET_CONFIG=gone.yaml"),
    ("x", "", f"{AS_JSON} DUVET_SERVER__PORT=x"),
    (f"{AT}.yaml", "server: {logFormat: $FORMAT}\n", "FORMAT=json"),
    (f"{AT}.yaml", "server: {}  # logFormat: json\nx: 1\n", ""),
    (f"{AT}.yaml", "server: {logFormat: json}\nx: 1\n", "DUVET_SERVER__LOG_FORMAT=text"),
]


def test_problems_are_json_if_the_log_is(duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/service.md#operations
    ##% With `logFormat: json`, the server MUST print only JSON lines on standard error, even while it starts.
    told = ""
    for name, text, environ in JSON_LOGS:
        told += play(duvet, folder, {name: text}, f"$ {environ} duvet mcp --http 0.0.0.0:1", f"$ rm {name}") + "\n"
    gold.assert_match(re.sub(r'"time": ?"[^"]+"', '"time":"…"', told), "json.txt")


def test_a_workflow_with_a_fault_is_no_tool(duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/service.md#workflows
    ##% The server MUST offer each workflow without errors as the tool `workflow.NAME`.
    bad = "\n  bad:\n    description: x\n    steps: [{ id: s, tool: coverage_sumary }]\n"
    lines = (
        "$ duvet tools 2>/dev/null | grep ^workflow",
        "mcp --check",
        "$ duvet call duvet_health 2>/dev/null | grep -v time",
    )
    gold.assert_match(play(duvet, folder, {"duvet.config.yaml": GOOD.rstrip() + bad}, *lines), "bad_workflow.txt")


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
    said = f"{note}add this to {CLIENTS[client]}; keep any servers that are already there\n"
    assert (done.code, done.err) == (0, said)
    server = parsed(client, done.out)
    more = {"type": "stdio"} if client == "vscode" else {}
    assert server == {**more, "command": duvet_command, "args": ["-C", str(folder), "mcp"]}
    started = run(*[server["command"], Path("/"), *server["args"]], input=json.dumps(hello()).encode() + b"\n")
    assert json.loads(started.out)["result"]["serverInfo"]["name"] == "duvet"


def test_a_client_can_start_it_with_a_pack_and_no_project(duvet_command: str, tmp_path: Path) -> None:
    arguments = ("mcp", "--print-config", "claude")
    refused = run(duvet_command, tmp_path, *arguments)
    assert refused.code == 1 and "no configuration in this folder or above it" in refused.err
    assert run(duvet_command, tmp_path, "pack", "new", "tea").code == 0
    server = parsed("claude", run(duvet_command, tmp_path, *arguments).out)
    assert server == {"command": duvet_command, "args": ["-C", str(tmp_path), "mcp"]}


@pytest.mark.parametrize("words", ["bin/duvet", "bin/python -m duvet"])
def test_a_client_gets_the_path_of_the_program(duvet_command: str, tmp_path: Path, words: str) -> None:
    """Python would import modules from the folder of a client that starts `python -m duvet`."""
    folder = make(tmp_path, {"notes/a.md": "", "notes/msgspec.py": "raise SystemExit(7)"})
    program = shlex.join([os.path.relpath(Path(duvet_command).parent / words.partition("/")[2].split()[0], folder)])
    command = f"{program} {words.partition(' ')[2]} -q mcp --pages notes --print-config claude"
    done = subprocess.run(command, shell=True, cwd=folder, env=environment(), capture_output=True, check=True)
    assert parsed("claude", done.stdout.decode())["command"] == duvet_command


def test_config_may_name_the_configuration_of_the_service(duvet: Run, folder: Path) -> None:
    for name in ("Team.YAML", "x/team.yml", "x/duvet.config.toml", "contextive.config.toml", "team.json"):
        text = "[server]\nname = 'team'\n" if name.endswith(".toml") else '{"server": {"name": "team"}}'
        make(folder, {name: text})
        done = duvet("mcp", "--check", "--service-config", name)
        assert "\nserver         team " in done.out and done.err == ""
        assert duvet("mcp", "--check", "--config", name) == done
    assert duvet("mcp", "--config", name, "--check", "--config-path", PATH) == done
    note = f"note: `--config {name}` is deprecated; use `--service-config {name}`\n"
    assert duvet("-v", "mcp", "--check", "--config", name).err.startswith(note)
    assert duvet("mcp", "--check", "--config", name, "-v").err.startswith(note)
    assert duvet("tools", "--config", name, "validate_citation").code == 0
    assert duvet("backup", "--config", name).err.count("error:") == 1


def test_its_options_are_handed_on(duvet: Run, folder: Path) -> None:
    (folder / PATH).rename(folder / "other.toml")
    options = ["--config", "other.toml", "--offline", "--allow-http"]
    done = duvet("-q", "mcp", "--print-config", "cursor", *options)
    assert (done.code, done.err) == (0, "")
    assert parsed("cursor", done.out)["args"] == ["-C", str(folder), "mcp", *options]
    assert duvet("-q", "mcp", "--print-config", "cursor", "--config-path", *options[1:]) == done
    assert duvet("-q", "--config", "other.toml", "mcp", "--offline", "--allow-http", "--print-config=cursor") == done
