"""What clients of the server want to read in their configuration."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from duvet.config.find import require_config
from duvet.config.toml_text import one_line_string
from duvet.errors import DuvetError
from duvet.terminal.service_options import PACKS, SERVICE
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say
from duvet.tree.disk import DiskTree

_NAME = "duvet"
"""What the server is called in their files."""


class Command(Struct, frozen=True):
    """How a client starts the server."""

    command: str
    args: tuple[str, ...]


class Client(Struct, frozen=True):
    """A program that starts servers."""

    written: Callable[[Command], str]
    where: str
    """Where it looks for that."""


def print_config(name: str, where: Mapping[str, Any]) -> None:
    """Write what this client has to read to start the server for this project, and say where to put it."""
    given = where["config_path"] or settings().config_path
    require_config(DiskTree(), given)
    client = CLIENTS[name]
    try:
        text = client.written(_command(given, where)).encode()
    except UnicodeEncodeError as error:
        raise DuvetError("the name of this folder is not UTF-8, and a client could not read it") from error
    pour(text)
    if not settings().quiet:
        say(f"put this into {client.where}; where that has other servers already, add this one to them\n")


def _command(config_path: str | None, where: Mapping[str, Any]) -> Command:
    """The very program that runs, in the working directory: a client may start it anywhere, with another path."""
    ##= man/spec/mcp.md#handshake
    ##% What `duvet mcp --print-config` prints MUST start the server for this project, wherever the client runs.
    begun = os.path.abspath(sys.argv[0])
    is_script = os.path.splitext(os.path.basename(begun))[0] == _NAME and os.access(begun, os.X_OK)
    command, *before = [begun] if is_script else [sys.executable, "-m", _NAME]
    return Command(command, (*before, "-C", os.getcwd(), "mcp", *_options(config_path, where)))


def _options(config_path: str | None, where: Mapping[str, Any]) -> Iterator[str]:
    if config_path:
        yield from ("--config-path", config_path)
    if where[SERVICE]:
        yield from ("--config", where[SERVICE])
    for pack in where[PACKS]:
        yield from ("--pack", pack)
    for name in ("offline", "allow_http"):
        if where[name]:
            yield f"--{name.replace('_', '-')}"


def _json(key: str, **more: str) -> Callable[[Command], str]:
    def written(command: Command) -> str:
        server = {**more, "command": command.command, "args": command.args}
        return f"{json.dumps({key: {_NAME: server}}, indent=2, ensure_ascii=False)}\n"

    return written


def _toml(command: Command) -> str:
    args = ", ".join(map(one_line_string, command.args))
    return f"[mcp_servers.{_NAME}]\ncommand = {one_line_string(command.command)}\nargs = [{args}]\n"


CLIENTS = {
    "claude": Client(
        _json("mcpServers"),
        "`.mcp.json` of the project for Claude Code, `claude_desktop_config.json` for Claude Desktop",
    ),
    "vscode": Client(
        _json("servers", type="stdio"), "`.vscode/mcp.json` of the project, or `mcp.json` of your profile"
    ),
    "cursor": Client(_json("mcpServers"), "`.cursor/mcp.json` of the project, or `~/.cursor/mcp.json`"),
    "codex": Client(_toml, "`~/.codex/config.toml`, or `.codex/config.toml` of a project that you trust"),
}
"""By the word that chooses it."""
