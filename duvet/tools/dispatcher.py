"""Dispatches tool calls from every face: scope, arguments, limits, failures, accounts."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct, field

from duvet.errors import DuvetError
from duvet.tools.arguments import check_input, check_scope
from duvet.tools.audit import (
    CallKeeper,
    CallObserver,
    CallRecord,
    escape_tool_name,
    format_warning,
    select_plain_arguments,
    summarize_arguments,
)
from duvet.tools.call_context import CallContext, Caller, ProjectReadings
from duvet.tools.packs import Registry
from duvet.tools.plugin_runner import MAX_OWN_RESULT_BYTES, PluginRunner, check_plugin_answer
from duvet.tools.tool import (
    ErrorCode,
    PendingError,
    QueryTool,
    Tool,
    ToolAnswer,
    ToolError,
    make_tool_error,
    with_error_warning,
)


def make_unknown_tool_record(
    name: str, arguments: Mapping[str, object], caller: Caller, error: ToolError
) -> CallRecord:
    """A call of a tool that isn't there."""
    return CallRecord(
        tool=escape_tool_name(name),
        pack="",
        face=caller.face,
        request=caller.request,
        scope="",
        arguments=summarize_arguments(arguments),
        seconds=0,
        code=error.code.value,
        bytes_in=measure_json(arguments),
        is_known=False,
    )


def measure_json(value: object) -> int:
    """Bytes that it has as JSON; 0 where it is none."""
    try:
        return len(msgspec.json.encode(value))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return 0


MAX_CALL_DEPTH = 8
"""Handlers may call tools whose handlers call tools, so many times."""

CloseCallback = Callable[[], Awaitable[None]]


class ToolEnvironment(Struct, frozen=True, kw_only=True):
    """What calls happen in."""

    services: Mapping[str, Any] = field(default_factory=dict)
    """What handlers may use, by name."""
    observers: Sequence[CallObserver] = ()
    """Hear of each call when it is over."""
    keepers: Sequence[CallKeeper] = ()
    """Write each call down that changes something, before it is answered."""
    measures: Callable[[], bool] = lambda: True
    """Whether anybody wants to know how large calls are that succeed."""
    time_limit: float = 30.0
    """Seconds that a tool of a further pack may take, where it doesn't say."""
    clock: Callable[[], float] = time.perf_counter
    is_worthwhile: Callable[[str], bool] = lambda pack: False
    """Whether the project has anything for a pack that nobody has asked for."""
    closers: Sequence[CloseCallback] = ()
    """Let go of what services hold, when all is over."""
    patience: float = 0.5
    """Seconds for all of them."""


_PLAIN = ToolEnvironment()


class ToolDispatcher:
    """Has tools called, whoever asks."""

    def __init__(self, registry: Registry, readings: ProjectReadings, house: ToolEnvironment = _PLAIN) -> None:
        self.registry = registry
        self._readings = readings
        self._house = house
        self._guests = PluginRunner(house.clock)

    def renew(self, registry: Registry, house: ToolEnvironment) -> None:
        """From the next call on, these tools are called, and in this house."""
        self.registry, self._house = registry, house

    @property
    def house(self) -> ToolEnvironment:
        """What calls happen in now."""
        return self._house

    async def tools(self) -> Registry:
        """The tools that are switched on now."""
        await self._readings.caught_up()
        return self.registry

    def shown(self) -> Iterator[Tool]:
        """The tools that a client is told of."""
        return self.registry.with_shown(self._house.is_worthwhile)

    async def call(self, name: str, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """What the tool answers; ToolError where it can't."""
        ##= man/spec/service.md#calls
        ##% A tool MUST answer the same over MCP, over `/api/mcp` and by `duvet call`, which also finds the tools of
        ##% packs that are off.
        return await self.call_tool(await self.require(name, arguments, caller), arguments, caller)

    async def call_tool(self, tool: Tool, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
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
            self._tell(make_unknown_tool_record(name, arguments, caller, error))
            raise

    def _tell(self, seen: CallRecord) -> None:
        for observer in self._house.observers:
            observer(seen)

    async def _keep(self, seen: CallRecord) -> None:
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

        ##= man/spec/mcp.md#http
        ##% When it is stopped, the server MUST finish or cancel what it is doing and exit with 0 within 5 seconds.
        with anyio.move_on_after(self._house.patience, shield=True):
            async with anyio.create_task_group() as tasks:
                for close in self._house.closers:
                    tasks.start_soon(_closed, close)

    async def _answered(self, tool: Tool, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        check_scope(tool, caller.scopes)
        if len(caller.within) >= MAX_CALL_DEPTH:
            ##= man/spec/service.md#calls
            ##% The server MUST refuse arguments nested deeper than 64 levels, and stop tools that call each other
            ##% without end.
            raise ToolError(
                ErrorCode.INVALID_REQUEST, f"{tool.name} is called by tools that are called by tools, too deeply"
            )
        try:
            return await self._run(tool, arguments, caller)
        except DuvetError as error:
            raise make_tool_error(error) from error

    async def _run(self, tool: Tool, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        pack = self.registry.pack_of(tool)
        if pack.is_guest:
            return await self._hosted(tool, arguments, self._ctx(tool, caller))
        asked = check_input(tool, arguments)
        if isinstance(tool, QueryTool):
            handler = tool.handler
            return await self._readings.ask(
                lambda context: with_error_warning(context, lambda: handler(asked, context))
            )
        value = tool.handler(asked, self._ctx(tool, caller))
        return check_plugin_answer(tool, await value if inspect.isawaitable(value) else value, MAX_OWN_RESULT_BYTES)

    def _ctx(self, tool: Tool, caller: Caller) -> CallContext:
        return CallContext(
            tool=tool.name,
            caller=caller,
            readings=self._readings,
            calls=self,
            services=self._house.services,
            settings=self.registry.pack_of(tool).settings,
        )

    async def _hosted(self, tool: Tool, arguments: Mapping[str, object], ctx: CallContext) -> ToolAnswer:
        pack = self.registry.pack_of(tool).name
        try:
            return await self._guests.run(pack, tool, arguments, ctx, self._house.time_limit)
        except (ToolError, DuvetError, PendingError):
            raise
        except Exception as error:
            ##= man/spec/service.md#packs
            ##% When a tool of an installed pack raises an exception, exceeds its time limit, or answers too much or
            ##% with another type than declared, the server MUST answer with an error without the exception's text, and
            ##% go on.
            raise ToolError(
                ErrorCode.UPSTREAM_ERROR, f"{tool.name} failed", "the log of the server says why"
            ) from error

    def _seen(
        self,
        tool: Tool,
        arguments: Mapping[str, object],
        caller: Caller,
        seconds: float,
        answer: ToolAnswer | None,
        failure: BaseException | None,
    ) -> CallRecord:
        code, reason = _told(failure)
        # To write an answer once more, only to know its size, takes as long as many a tool.
        changes = not tool.only_reads
        measured = failure is not None or changes or self._house.measures()
        return CallRecord(
            tool=tool.name,
            pack=self.registry.pack_of(tool).name,
            face=caller.face,
            request=caller.request,
            scope=tool.scope.value,
            arguments=summarize_arguments(arguments) if measured else "",
            seconds=seconds,
            code=code,
            reason=reason,
            bytes_in=measure_json(arguments) if measured else 0,
            bytes_out=measure_json(answer.value) if measured and answer else 0,
            warning=format_warning(self.registry.pack_of(tool).name, answer.warning) if answer else "",
            changes=changes,
            has_failed=failure is not None or getattr(answer and answer.value, "status", "") == "failure",
            holder=caller.holder,
            scopes=tuple(sorted(caller.scopes)) if changes else (),
            given=select_plain_arguments(arguments, tool.accountable) if changes else {},
        )


async def _closed(close: CloseCallback) -> None:
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
