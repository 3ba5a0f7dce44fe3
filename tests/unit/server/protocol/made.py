"""Servers with tools that fail, and with projects that take their time."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import anyio
from msgspec import Struct

from duvet.server.identity import Identity
from duvet.server.live import Live
from duvet.server.protocol.server import DuvetServer
from duvet.tools.chosen import Chosen
from duvet.tools.context import Context
from duvet.tools.desk import Desk
from duvet.tools.errors import Code, ToolError
from duvet.tools.registry import Registry
from duvet.tools.tool import Answer, Pack, Page, Question, Scope
from tests.unit.server.conftest import INSTRUCTIONS, PAGE_SIZE
from tests.unit.server.opened import opened


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    number: int
    note: str | None = None


class Twice(Struct, frozen=True):
    number: int


def twice(asked: Input, context: Context) -> Answer:
    return Answer(value=Twice(2 * asked.number), next_step="Double it again.")


def numbers(asked: Input, context: Context) -> Answer:
    return Answer(value=(Twice(asked.number),), page=Page(asked.number, "more"))


def refuse(asked: Input, context: Context) -> NoReturn:
    raise ToolError(Code.UNSUPPORTED_OPERATION, "not today", "come back tomorrow")


def burst(asked: Input, context: Context) -> NoReturn:
    raise RuntimeError("secret of /etc/passwd")


def _tool(name: str, handler: object, output: object, scope: Scope = Scope.READER) -> Question:
    return Question(
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


class Slow(Live):
    """Knows the project once it is told to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(lambda: opened(folder), PAGE_SIZE)
        self.asked = 0
        self.door = anyio.Event()

    async def context(self) -> Context:
        self.asked += 1
        await self.door.wait()
        return await super().context()


def made(live: Live, identity: Identity = Identity()) -> DuvetServer:  # noqa: B008 - frozen
    """A server with these tools."""
    return DuvetServer(identity, INSTRUCTIONS, live, Desk(Registry([Chosen(Pack("made", TOOLS))]), live))


def live_of(folder: Path) -> Live:
    return Live(lambda: opened(folder), PAGE_SIZE)
