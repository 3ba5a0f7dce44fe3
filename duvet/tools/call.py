"""One call of a tool: its arguments checked, its handler run, every failure told in one way."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from duvet.errors import DuvetError
from duvet.tools.context import Context
from duvet.tools.errors import Code, ToolError, tool_error
from duvet.tools.tool import Answer, Scope, Tool


def call(
    tool: Tool, context: Context, arguments: Mapping[str, object], scopes: frozenset[Scope] = frozenset(Scope)
) -> Answer:
    """What the tool answers to a caller with these scopes; ToolError where it can't."""
    if tool.scope not in scopes:
        raise ToolError(Code.FORBIDDEN, f"{tool.name} needs the scope {tool.scope.value}")
    try:
        return tool.handler(context, _input(tool, arguments))
    except DuvetError as error:
        raise tool_error(error) from error


def _input(tool: Tool, arguments: Mapping[str, object]) -> object:
    try:
        return msgspec.convert(arguments, tool.input)
    except msgspec.ValidationError as error:
        raise ToolError(Code.INVALID_REQUEST, f"Invalid arguments: {error}") from error
