"""`completion/complete`"""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from duvet.server.live import Live
from duvet.server.protocol.parts import Request
from duvet.server.resources.completing import completed

_MOST = 100
"""No more values may be sent."""


class Completions:
    """Completes the variables of templates of resources."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)

    async def complete(self, request: Request, params: types.CompleteRequestParams) -> types.CompleteResult:
        assert isinstance(params.ref, types.ResourceTemplateReference)
        context = await self._live.context()
        given = (params.context and params.context.arguments) or {}
        ##= man/spec/mcp.md#resources
        ##% The variables of the templates MUST be completed from the project, within what is filled in before them.
        found = completed(context, params.ref.uri, params.argument.name, params.argument.value, given)
        values = list(found[:_MOST])
        completion = types.Completion(values=values, total=len(found), has_more=len(found) > len(values))
        return types.CompleteResult(completion=completion)
