"""`duvet mcp --print-config`"""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from duvet.commands.mcp import CLIENTS
from tests.cli.made import make
from tests.cli.running import Run, environment, run, runner
from tests.unit.server.wire import hello

KEYS = {"claude": "mcpServers", "vscode": "servers", "cursor": "mcpServers", "codex": "mcp_servers"}


def parsed(client: str, text: str) -> dict[str, Any]:
    """The server in what is printed for a client, which has nothing else in it."""
    read = tomllib.loads(text) if client == "codex" else json.loads(text)
    assert list(read) == [KEYS[client]]
    assert list(read[KEYS[client]]) == ["duvet"]
    server: dict[str, Any] = read[KEYS[client]]["duvet"]
    return server


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_can_start_it(client: str, duvet: Run, duvet_command: str, kettle: Path) -> None:
    ##= man/spec/mcp.md#handshake
    ##% `duvet mcp --print-config` MUST print a configuration with which a client can start the server for this project
    ##% from any folder.
    done = duvet("mcp", "--print-config", client)
    assert (done.code, done.err) == (
        0,
        f"put this into {CLIENTS[client].where}; where that has other servers already, add this one to them\n",
    )
    server = parsed(client, done.out)
    more = {"type": "stdio"} if client == "vscode" else {}
    assert server == {**more, "command": duvet_command, "args": ["-C", str(kettle), "mcp"]}
    started = subprocess.run(
        [server["command"], *server["args"]],
        cwd="/",
        env=environment(),
        input=json.dumps(hello()).encode() + b"\n",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert json.loads(started.stdout)["result"]["serverInfo"]["name"] == "duvet"


def test_its_options_are_handed_on(duvet: Run, kettle: Path) -> None:
    (kettle / ".duvet/config.toml").rename(kettle / "other.toml")
    options = ["--config-path", "other.toml", "--offline", "--allow-http"]
    done = duvet("-q", "mcp", "--print-config", "cursor", *options)
    assert (done.code, done.err) == (0, "")
    assert parsed("cursor", done.out)["args"] == ["-C", str(kettle), "mcp", *options]
    assert duvet("-q", "--config", "other.toml", "mcp", "--offline", "--allow-http", "--print-config=cursor") == done


@pytest.mark.parametrize("client", CLIENTS)
def test_a_folder_with_any_name(client: str, duvet_command: str, tmp_path: Path) -> None:
    folder = make(tmp_path / 'a "b" \\ c \x7f é', {".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\n"})
    done = runner(duvet_command, folder)("mcp", "--print-config", client)
    assert parsed(client, done.out)["args"][1] == str(folder)


def test_there_has_to_be_a_project(duvet_command: str, tmp_path: Path) -> None:
    done = run(duvet_command, tmp_path, "mcp", "--print-config", "claude")
    assert (done.code, done.out, "no configuration in this folder" in done.err) == (1, "", True)


def test_an_unknown_client(duvet: Run) -> None:
    done = duvet("mcp", "--print-config", "emacs")
    assert (done.code, "'emacs' is not one of 'claude', 'vscode', 'cursor', 'codex'" in done.err) == (2, True)
