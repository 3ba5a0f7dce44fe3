"""`prompts/list` and `prompts/get`"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from duvet.prompts import completing
from duvet.prompts.arguments import asked
from duvet.prompts.filling import filled
from duvet.prompts.library import Prompt, described, prompts
from duvet.prompts.system import SYSTEM
from duvet.server.live import Live
from duvet.server.protocol.parts import Request, whole_list
from duvet.tools.context import Context
from duvet.tools.desk import Desk


class Prompts:
    """Serves the prompts, filled with what the project is like when they are asked for."""

    def __init__(self, desk: Desk, live: Live, instructions: Callable[[], str]) -> None:
        self._desk = desk
        self._live = live
        self._instructions = instructions

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, self.get)

    async def list(self, request: Request, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        whole_list(params)
        return types.ListPromptsResult(prompts=[_described(prompt) for prompt in prompts()])

    async def get(self, request: Request, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        wanted = asked(params.name, params.arguments or {})
        # What there is to say about the server needs no project that can be read.
        if wanted.name == SYSTEM:
            text = self._instructions()
        else:
            text = await self._live.ask(lambda context: filled(wanted, context, self._desk.registry))
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=described(wanted.name).description, messages=[message])


def completions(context: Context, argument: str, value: str) -> list[str]:
    """What an argument of a prompt can be that begins so."""
    return completing.completions(context.catalogue, argument, value)


def _described(prompt: Prompt) -> types.Prompt:
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            types.PromptArgument(name=one.name, description=one.description, required=one.required)
            for one in prompt.arguments
        ],
    )
