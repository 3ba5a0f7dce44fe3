"""What tools are called for a client."""

from __future__ import annotations

import re

import mcp_types as types

from duvet.server.protocol.parts import Request
from duvet.tools.tool import Tool

_REFUSES_DOTS = re.compile(
    "claude|anthropic|openai|codex|cursor|vscode|visual studio code|windsurf|gemini", re.IGNORECASE
)
"""Clients that hand names on to models whose tools have letters, digits, `_` and `-` in their names alone."""


def named_for(request: Request, tool: Tool, described: types.Tool) -> types.Tool:
    """The tool by the name that this client can use; it is found by each of them."""
    params = request.session.client_params
    ##= man/spec/service.md#workflows
    ##% A client that is known to refuse dots MUST be shown a workflow as `workflow_NAME`.
    if "." not in tool.name or not tool.aliases or not params or not _REFUSES_DOTS.search(params.client_info.name):
        return described
    return described.model_copy(update={"name": tool.aliases[0]})
