"""`completion/complete`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from duvet.server.live import Live
from duvet.server.protocol.parts import Request
from duvet.server.protocol.prompts import completions
from duvet.server.resources.completing import completed
from duvet.tools.context import Context

_MOST = 100
"""No more values may be sent."""


class Completions:
    """Completes the variables of templates of resources, and the arguments of prompts."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)

    async def complete(self, request: Request, params: types.CompleteRequestParams) -> types.CompleteResult:
        found = await self._live.ask(lambda context: self._values(context, params))
        values = list(found[:_MOST])
        completion = types.Completion(values=values, total=len(found), has_more=len(found) > len(values))
        return types.CompleteResult(completion=completion)

    def _values(self, context: Context, params: types.CompleteRequestParams) -> Sequence[str]:
        asked = params.argument
        if isinstance(params.ref, types.PromptReference):
            # Arguments of one name mean the same in every prompt, and what no prompt asks for has no completions.
            return completions(context, asked.name, asked.value)
        given = (params.context and params.context.arguments) or {}
        ##= man/spec/mcp.md#resources
        ##% The variables of the templates MUST be completed from the project, within what is filled in before them.
        return completed(context, params.ref.uri, asked.name, asked.value, given)
