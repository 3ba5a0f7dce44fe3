"""Runs handlers of plugin packs in threads, with a time limit."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import msgspec

from duvet.errors import DuvetError
from duvet.tools.arguments import check_input
from duvet.tools.call_context import CallContext
from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import ErrorCode, QueryTool, ResultPage, Tool, ToolAnswer, ToolError, make_tool_error

MAX_PLUGIN_RESULT_BYTES = 4 << 20
"""Bytes of JSON in an answer."""
MAX_OWN_RESULT_BYTES = 32 << 20
"""The same of the packs that come with duvet, which cut what is long themselves."""
MAX_STUCK_CALLS = 8
"""Calls of one pack that may be past their time before it is called no more."""
MAX_ABANDONED_CALLS = 64
"""Calls of one pack that may run on with nobody waiting for them."""
_LONGEST = 1000

Result = TypeVar("Result")


class PluginCallContext:
    """A `Ctx` for handlers in threads: everything in it waits for its result."""

    def __init__(self, ctx: CallContext, loop: asyncio.AbstractEventLoop) -> None:
        self._ctx = ctx
        self._loop = loop
        self.settings: Mapping[str, Any] = ctx.settings
        """What the configuration says to the pack."""
        self.scopes = ctx.caller.scopes
        """What the caller may do."""

    def reading(self) -> ProjectSnapshot:
        """The project as it is now."""
        return self._waited(self._ctx.reading())

    def ask(self, question: Callable[[ProjectSnapshot], Result]) -> Result:
        """What the project answers; the question is put between other work of the server, and has to be quick."""
        return self._waited(self._ctx.ask(question))

    def call(self, name: str, arguments: Mapping[str, object] | None = None) -> ToolAnswer:
        """What another tool answers to the same caller."""
        return self._waited(self._ctx.call(name, arguments))

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell the caller how far it is."""
        self._waited(self._ctx.progress(done, total, message))

    def _waited(self, what: Awaitable[Result]) -> Result:
        async def wait() -> Result:
            return await what

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result()


class PluginRunner:
    """Keeps account of the calls that nobody waits for any more."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._left: Counter[str] = Counter()
        self._stuck: Counter[str] = Counter()

    async def run(
        self, pack: str, tool: Tool, arguments: Mapping[str, object], ctx: CallContext, limit: float
    ) -> ToolAnswer:
        """What the tool answers; ToolError where it fails in whatever way. The limit is for those that name none."""
        if self._stuck[pack] >= MAX_STUCK_CALLS or self._left[pack] >= MAX_ABANDONED_CALLS:
            ##= man/spec/service.md#packs
            ##% The server MUST refuse further calls of a pack while many of its calls are past their time limit.
            raise ToolError(
                ErrorCode.UPSTREAM_ERROR, f"{tool.name} does not answer", "earlier calls still run; try later"
            )
        loop, begun = asyncio.get_running_loop(), self._clock()
        own = tool.time_limit or limit
        seconds = own if ctx.caller.time_limit is None else min(own, ctx.caller.time_limit)
        given: object = await ctx.reading() if isinstance(tool, QueryTool) else PluginCallContext(ctx, loop)
        done = _in_thread(partial(_run, tool, arguments, given), self._clock, loop)
        try:
            async with asyncio.timeout(seconds):
                outcome = await asyncio.shield(done)
        except TimeoutError:
            self._leave(pack, done, own - seconds)
            raise _late(tool, seconds) from None
        except asyncio.CancelledError:
            self._leave(pack, done, own - (self._clock() - begun))
            raise
        if outcome.ended - begun > seconds:
            raise _late(tool, seconds)
        return outcome.answer()

    def _leave(self, pack: str, done: asyncio.Future[_Outcome], rest: float) -> None:
        """Nobody waits for it, but it is stuck only once the rest of its own time is over."""
        self._left[pack] += 1

        def stick() -> None:
            self._stuck[pack] += 1
            done.add_done_callback(lambda _: self._stuck.subtract([pack]))

        done.add_done_callback(lambda _: self._left.subtract([pack]))
        if rest > 0:
            timer = done.get_loop().call_later(rest, stick)
            done.add_done_callback(lambda _: timer.cancel())
        else:
            stick()


def _late(tool: Tool, seconds: float) -> ToolError:
    ##= man/spec/service.md#packs
    ##% When a tool of an installed pack raises an exception, exceeds its time limit, or answers too much or with
    ##% another type than declared, the server MUST answer with an error without the exception's text, and go on.
    return ToolError(ErrorCode.UPSTREAM_ERROR, f"{tool.name} did not answer within {seconds:g} s")


class _Outcome(NamedTuple):
    """What a call came to, and when."""

    result: ToolAnswer | Exception
    ended: float

    def answer(self) -> ToolAnswer:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def _run(tool: Tool, arguments: Mapping[str, object], given: object) -> ToolAnswer:
    # Records, too, may have code that runs when they are made or written.
    asked = check_input(tool, arguments)
    try:
        value = tool.handler(asked, given)
        if inspect.iscoroutine(value):
            # A loop of its own: on that of the server it could keep everybody waiting.
            value = asyncio.run(value)
    except ToolError as error:
        told = _words(error.message), _words(error.hint), _plain(tool, error.details)
        raise ToolError(ErrorCode(error.code), *told) from error.__cause__
    except DuvetError as error:
        raise make_tool_error(error) from error
    return check_plugin_answer(tool, value)


def _words(text: object) -> str:
    """What a guest says, as something that can be sent."""
    return str(text).encode(errors="replace").decode()[:_LONGEST]


def _in_thread(
    work: Callable[[], ToolAnswer], clock: Callable[[], float], loop: asyncio.AbstractEventLoop
) -> asyncio.Future[_Outcome]:
    """What the work comes to. Nobody waits for the thread when the process ends."""
    done: asyncio.Future[_Outcome] = loop.create_future()

    def settle(outcome: _Outcome) -> None:
        if not done.cancelled():
            done.set_result(outcome)

    def run() -> None:
        result: ToolAnswer | Exception
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - handed over
            result = error
        except BaseException as error:  # noqa: BLE001 - an event loop would take it for something that it is to do
            result = RuntimeError(type(error).__name__)
        # The server may have ended.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, _Outcome(result, clock()))

    Thread(target=copy_context().run, args=(run,), name=f"duvet guest {work!r:.40}", daemon=True).start()
    return done


def check_plugin_answer(tool: Tool, value: object, most: int = MAX_PLUGIN_RESULT_BYTES) -> ToolAnswer:
    """The answer that a handler meant; ToolError where it is not what the tool says that it answers."""
    answer = value if isinstance(value, ToolAnswer) else ToolAnswer(value=value)
    fitted: Any = _plain(tool, answer.value, tool.output, most)
    given = answer.page
    page = (
        _plain(tool, given, ResultPage)
        if isinstance(given, ResultPage)
        else ResultPage(len(fitted))
        if tool.is_list
        else None
    )
    next_step, warning = _words(answer.next_step), _words(answer.warning)
    return ToolAnswer(value=fitted, next_step=next_step, warning=warning, page=page if tool.is_list else None)


def _plain(tool: Tool, value: object, kind: Any = Any, most: int = MAX_PLUGIN_RESULT_BYTES) -> Any:
    """The value as JSON has it, of this type."""
    try:
        encoded = msgspec.json.encode(value)
        if len(encoded) > most:
            raise ToolError(
                ErrorCode.UPSTREAM_ERROR, f"{tool.name} answered {len(encoded):,} bytes, and {most:,} are the most"
            )
        return msgspec.json.decode(encoded, type=kind)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise ToolError(ErrorCode.UPSTREAM_ERROR, f"{tool.name} answered something else than it says") from error
