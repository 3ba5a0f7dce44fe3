"""Installed packs with misbehaving tools, and a dispatcher that calls them."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import CallRecord, ToolDispatcher, ToolEnvironment
from duvet.tools.packs import TRACE, Registry
from duvet.tools.plugin_runner import PackContext
from duvet.tools.tool import EnabledPack, Pack, Scope, Tool, ToolAnswer, ToolError
from tests.unit.tools.tool_calls import Fixed


class Words(Struct, frozen=True):
    words: str = ""
    times: int = 1


class Said(Struct, frozen=True):
    said: str


def echo(asked: Words, ctx: PackContext) -> Said:
    return Said(ctx.settings.get("before", "") + asked.words * asked.times)


async def echo_later(asked: Words, ctx: PackContext) -> Said:
    return echo(asked, ctx)


def raising(make: Callable[[], BaseException]) -> Callable[[Words, PackContext], NoReturn]:
    def handler(asked: Words, ctx: PackContext) -> NoReturn:
        raise make()

    return handler


def returning(answer: object) -> Callable[[Words, PackContext], object]:
    return lambda asked, ctx: answer


def ask_others(asked: Words, ctx: PackContext) -> Said:
    found = ctx.call("coverage_summary")
    ctx.progress(1, 2, "half")
    titles = ctx.ask(lambda context: [card.name for card in context.catalogue.specifications])
    return Said(f"{type(found.value).__name__} {len(ctx.reading().catalogue.requirements)} {titles[0]}")


def itself(asked: Words, ctx: PackContext) -> Said:
    ctx.call("itself")
    return Said("")


class Stuck:
    def __init__(self) -> None:
        self.door = threading.Event()
        self.began = threading.Semaphore(0)

    def __call__(self, asked: Words, ctx: PackContext) -> Said:
        self.began.release()
        self.door.wait(30)
        return Said("at last")


def tool(name: str, handler: Any, scope: Scope = Scope.READER, **more: Any) -> Tool:
    texts: Any = {"name": name, "title": name.title(), "description": f"Test of {name}."}
    return Tool(**texts, input=Words, output=Said, handler=handler, scope=scope, **more)


HANDLERS: Mapping[str, Any] = {
    "echo": echo,
    "echo_later": echo_later,
    "ask_others": ask_others,
    "itself": itself,
    "burst": raising(lambda: RuntimeError("secret of /etc/passwd")),
    "give_up": raising(asyncio.CancelledError),
    "time_out": raising(TimeoutError),
    "complain": raising(lambda: ToolError("what", object())),  # type: ignore[arg-type]
    "deplore": raising(lambda: DuvetError("no", path=5)),  # type: ignore[arg-type]
    "leave": raising(lambda: SystemExit("secret")),
    "lie": returning({"sayd": 5}),
    "odd": returning(ToolAnswer(value=object())),
    "huge": returning(Said("x" * (5 << 20))),
}
GUESTS = [tool(name, handler) for name, handler in HANDLERS.items()]


class Guesthouse:
    def __init__(
        self,
        context: ProjectSnapshot,
        tools: Sequence[Tool],
        settings: Mapping[str, Any] | None = None,
        seconds: float = 30,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.seen: list[CallRecord] = []
        self.heard: list[tuple[float, float | None, str]] = []
        pack = EnabledPack(Pack("guests", tools), settings=settings or {}, is_guest=True)
        house = ToolEnvironment(observers=[self.seen.append], time_limit=seconds, clock=clock)
        self.desk = ToolDispatcher(Registry([EnabledPack(TRACE), pack]), Fixed(context), house)

    async def call(self, name: str, **arguments: object) -> object:
        return (await self.desk.call(name, arguments, Caller(progress=self._hear))).value

    async def answer(self, name: str, **arguments: object) -> Any:
        """Return the answer of a tool, or the code, message and hint of its refusal."""
        try:
            return await self.call(name, **arguments)
        except ToolError as error:
            return error.code.value, error.message, error.hint

    async def _hear(self, done: float, total: float | None, message: str) -> None:
        self.heard.append((done, total, message))
