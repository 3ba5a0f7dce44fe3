"""Where every face has its tools called: scope, arguments, limits, failures and accounts of it in one place."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct, field

from duvet.errors import DuvetError
from duvet.tools.checks import check_scope, checked_input
from duvet.tools.ctx import Caller, Ctx, Readings
from duvet.tools.errors import Code, PendingError, ToolError, tool_error
from duvet.tools.guest import LARGEST_OF_OURS, Guests, fitting
from duvet.tools.mistaken import byte_size, mistaken
from duvet.tools.registry import Registry
from duvet.tools.seen import Keeper, Observer, Seen, plain, shown_warning, summary
from duvet.tools.soundness import candid
from duvet.tools.tool import Answer, Question, Tool

DEEPEST = 8
"""Handlers may call tools whose handlers call tools, so many times."""

Closer = Callable[[], Awaitable[None]]


class House(Struct, frozen=True, kw_only=True):
    """What calls happen in."""

    services: Mapping[str, Any] = field(default_factory=dict)
    """What handlers may use, by name."""
    observers: Sequence[Observer] = ()
    """Hear of each call when it is over."""
    keepers: Sequence[Keeper] = ()
    """Write each call down that changes something, before it is answered."""
    measures: Callable[[], bool] = lambda: True
    """Whether anybody wants to know how large calls are that succeed."""
    time_limit: float = 30.0
    """Seconds that a tool of a further pack may take, where it doesn't say."""
    clock: Callable[[], float] = time.perf_counter
    is_worthwhile: Callable[[str], bool] = lambda pack: False
    """Whether the project has anything for a pack that nobody has asked for."""
    closers: Sequence[Closer] = ()
    """Let go of what services hold, when all is over."""
    patience: float = 0.5
    """Seconds for all of them."""


_PLAIN = House()


class Desk:
    """Has tools called, whoever asks."""

    def __init__(self, registry: Registry, readings: Readings, house: House = _PLAIN) -> None:
        self.registry = registry
        self._readings = readings
        self._house = house
        self._guests = Guests(house.clock)

    def renew(self, registry: Registry, house: House) -> None:
        """From the next call on, these tools are called, and in this house."""
        self.registry, self._house = registry, house

    @property
    def house(self) -> House:
        """What calls happen in now."""
        return self._house

    async def tools(self) -> Registry:
        """The tools that are switched on now."""
        await self._readings.caught_up()
        return self.registry

    def shown(self) -> Iterator[Tool]:
        """The tools that a client is told of."""
        return self.registry.with_shown(self._house.is_worthwhile)

    async def call(self, name: str, arguments: Mapping[str, object], caller: Caller) -> Answer:
        """What the tool answers; ToolError where it can't."""
        ##= man/spec/service.md#calls
        ##% A tool MUST answer the same by the protocol, by `/api/mcp` and by `duvet call`.
        return await self.call_tool(await self.require(name, arguments, caller), arguments, caller)

    async def call_tool(self, tool: Tool, arguments: Mapping[str, object], caller: Caller) -> Answer:
        """The same of a tool that has just been required."""
        begun = self._house.clock()
        answer, failure = None, None
        try:
            answer = await self._answered(tool, arguments, caller)
            return answer
        except BaseException as error:
            failure = error
            raise
        finally:
            if self._house.observers or self._house.keepers:
                seen = self._seen(tool, arguments, caller, self._house.clock() - begun, answer, failure)
                self._tell(seen)
                await self._keep(seen)

    async def require(self, name: str, arguments: Mapping[str, object], caller: Caller) -> Tool:
        """The tool that a caller means; ToolError where there is none, and those who hear of calls hear of that, too."""
        tools = await self.tools()
        try:
            return tools.require(name)
        except ToolError as error:
            self._tell(mistaken(name, arguments, caller, error))
            raise

    def _tell(self, seen: Seen) -> None:
        for observer in self._house.observers:
            observer(seen)

    async def _keep(self, seen: Seen) -> None:
        if not seen.changes or not self._house.keepers:
            return
        import anyio

        # What was done was done, be it that the call is cancelled.
        with anyio.CancelScope(shield=True):
            for keeper in self._house.keepers:
                await keeper(seen)

    async def aclose(self) -> None:
        """Let go of what calls have made use of; none comes after this."""
        import anyio

        ##= man/spec/service.md#operations
        ##% A server that ends MUST hang up on those whose models it has asked, and MUST NOT wait long where one can't be
        ##% hung up on.
        with anyio.move_on_after(self._house.patience, shield=True):
            async with anyio.create_task_group() as tasks:
                for close in self._house.closers:
                    tasks.start_soon(_closed, close)

    async def _answered(self, tool: Tool, arguments: Mapping[str, object], caller: Caller) -> Answer:
        check_scope(tool, caller.scopes)
        if len(caller.within) >= DEEPEST:
            ##= man/spec/service.md#calls
            ##% A tool that leads to calls of tools without end MUST be stopped.
            raise ToolError(
                Code.INVALID_REQUEST, f"{tool.name} is called by tools that are called by tools, too deeply"
            )
        try:
            return await self._run(tool, arguments, caller)
        except DuvetError as error:
            raise tool_error(error) from error

    async def _run(self, tool: Tool, arguments: Mapping[str, object], caller: Caller) -> Answer:
        pack = self.registry.pack_of(tool)
        if pack.is_guest:
            return await self._hosted(tool, arguments, self._ctx(tool, caller))
        asked = checked_input(tool, arguments)
        if isinstance(tool, Question):
            handler = tool.handler
            return await self._readings.ask(lambda context: candid(context, lambda: handler(asked, context)))
        value = tool.handler(asked, self._ctx(tool, caller))
        return fitting(tool, await value if inspect.isawaitable(value) else value, LARGEST_OF_OURS)

    def _ctx(self, tool: Tool, caller: Caller) -> Ctx:
        return Ctx(
            tool=tool.name,
            caller=caller,
            readings=self._readings,
            calls=self,
            services=self._house.services,
            settings=self.registry.pack_of(tool).settings,
        )

    async def _hosted(self, tool: Tool, arguments: Mapping[str, object], ctx: Ctx) -> Answer:
        pack = self.registry.pack_of(tool).name
        try:
            return await self._guests.run(pack, tool, arguments, ctx, self._house.time_limit)
        except (ToolError, DuvetError, PendingError):
            raise
        except Exception as error:
            ##= man/spec/service.md#packs
            ##% Whatever a tool of a further pack raises, the caller MUST be told that it failed and nothing of what was
            ##% raised, and the server MUST go on.
            raise ToolError(Code.UPSTREAM_ERROR, f"{tool.name} failed", "the log of the server says why") from error

    def _seen(
        self,
        tool: Tool,
        arguments: Mapping[str, object],
        caller: Caller,
        seconds: float,
        answer: Answer | None,
        failure: BaseException | None,
    ) -> Seen:
        code, reason = _told(failure)
        # To write an answer once more, only to know its size, takes as long as many a tool.
        changes = not tool.only_reads
        measured = failure is not None or changes or self._house.measures()
        return Seen(
            tool=tool.name,
            pack=self.registry.pack_of(tool).name,
            face=caller.face,
            request=caller.request,
            scope=tool.scope.value,
            arguments=summary(arguments) if measured else "",
            seconds=seconds,
            code=code,
            reason=reason,
            bytes_in=byte_size(arguments) if measured else 0,
            bytes_out=byte_size(answer.value) if measured and answer else 0,
            warning=shown_warning(self.registry.pack_of(tool).name, answer.warning) if answer else "",
            changes=changes,
            has_failed=failure is not None or getattr(answer and answer.value, "status", "") == "failure",
            holder=caller.holder,
            scopes=tuple(sorted(caller.scopes)) if changes else (),
            given=plain(arguments, tool.accountable) if changes else {},
        )


async def _closed(close: Closer) -> None:
    # What can't be closed ends with the process.
    with suppress(Exception):
        await close()


def _told(failure: BaseException | None) -> tuple[str, str]:
    match failure:
        case None | PendingError():
            return "", ""
        case ToolError():
            cause = failure.__cause__
            foreseen = cause is None or isinstance(cause, DuvetError)
            return failure.code.value, "" if foreseen else type(cause).__name__
        case Exception():
            return "internal", type(failure).__name__
    return "cancelled", ""
