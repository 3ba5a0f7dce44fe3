"""The list of tools, and the help of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.reports.listing import Column, Listing
from duvet.terminal.calling import as_shell_error
from duvet.terminal.listings import pour_list
from duvet.terminal.one_tool import pour_help
from duvet.terminal.reaching import assembly_reaching
from duvet.terminal.service import assembly_of
from duvet.tools.errors import ToolError
from duvet.tools.faces import SHELL

_COLUMNS = (
    Column("name", lambda row: row["name"]),
    Column("pack", lambda row: row["pack"]),
    Column("scope", lambda row: row["scope"]),
    Column("description", lambda row: row["description"], wraps=True),
)


def list_tools(format: str | None, where: Mapping[str, Any]) -> None:
    """Write the tools that are switched on."""
    assembly = assembly_of(where, mode=SHELL)
    registry = assembly.registry
    rows = [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "pack": registry.pack_of(tool).name,
            "scope": tool.scope.value,
            "labels": list(tool.labels),
        }
        for tool in assembly.shown_tools
    ]
    pour_list(Listing(_COLUMNS, rows), format)


def show_tool(name: str, where: Mapping[str, Any]) -> None:
    """Write what a tool takes and answers."""
    registry = assembly_reaching(name, where).registry
    try:
        tool = registry.require(name)
    except ToolError as error:
        raise as_shell_error(error) from error
    pour_help(tool, registry)
