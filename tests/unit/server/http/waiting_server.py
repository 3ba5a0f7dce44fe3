"""A server with tools and methods that wait, and with methods that return large answers or arrays."""

from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from msgspec import Struct

from duvet.server.live_project import LiveProject
from duvet.server.messages import ARRAY_KEY
from duvet.server.protocol.server import DuvetServer
from duvet.tools.call_context import CallContext
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry, enable_packs
from duvet.tools.tool import EnabledPack, Pack, QueryTool, Scope, Tool, ToolAnswer
from tests.unit.server.servers import server_of

LARGE = "x" * (16 << 20)  # More than the system buffers for a client that does not read.

Request = ServerRequestContext[Any, Any]


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """A record without fields, for no arguments."""


class Done(Struct, frozen=True):
    done: bool


def _fix(asked: Nothing, context: ProjectSnapshot) -> ToolAnswer:
    return ToolAnswer(value=Done(done=True))


FIX = QueryTool(
    name="fix", title="Fix", description="Fixes.", input=Nothing, output=Done, handler=_fix, scope=Scope.MAINTAINER
)


class GetParams(types.RequestParams):
    path: str = ""


class Waiting:
    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.may_answer = anyio.Event()
        self.given_up = anyio.Event()  # Set once a call of the tool was cancelled.
        self.at_work = 0  # Open calls of the tool.
        self.audience = ""  # The interface of the last caller of the tool.

    @property
    def tool(self) -> Tool:
        about = "Waits until it may answer."
        return Tool(name="wait", title="Wait", description=about, input=Nothing, output=Done, handler=self._handle)

    async def _handle(self, asked: Nothing, ctx: CallContext) -> Done:
        self.at_work += 1
        self.audience = ctx.caller.audience
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

    async def _wait(self, request: Request, params: types.RequestParams) -> dict[str, Any]:
        self.asked.set()
        await self.may_answer.wait()
        return {"waited": True}

    async def _large(self, request: Request, params: types.RequestParams) -> dict[str, Any]:
        return {"text": LARGE}

    async def _get(self, request: Request, params: GetParams) -> dict[str, Any]:
        if params.path == "/progress":
            await request.session.report_progress(1, 2)
        return {ARRAY_KEY: [{"id": "ä\n"}, {"id": "two"}]}


def waiting_server(live: LiveProject, waiting: Waiting) -> DuvetServer:
    registry = Registry([*enable_packs(["trace"]), EnabledPack(Pack("waiting", [waiting.tool, FIX]))])
    return server_of(live, registry, instructions="", parts=[waiting])
