"""A server with a tool for maintainers, one that waits, and one that fails in a way that nobody foresaw."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from msgspec import Struct

from duvet.server.live_project import LiveProject
from duvet.server.messages import ServerIdentity, wrap_array
from duvet.server.protocol.server import DuvetServer
from duvet.tools.call_context import CallContext
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry, enable_packs
from duvet.tools.tool import EnabledPack, Pack, QueryTool, Scope, Tool, ToolAnswer

LARGE = "x" * (16 << 20)
"""More than the system holds for somebody who doesn't read."""


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


class Done(Struct, frozen=True):
    """What was done."""

    done: bool


def _mend(asked: Nothing, context: ProjectSnapshot) -> ToolAnswer:
    return ToolAnswer(value=Done(done=True))


MEND = QueryTool(
    name="mend",
    title="Mend",
    description="Changes something.",
    input=Nothing,
    output=Done,
    handler=_mend,
    scope=Scope.MAINTAINER,
)


class GetParams(types.RequestParams):
    path: str = ""


class Waiting:
    """Methods of the tests: one waits until it may answer, one answers a lot, one an array; and a tool that waits."""

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.may_answer = anyio.Event()
        self.given_up = anyio.Event()
        """Once a call of the tool was cancelled."""
        self.at_work = 0
        """Calls of the tool."""

    @property
    def tool(self) -> Tool:
        return Tool(
            name="wait",
            title="Wait",
            description="Waits until it may answer.",
            input=Nothing,
            output=Done,
            handler=self._handle,
        )

    async def _handle(self, asked: Nothing, ctx: CallContext) -> Done:
        self.at_work += 1
        self.asked.set()
        try:
            await self.may_answer.wait()
        except anyio.get_cancelled_exc_class():
            self.given_up.set()
            raise
        finally:
            self.at_work -= 1
        return Done(done=True)

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("tests/wait", types.RequestParams, self._wait)
        server.add_request_handler("tests/large", types.RequestParams, self._large)
        server.add_request_handler("resources/get", GetParams, self._get)

    async def _wait(self, request: ServerRequestContext[Any, Any], params: types.RequestParams) -> dict[str, Any]:
        self.asked.set()
        await self.may_answer.wait()
        return {"waited": True}

    async def _large(self, request: ServerRequestContext[Any, Any], params: types.RequestParams) -> dict[str, Any]:
        return {"text": LARGE}

    async def _get(self, request: ServerRequestContext[Any, Any], params: GetParams) -> dict[str, Any]:
        if params.path == "/told":
            await request.session.report_progress(1, 2)
        return {"id": "one"} if params.path == "/one" else wrap_array([{"id": "ä\n"}, {"id": "two"}])


class Listening:
    """Streams of changes, of which there are none."""

    def __init__(self) -> None:
        self._streams = ListenHandler(InMemorySubscriptionBus())

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self._streams)

    def close_streams(self) -> None:
        self._streams.close()


def server_with(live: LiveProject, waiting: Waiting | None = None) -> DuvetServer:
    """The server over a project, with these."""
    waiting = waiting or Waiting()
    desk = ToolDispatcher(
        Registry([*enable_packs(["trace"]), EnabledPack(Pack("mending", [waiting.tool, MEND]))]), live
    )
    return DuvetServer(ServerIdentity(), "", live, desk, parts=[waiting, Listening()])
