"""Servers with tools that fail, and with projects that take their time."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import anyio
from msgspec import Struct

from duvet.server.live_project import LiveProject
from duvet.server.messages import ServerIdentity
from duvet.server.protocol.server import DuvetServer
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from duvet.tools.tool import EnabledPack, ErrorCode, Pack, QueryTool, ResultPage, Scope, ToolAnswer, ToolError
from tests.unit.server.conftest import INSTRUCTIONS, PAGE_SIZE
from tests.unit.server.opened import opened


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    number: int
    note: str | None = None


class Twice(Struct, frozen=True):
    number: int


def twice(asked: Input, context: ProjectSnapshot) -> ToolAnswer:
    return ToolAnswer(value=Twice(2 * asked.number), next_step="Double it again.")


def numbers(asked: Input, context: ProjectSnapshot) -> ToolAnswer:
    return ToolAnswer(value=(Twice(asked.number),), page=ResultPage(asked.number, "more"))


def refuse(asked: Input, context: ProjectSnapshot) -> NoReturn:
    raise ToolError(ErrorCode.UNSUPPORTED_OPERATION, "not today", "come back tomorrow")


def burst(asked: Input, context: ProjectSnapshot) -> NoReturn:
    raise RuntimeError("secret of /etc/passwd")


def _tool(name: str, handler: object, output: object, scope: Scope = Scope.READER) -> QueryTool:
    return QueryTool(
        name=name,
        title=name.title(),
        description=f"Test of {name}.",
        input=Input,
        output=output,
        handler=handler,  # type: ignore[arg-type]
        scope=scope,
    )


TOOLS = (
    _tool("twice", twice, Twice),
    _tool("numbers", numbers, tuple[Twice, ...]),
    _tool("refuse", refuse, Twice),
    _tool("burst", burst, Twice),
    _tool("repair", twice, Twice, Scope.MAINTAINER),
)


class Slow(LiveProject):
    """Knows the project once it is told to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(lambda: opened(folder), PAGE_SIZE)
        self.asked = 0
        self.door = anyio.Event()

    async def context(self) -> ProjectSnapshot:
        self.asked += 1
        await self.door.wait()
        return await super().context()


def made(live: LiveProject, identity: ServerIdentity = ServerIdentity()) -> DuvetServer:  # noqa: B008 - frozen
    """A server with these tools."""
    return DuvetServer(identity, INSTRUCTIONS, live, ToolDispatcher(Registry([EnabledPack(Pack("made", TOOLS))]), live))


def live_of(folder: Path) -> LiveProject:
    return LiveProject(lambda: opened(folder), PAGE_SIZE)
