"""The line to a gateway: within its time, of a bounded size, tried again where that is safe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import json

from duvet.llm.clock import Clock, SystemClock
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.gateway.gateway import URL, Gateway
from duvet.tools.gateway.replies import PassingError, Reply, answer_in
from duvet.tools.tool import Answer, Tool
from duvet.version import VERSION

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

PATH = "/api/mcp"
AUDIENCE = "x-duvet-audience"
"""The header that says for whom an answer is."""
MOST_BYTES = 32 << 20
"""So large an answer may be: so large one of our own may be, too."""
LONGEST_WORK = 1800.0
"""Seconds that a tool may take that changes something."""
_PAUSES = (0.2, 0.6)


class Line:
    """Has tools called there; its connections stay open until it is closed."""

    def __init__(self, gateway: Gateway, seconds: float, clock: Clock | None = None) -> None:
        """So many seconds a tool may take that only reads, with all that is tried again."""
        self.gateway = gateway
        self.seconds = seconds
        self._clock = clock or SystemClock()
        self._found: AsyncClient | None = None

    async def call(self, tool: Tool, given: Mapping[str, Any], ctx: Ctx) -> Answer:
        """What the tool answers there; ToolError where it doesn't."""
        import anyio

        seconds = self.seconds if tool.only_reads else max(self.seconds, LONGEST_WORK)
        ##= man/spec/gateway.md#access
        ##% A call that is forwarded MUST be over within `server.toolTimeout`, with all that is tried again, and one that
        ##% changes something within 30 minutes.
        with anyio.move_on_after(seconds):
            return await self._tried(tool, self._body(tool, given), ctx)
        hint = "try again later" if tool.only_reads else "the server may still be at it: ask it before you try again"
        raise ToolError(Code.UPSTREAM_ERROR, f"the gateway has not answered within {seconds:g} seconds", hint)

    async def aclose(self) -> None:
        """Hang up."""
        found, self._found = self._found, None
        if found is not None:
            await found.aclose()

    async def _tried(self, tool: Tool, body: bytes, ctx: Ctx) -> Answer:
        ##= man/spec/gateway.md#access
        ##% A call of a tool that only reads MUST be tried again, twice, where the gateway can't be reached or answers with
        ##% 502, 503 or 504 for now; a call of any other tool MUST be sent once.
        for pause in _PAUSES if tool.only_reads else ():
            try:
                return answer_in(await self._sent(tool, body, ctx), tool, self.gateway)
            except PassingError:
                await self._clock.sleep(pause)
        return answer_in(await self._sent(tool, body, ctx), tool, self.gateway)

    async def _sent(self, tool: Tool, body: bytes, ctx: Ctx) -> Reply:
        import httpx2

        token = self.gateway.token(tool.scope)
        shown = {} if token is None else {"authorization": f"Bearer {token.reveal()}"}
        headers = {"content-type": "application/json", AUDIENCE: ctx.caller.audience, **shown}
        try:
            request = self._client.build_request("POST", f"{self.gateway.base}{PATH}", headers=headers, content=body)
            response = await self._client.send(request, stream=True, follow_redirects=False)
            try:
                return await _read(response)
            finally:
                await response.aclose()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            # What the client says of it may quote what was sent.
            message = f"the gateway can't be reached: {type(error).__name__}"
            raise PassingError(Code.UPSTREAM_ERROR, message, f"is {URL} right, and the server up?") from None

    def _body(self, tool: Tool, given: Mapping[str, Any]) -> bytes:
        return json.encode({"tool": tool.name, "input": given})

    @property
    def _client(self) -> AsyncClient:
        import httpx2

        if self._found is None:
            headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": f"duvet/{VERSION}"}
            # To this machine nothing goes through a proxy, which would see the token. The call has a limit as a whole.
            self._found = httpx2.AsyncClient(
                headers=headers, timeout=None, follow_redirects=False, trust_env=not self.gateway.is_local
            )
        return self._found


async def _read(response: Response) -> Reply:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        message = "the gateway answers compressed, which it was not asked for"
        raise ToolError(Code.UPSTREAM_ERROR, message, "does something stand between it and here?")
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        ##= man/spec/gateway.md#access
        ##% An answer of a gateway that has more than 32 MiB MUST be an error.
        if len(data) > MOST_BYTES:
            message = f"the gateway answers more than {MOST_BYTES:,} bytes"
            raise ToolError(Code.UPSTREAM_ERROR, message, "ask for less, such as by `limit`")
    return Reply(response.status_code, response.headers.get("retry-after", ""), bytes(data))
