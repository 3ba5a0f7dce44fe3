"""Whatever a pack from elsewhere does, the server goes on."""

from __future__ import annotations

import threading

import anyio
import pytest
from msgspec import Struct

from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry
from duvet.tools.plugin_runner import MAX_ABANDONED_CALLS, MAX_STUCK_CALLS
from duvet.tools.tool import EnabledPack, Pack, Scope, Tool
from tests.unit.tools.guests import GUESTS, Guesthouse, Said, Stuck, Words, tool

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("name", ["echo", "echo_later"])
async def test_it_answers(context: ProjectSnapshot, name: str) -> None:
    guests = Guesthouse(context, GUESTS, {"before": "> "})
    assert await guests.call(name, words="tea ", times=2) == Said("> tea tea ")
    (seen,) = guests.seen
    assert (seen.tool, seen.pack, seen.face, seen.code, seen.arguments) == (
        name,
        "guests",
        "library",
        "",
        "words=str(4) times=2",
    )
    assert seen.bytes_out == len('{"said":"> tea tea "}')


async def test_it_asks_the_project_and_other_tools(context: ProjectSnapshot) -> None:
    guests = Guesthouse(context, GUESTS)
    assert await guests.call("ask_others") == Said("CoverageSummaryOutput 8 RFC 2324")
    assert guests.heard == [(1, 2, "half")]
    assert [one.tool for one in guests.seen] == ["coverage_summary", "ask_others"]


##= man/spec/service.md#packs
##= type=test
##% When a tool of an installed pack raises an exception, exceeds its time limit, or answers too much or with another
##% type than declared, the server MUST answer with an error without the exception's text, and go on.
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("burst", "RuntimeError"),
        ("leave", "RuntimeError"),
        ("give_up", "RuntimeError"),
        ("time_out", "TimeoutError"),
        ("complain", "ValueError"),
        ("deplore", "TypeError"),
    ],
)
async def test_it_raises(context: ProjectSnapshot, name: str, reason: str) -> None:
    guests = Guesthouse(context, GUESTS)
    told = ("upstream_error", f"{name} failed", "the log of the server says why")
    assert await guests.refusal(name) == told
    assert (guests.seen[-1].code, guests.seen[-1].reason) == ("upstream_error", reason)
    assert await guests.call("echo", words="on") == Said("on")


##= man/spec/service.md#packs
##= type=test
##% When a tool of an installed pack raises an exception, exceeds its time limit, or answers too much or with another
##% type than declared, the server MUST answer with an error without the exception's text, and go on.
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lie", "lie answered something else than it says"),
        ("odd", "odd answered something else than it says"),
        ("huge", "huge answered 5,242,891 bytes, and 4,194,304 are the most"),
    ],
)
async def test_it_answers_what_it_may_not(context: ProjectSnapshot, name: str, message: str) -> None:
    assert await Guesthouse(context, GUESTS).refusal(name) == ("upstream_error", message, "")


##= man/spec/service.md#packs
##= type=test
##% The server MUST refuse further calls of a pack while many of its calls are past their time limit.
async def test_it_never_comes_back(context: ProjectSnapshot) -> None:
    stuck = Stuck()
    guests = Guesthouse(context, [*GUESTS, tool("stuck", stuck)], seconds=0.05)
    for _ in range(MAX_STUCK_CALLS):
        assert await guests.refusal("stuck") == ("upstream_error", "stuck did not answer within 0.05 s", "")
    assert await guests.refusal("stuck") == (
        "upstream_error",
        "stuck does not answer",
        "earlier calls still run; try later",
    )
    assert (await guests.desk.call("coverage_summary", {}, Caller())).value
    stuck.door.set()
    with anyio.fail_after(30):
        while (await guests.refusal_or_value("echo", words="on")) != Said("on"):
            await anyio.lowlevel.checkpoint()


class Watch:
    """A clock that a tool turns."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_an_answer_that_comes_too_late(context: ProjectSnapshot) -> None:
    """The server heard of nothing meanwhile, such as while native code held the interpreter."""
    ##= man/spec/service.md#packs
    ##= type=test
    ##% When a tool of an installed pack raises an exception, exceeds its time limit, or answers too much or with
    ##% another type than declared, the server MUST answer with an error without the exception's text, and go on.
    watch = Watch()

    def hold(asked: Words, ctx: object) -> Said:
        watch.now += asked.times
        return Said("held")

    guests = Guesthouse(context, [tool("hold", hold, time_limit=5)], clock=watch)
    assert await guests.call("hold", times=5) == Said("held")
    assert await guests.refusal("hold", times=6) == ("upstream_error", "hold did not answer within 5 s", "")


async def _cancel(guests: Guesthouse, stuck: Stuck, calls: int) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(calls):
            group.start_soon(guests.call, "stuck")
            await anyio.to_thread.run_sync(stuck.began.acquire, True, 30)
        group.cancel_scope.cancel()


async def test_who_stops_asking_is_not_waited_for(context: ProjectSnapshot) -> None:
    ##= man/spec/service.md#packs
    ##= type=test
    ##% The server MUST refuse further calls of a pack while many of its calls are past their time limit.
    stuck = Stuck()
    guests = Guesthouse(context, [*GUESTS, tool("stuck", stuck)])
    await _cancel(guests, stuck, MAX_STUCK_CALLS)
    assert [one.code for one in guests.seen] == ["cancelled"] * MAX_STUCK_CALLS
    assert await guests.call("echo", words="on") == Said("on")
    await _cancel(guests, stuck, MAX_ABANDONED_CALLS - MAX_STUCK_CALLS)
    assert (await guests.refusal("echo"))[1] == "echo does not answer"
    stuck.door.set()


async def test_what_nobody_waits_for_is_stuck_in_the_end(context: ProjectSnapshot) -> None:
    stuck = Stuck()
    guests = Guesthouse(context, [*GUESTS, tool("stuck", stuck, time_limit=0.5)])
    await _cancel(guests, stuck, MAX_STUCK_CALLS)
    with anyio.fail_after(30):
        while (await guests.refusal_or_value("echo")) != "upstream_error":
            await anyio.lowlevel.checkpoint()
    stuck.door.set()


class Slow(Struct, frozen=True):
    """Code of a pack runs as soon as it is made."""

    def __post_init__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            raise RuntimeError


async def test_records_are_made_apart_from_the_server(context: ProjectSnapshot) -> None:
    one = Tool(name="slow", title="", description="", input=Slow, output=Slow, handler=lambda asked, ctx: asked)
    assert isinstance(await Guesthouse(context, [one]).call("slow"), Slow)


##= man/spec/service.md#calls
##= type=test
##% The server MUST refuse arguments nested deeper than 64 levels, and stop tools that call each other without end.
async def test_it_calls_itself(context: ProjectSnapshot) -> None:
    guests = Guesthouse(context, GUESTS)
    code, message, _ = await guests.refusal("itself")
    assert (code, message) == ("invalid_request", "itself is called by tools that are called by tools, too deeply")
    assert len(guests.seen) == 9


async def test_a_caller_hands_its_scopes_on(context: ProjectSnapshot) -> None:
    def pass_on(asked: object, ctx: object) -> object:
        return ctx.call("write").value  # type: ignore[attr-defined]

    guests = Guesthouse(context, [tool("pass_on", pass_on), tool("write", lambda a, c: Said("w"), Scope.MAINTAINER)])
    assert await guests.call("pass_on") == Said("w")
    with pytest.raises(Exception, match="write needs the scope maintainer"):
        await guests.desk.call("pass_on", {}, Caller(scopes=frozenset([Scope.READER])))


def test_threads_of_guests_keep_no_process(context: ProjectSnapshot) -> None:
    stuck = Stuck()
    guests = Guesthouse(context, [tool("stuck", stuck)], seconds=0.01)
    anyio.run(guests.refusal, "stuck")
    (thread,) = [one for one in threading.enumerate() if one.name.startswith("duvet guest")]
    assert thread.daemon
    stuck.door.set()


def test_a_pack_is_found_by_its_tool() -> None:
    echo = GUESTS[0]
    registry = Registry([EnabledPack(Pack("guests", GUESTS), is_guest=True)])
    assert registry.pack_of(registry.require("echo")).name == "guests" and echo in list(registry)
