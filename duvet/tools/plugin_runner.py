"""Runs the handlers of installed packs in threads, with a time limit."""

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
from typing import TYPE_CHECKING, Any, TypeVar

from duvet.errors import DuvetError
from duvet.llm.records import ModelRequest
from duvet.tools.arguments import check_answer, check_input, convert_value, make_text
from duvet.tools.call_context import CallContext
from duvet.tools.tool import ErrorCode, QueryTool, Tool, ToolAnswer, ToolError, make_tool_error

if TYPE_CHECKING:
    from duvet.tools.context import ProjectSnapshot

MAX_STUCK_CALLS = 8  # A pack with this many calls past their time limit is no longer called.
MAX_ABANDONED_CALLS = 64  # Calls of one pack that are still running although nobody waits for them.

Result = TypeVar("Result")
_Outcome = tuple[ToolAnswer | Exception, float]  # The result of a call, and the time when it ended.


class PackContext:
    """The `CallContext` for handlers in threads: each method blocks until it has a result."""

    def __init__(self, ctx: CallContext, loop: asyncio.AbstractEventLoop) -> None:
        self._ctx = ctx
        self._loop = loop
        self.settings: Mapping[str, Any] = ctx.settings  # The configuration of the pack.
        self.scopes = ctx.caller.scopes  # The permissions of the caller.

    def reading(self) -> ProjectSnapshot:
        return self._wait(self._ctx.readings.context())

    def ask(self, question: Callable[[ProjectSnapshot], Result]) -> Result:
        """Return `question(snapshot)`; `question` must be quick, as it blocks the server, and may be called again."""
        return self._wait(self._ctx.readings.ask(question))

    def call(self, name: str, arguments: Mapping[str, object] | None = None) -> ToolAnswer:
        return self._wait(self._ctx.call(name, arguments))

    def model(
        self,
        prompt: str,
        *,
        system: str = "",
        model: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> str:
        """Return a model's answer; `model` is PROVIDER/MODEL, PROVIDER or a task; None means the first usable provider."""
        request = ModelRequest(
            prompt=prompt, system=system, model=model, max_tokens=max_tokens, temperature=temperature
        )
        return self._wait(self._ctx.ask_model(request)).text

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        self._wait(self._ctx.caller.progress(done, total, message))

    def _wait(self, result: Awaitable[Result]) -> Result:
        async def wait() -> Result:
            return await result

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result()


class PluginRunner:
    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._left: Counter[str] = Counter()
        self._stuck: Counter[str] = Counter()

    async def run(
        self, pack: str, tool: Tool, arguments: Mapping[str, object], ctx: CallContext, limit: float
    ) -> ToolAnswer:
        if self._stuck[pack] >= MAX_STUCK_CALLS or self._left[pack] >= MAX_ABANDONED_CALLS:
            hint = "earlier calls of its tools are still running; try again later"
            raise ToolError(ErrorCode.UPSTREAM_ERROR, f"the pack {pack} does not answer", hint)
        loop, begun = asyncio.get_running_loop(), self._clock()
        own = tool.time_limit or limit
        seconds = own if ctx.caller.time_limit is None else min(own, ctx.caller.time_limit)
        ##= man/spec/service.md#packs
        ##% If a tool of an installed pack exceeds its time limit, the server MUST answer with an error.
        late = ToolError(ErrorCode.UPSTREAM_ERROR, f"{tool.name} did not answer within {seconds:g} s")
        context: object = await ctx.readings.context() if isinstance(tool, QueryTool) else PackContext(ctx, loop)
        done = _start_thread(partial(_run_handler, tool, arguments, context), self._clock, loop)
        try:
            async with asyncio.timeout(seconds):
                result, ended = await asyncio.shield(done)
        except TimeoutError:
            self._count_abandoned(pack, done, own - seconds)
            raise late from None
        except asyncio.CancelledError:
            self._count_abandoned(pack, done, own - (self._clock() - begun))
            raise
        if ended - begun > seconds:
            raise late
        if isinstance(result, Exception):
            raise result
        return result

    def _count_abandoned(self, pack: str, done: asyncio.Future[_Outcome], rest: float) -> None:
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


def _run_handler(tool: Tool, arguments: Mapping[str, object], context: object) -> ToolAnswer:
    # Records of other distributions may run code when they are created or encoded.
    request = check_input(tool, arguments)
    try:
        value = tool.handler(request, context)
        if inspect.iscoroutine(value):
            # In a separate event loop, it can't block the server's.
            value = asyncio.run(value)
    except ToolError as error:
        code, details = ErrorCode(error.code), convert_value(tool, error.details)
        raise ToolError(code, make_text(error.message), make_text(error.hint), details) from error.__cause__
    except DuvetError as error:
        raise make_tool_error(error) from error
    return check_answer(tool, value)


def _start_thread(
    work: Callable[[], ToolAnswer], clock: Callable[[], float], loop: asyncio.AbstractEventLoop
) -> asyncio.Future[_Outcome]:
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
        except BaseException as error:  # noqa: BLE001 - the event loop would obey it
            result = RuntimeError(type(error).__name__)
        # The server may have ended.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, (result, clock()))

    Thread(target=copy_context().run, args=(run,), name=f"duvet guest {work!r:.40}", daemon=True).start()
    return done
