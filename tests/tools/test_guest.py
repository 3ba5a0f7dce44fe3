"""Whatever a pack from elsewhere does, the server goes on."""

from __future__ import annotations

import threading

import anyio
import pytest

from duvet.tools.chosen import Chosen
from duvet.tools.context import Context
from duvet.tools.ctx import Caller
from duvet.tools.guest import MOST_STUCK
from duvet.tools.registry import Registry
from duvet.tools.tool import Pack, Scope
from tests.tools.guests import GUESTS, Guesthouse, Said, Stuck, tool

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("name", ["echo", "echo_later"])
async def test_it_answers(context: Context, name: str) -> None:
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


async def test_it_asks_the_project_and_other_tools(context: Context) -> None:
    guests = Guesthouse(context, GUESTS)
    assert await guests.call("ask_others") == Said("Output 8 RFC 2324")
    assert guests.heard == [(1, 2, "half")]
    assert [one.tool for one in guests.seen] == ["coverage_summary", "ask_others"]


##= man/spec/service.md#packs
##= type=test
##% Whatever a tool of a further pack raises, the caller MUST be told that it failed and nothing of what was raised, and the
##% server MUST go on.
@pytest.mark.parametrize(("name", "reason"), [("burst", "RuntimeError"), ("leave", "RuntimeError")])
async def test_it_raises(context: Context, name: str, reason: str) -> None:
    guests = Guesthouse(context, GUESTS)
    told = ("upstream_error", f"{name} failed", "the log of the server says why")
    assert await guests.refusal(name) == told
    assert (guests.seen[-1].code, guests.seen[-1].reason) == ("upstream_error", reason)
    assert await guests.call("echo", words="on") == Said("on")


##= man/spec/service.md#packs
##= type=test
##% An answer of a further pack that is too large, or that is not of the declared type, MUST be an error.
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lie", "lie answered something else than it says"),
        ("odd", "odd answered something else than it says"),
        ("huge", "huge answered 5,242,891 bytes, and 4,194,304 are the most"),
    ],
)
async def test_it_answers_what_it_may_not(context: Context, name: str, message: str) -> None:
    assert await Guesthouse(context, GUESTS).refusal(name) == ("upstream_error", message, "")


##= man/spec/service.md#packs
##= type=test
##% A tool of a further pack that is not done in time MUST be answered for with an error, and MUST NOT keep other calls
##% waiting.
##= man/spec/service.md#packs
##= type=test
##% While many calls of a pack are past their time, further ones MUST be refused.
async def test_it_never_comes_back(context: Context) -> None:
    stuck = Stuck()
    guests = Guesthouse(context, [*GUESTS, tool("stuck", stuck)], seconds=0.05)
    for _ in range(MOST_STUCK):
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


async def test_who_stops_asking_is_not_waited_for(context: Context) -> None:
    stuck = Stuck()
    guests = Guesthouse(context, [tool("stuck", stuck)])
    async with anyio.create_task_group() as group:
        group.start_soon(guests.call, "stuck")
        await anyio.to_thread.run_sync(stuck.began.acquire, True, 30)
        group.cancel_scope.cancel()
    assert [one.code for one in guests.seen] == ["cancelled"]
    stuck.door.set()


##= man/spec/service.md#calls
##= type=test
##% A tool that leads to calls of tools without end MUST be stopped.
async def test_it_calls_itself(context: Context) -> None:
    guests = Guesthouse(context, GUESTS)
    code, message, _ = await guests.refusal("itself")
    assert (code, message) == ("invalid_request", "itself is called by tools that are called by tools, too deeply")
    assert len(guests.seen) == 9


async def test_a_caller_hands_its_scopes_on(context: Context) -> None:
    def pass_on(asked: object, ctx: object) -> object:
        return ctx.call("write").value  # type: ignore[attr-defined]

    guests = Guesthouse(context, [tool("pass_on", pass_on), tool("write", lambda a, c: Said("w"), Scope.MAINTAINER)])
    assert await guests.call("pass_on") == Said("w")
    with pytest.raises(Exception, match="write needs the scope maintainer"):
        await guests.desk.call("pass_on", {}, Caller(scopes=frozenset([Scope.READER])))


def test_threads_of_guests_keep_no_process(context: Context) -> None:
    stuck = Stuck()
    guests = Guesthouse(context, [tool("stuck", stuck)], seconds=0.01)
    anyio.run(guests.refusal, "stuck")
    (thread,) = [one for one in threading.enumerate() if one.name.startswith("duvet guest")]
    assert thread.daemon
    stuck.door.set()


def test_a_pack_is_found_by_its_tool() -> None:
    echo = GUESTS[0]
    registry = Registry([Chosen(Pack("guests", GUESTS), is_guest=True)])
    assert registry.pack_of(registry.require("echo")).name == "guests" and echo in list(registry)
