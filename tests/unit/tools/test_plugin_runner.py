import threading

import anyio
import pytest
from msgspec import Struct
from pytest_snapshot.plugin import Snapshot

from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.plugin_runner import MAX_ABANDONED_CALLS, MAX_STUCK_CALLS
from duvet.tools.tool import Scope, Tool
from tests.unit.tools.guests import GUESTS, Guesthouse, Said, Stuck, Words, tool

pytestmark = pytest.mark.anyio


async def _cancel(guests: Guesthouse, stuck: Stuck, calls: int) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(calls):
            group.start_soon(guests.call, "stuck")
            await anyio.to_thread.run_sync(stuck.began.acquire, True, 30)
        group.cancel_scope.cancel()


async def test_cancelled_calls_are_not_waited_for_and_their_number_is_limited(context: ProjectSnapshot) -> None:
    stuck = Stuck()
    guests = Guesthouse(context, [*GUESTS, tool("stuck", stuck)])
    await _cancel(guests, stuck, MAX_STUCK_CALLS)
    assert [one.code for one in guests.seen] == ["cancelled"] * MAX_STUCK_CALLS
    assert await guests.call("echo", words="on") == Said("on")
    await _cancel(guests, stuck, MAX_ABANDONED_CALLS - MAX_STUCK_CALLS)
    assert (await guests.answer("echo"))[1] == "the pack guests does not answer"
    stuck.door.set()
    # A cancelled call past its time limit is stuck.
    stuck = Stuck()
    guests = Guesthouse(context, [*GUESTS, tool("stuck", stuck, time_limit=0.5)])
    await _cancel(guests, stuck, MAX_STUCK_CALLS)
    with anyio.fail_after(30):
        while (await guests.answer("echo")) == Said(""):
            await anyio.lowlevel.checkpoint()
    stuck.door.set()


class Slow(Struct, frozen=True):
    """A record that runs code of the pack when it is created."""

    def __post_init__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            raise RuntimeError


async def test_records_are_made_in_a_thread_of_the_pack(context: ProjectSnapshot) -> None:
    one = Tool(name="slow", title="", description="", input=Slow, output=Slow, handler=lambda asked, ctx: asked)
    assert isinstance(await Guesthouse(context, [one]).call("slow"), Slow)


async def test_a_tool_that_calls_itself_is_stopped_and_has_the_scopes_of_its_caller(context: ProjectSnapshot) -> None:
    guests = Guesthouse(context, GUESTS)
    code, message, _ = await guests.answer("itself")
    assert (code, message) == ("invalid_request", "the call to itself is nested too deeply; the limit is 8 levels")
    assert len(guests.seen) == 9

    def pass_on(asked: object, ctx: object) -> object:
        return ctx.call("write").value  # type: ignore[attr-defined]

    guests = Guesthouse(context, [tool("pass_on", pass_on), tool("write", lambda a, c: Said("w"), Scope.MAINTAINER)])
    assert await guests.call("pass_on") == Said("w")
    with pytest.raises(Exception, match="write requires the scope maintainer"):
        await guests.desk.call("pass_on", {}, Caller(scopes=frozenset([Scope.READER])))


def test_threads_of_packs_do_not_keep_the_process_alive(context: ProjectSnapshot) -> None:
    stuck = Stuck()
    guests = Guesthouse(context, [tool("stuck", stuck)], seconds=0.01)
    anyio.run(guests.answer, "stuck")
    (thread,) = [one for one in threading.enumerate() if one.name.startswith("duvet guest")]
    assert thread.daemon
    stuck.door.set()


async def test_a_call_is_answered_and_recorded_and_asks_other_tools(context: ProjectSnapshot) -> None:
    for name in ("echo", "echo_later"):
        guests = Guesthouse(context, GUESTS, {"before": "> "})
        assert await guests.call(name, words="tea ", times=2) == Said("> tea tea ")
        (seen,) = guests.seen
        told = (seen.tool, seen.pack, seen.face, seen.code, seen.arguments, seen.bytes_out)
        assert told == (name, "guests", "library", "", "words=str(4) times=2", len('{"said":"> tea tea "}'))
    guests = Guesthouse(context, GUESTS)
    assert await guests.call("ask_others") == Said("CoverageSummaryOutput 8 RFC 2324")
    assert guests.heard == [(1, 2, "half")]
    assert [one.tool for one in guests.seen] == ["coverage_summary", "ask_others"]


async def test_a_tool_that_misbehaves_has_failed(context: ProjectSnapshot, answers: Snapshot) -> None:
    misbehaving = ("burst", "leave", "give_up", "time_out", "complain", "deplore", "lie", "odd", "huge")
    ##= man/spec/service.md#packs
    ##% If a tool of an installed pack raises an exception, the server MUST answer with an error without the text of the
    ##% exception.
    guests = Guesthouse(context, GUESTS)
    lines = []
    for name in misbehaving:
        told = await guests.answer(name)
        lines.append("; ".join(filter(None, (*told, guests.seen[-1].code, guests.seen[-1].reason))))
        assert await guests.call("echo", words="on") == Said("on")
    answers.assert_match("\n".join(lines), "misbehaving.txt")


async def test_a_pack_with_many_stuck_calls_is_refused_until_they_end(context: ProjectSnapshot) -> None:
    ##= man/spec/service.md#packs
    ##% If a tool of an installed pack exceeds its time limit, the server MUST answer with an error.
    stuck = Stuck()
    guests = Guesthouse(context, [*GUESTS, tool("stuck", stuck)], seconds=0.05)
    for _ in range(MAX_STUCK_CALLS):
        assert await guests.answer("stuck") == ("upstream_error", "stuck did not answer within 0.05 s", "")
    told = (
        "upstream_error",
        "the pack guests does not answer",
        "earlier calls of its tools are still running; try again later",
    )
    assert await guests.answer("stuck") == told
    assert (await guests.desk.call("coverage_summary", {}, Caller())).value
    stuck.door.set()
    with anyio.fail_after(30):
        while (await guests.answer("echo", words="on")) != Said("on"):
            await anyio.lowlevel.checkpoint()


async def test_an_answer_that_comes_too_late_is_refused(context: ProjectSnapshot) -> None:
    """The handler blocks the interpreter like native code, so the time limit can't interrupt it."""
    now = 0.0

    def hold(asked: Words, ctx: object) -> Said:
        nonlocal now
        now += asked.times
        return Said("held")

    guests = Guesthouse(context, [tool("hold", hold, time_limit=5)], clock=lambda: now)
    assert await guests.call("hold", times=5) == Said("held")
    assert await guests.answer("hold", times=6) == ("upstream_error", "hold did not answer within 5 s", "")
