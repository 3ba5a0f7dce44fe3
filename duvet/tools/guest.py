"""Runs handlers of packs from elsewhere: in a thread, for a time, and what they answer is looked at."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any, TypeVar

import msgspec

from duvet.tools.context import Context
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.tool import Answer, Page, Question, Tool

LARGEST = 4 << 20
"""Bytes of JSON in an answer."""
LARGEST_OF_OURS = 32 << 20
"""The same of the packs that come with duvet, which cut what is long themselves."""
MOST_STUCK = 8
"""Calls of one pack that may be past their time before it is called no more."""

Result = TypeVar("Result")


class GuestCtx:
    """A `Ctx` for handlers in threads: everything in it waits for its result."""

    def __init__(self, ctx: Ctx, loop: asyncio.AbstractEventLoop) -> None:
        self._ctx = ctx
        self._loop = loop
        self.settings: Mapping[str, Any] = ctx.settings
        """What the configuration says to the pack."""
        self.scopes = ctx.caller.scopes
        """What the caller may do."""

    def reading(self) -> Context:
        """The project as it is now."""
        return self._waited(self._ctx.reading())

    def ask(self, question: Callable[[Context], Result]) -> Result:
        """What the project answers; the question is put between other work of the server, and has to be quick."""
        return self._waited(self._ctx.ask(question))

    def call(self, name: str, arguments: Mapping[str, object] | None = None) -> Answer:
        """What another tool answers to the same caller."""
        return self._waited(self._ctx.call(name, arguments))

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell the caller how far it is."""
        self._waited(self._ctx.progress(done, total, message))

    def _waited(self, what: Awaitable[Result]) -> Result:
        async def wait() -> Result:
            return await what

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result()


class Guests:
    """Keeps account of the calls that don't end."""

    def __init__(self) -> None:
        self._stuck: Counter[str] = Counter()

    async def run(self, pack: str, tool: Tool, asked: object, ctx: Ctx, seconds: float) -> Answer:
        """What the tool answers; ToolError where it fails in whatever way."""
        if self._stuck[pack] >= MOST_STUCK:
            ##= man/spec/service.md#packs
            ##% While many calls of a pack are past their time, further ones MUST be refused.
            raise ToolError(Code.UPSTREAM_ERROR, f"{tool.name} does not answer", "earlier calls still run; try later")
        loop = asyncio.get_running_loop()
        given: object = await ctx.reading() if isinstance(tool, Question) else GuestCtx(ctx, loop)
        done = _in_thread(partial(_run, tool, asked, given), loop)
        try:
            async with asyncio.timeout(seconds):
                value = await asyncio.shield(done)
        except TimeoutError:
            ##= man/spec/service.md#packs
            ##% A tool of a further pack that is not done in time MUST be answered for with an error, and MUST NOT keep
            ##% other calls waiting.
            self._leave(pack, done)
            raise ToolError(Code.UPSTREAM_ERROR, f"{tool.name} did not answer within {seconds:g} s") from None
        except asyncio.CancelledError:
            self._leave(pack, done)
            raise
        return fitting(tool, value)

    def _leave(self, pack: str, done: asyncio.Future[object]) -> None:
        self._stuck[pack] += 1

        def ended(future: asyncio.Future[object]) -> None:
            self._stuck[pack] -= 1
            if not future.cancelled():
                future.exception()

        done.add_done_callback(ended)


def _run(tool: Tool, asked: object, given: object) -> object:
    value = tool.handler(asked, given)
    if inspect.iscoroutine(value):
        # A loop of its own: on that of the server it could keep everybody waiting.
        return asyncio.run(value)
    return value


def _in_thread(work: Callable[[], object], loop: asyncio.AbstractEventLoop) -> asyncio.Future[object]:
    """What the work comes to. Nobody waits for the thread when the process ends."""
    done: asyncio.Future[object] = loop.create_future()

    def settle(value: object, failure: BaseException | None) -> None:
        if done.cancelled():
            return
        if failure is None:
            done.set_result(value)
        else:
            done.set_exception(failure)

    def run() -> None:
        value: object = None
        failure: BaseException | None = None
        try:
            value = work()
        except (KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit) as error:
            # An event loop would take these for something that it is to do itself.
            failure = RuntimeError(type(error).__name__)
        except BaseException as error:  # noqa: BLE001 - handed over
            failure = error
        # The server may have ended.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, value, failure)

    Thread(target=copy_context().run, args=(run,), name=f"duvet guest {work!r:.40}", daemon=True).start()
    return done


def fitting(tool: Tool, value: object, most: int = LARGEST) -> Answer:
    """The answer that a handler meant; ToolError where it is not what the tool says that it answers."""
    answer = value if isinstance(value, Answer) else Answer(value=value)
    try:
        encoded = msgspec.json.encode(answer.value)
        if len(encoded) > most:
            ##= man/spec/service.md#packs
            ##% An answer of a further pack that is too large, or that is not of the declared type, MUST be an error.
            raise ToolError(
                Code.UPSTREAM_ERROR, f"{tool.name} answered {len(encoded):,} bytes, and {most:,} are the most"
            )
        fitted = msgspec.json.decode(encoded, type=tool.output)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise ToolError(Code.UPSTREAM_ERROR, f"{tool.name} answered something else than it says") from error
    page = answer.page if isinstance(answer.page, Page) else Page(len(fitted)) if tool.is_list else None
    next_step, warning = (str(words)[:1000] for words in (answer.next_step, answer.warning))
    return Answer(value=fitted, next_step=next_step, warning=warning, page=page)
