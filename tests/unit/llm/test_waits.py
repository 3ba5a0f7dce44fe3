"""What is tried again, what is waited for, and for how long"""

from __future__ import annotations

import pytest

from duvet.llm.records import ModelFault
from tests.unit.llm.made import FINE, NOW, at, fails, routing
from tests.unit.llm.wire import Reply, Wire, refuses

pytestmark = pytest.mark.anyio
DATE = "Tue, 14 Nov 2023 22:13:27 GMT"
"""Seven seconds from now."""


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
async def test_what_is_out_of_order_is_tried_again(status: int, wire: Wire) -> None:
    ##= man/spec/ask.md#calls
    ##= type=test
    ##% duvet MUST retry temporary failures as often as the configuration says, wait as long as the provider asks within
    ##% reason, and give up when the provider's time limit is over.
    wire.plan(refuses(status, "overloaded"), refuses(status, "overloaded"), FINE)
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert (await made.ask()).text == "Hi"
        assert made.clock.waits == [0.5, 1.0]
    wire.replies.appendleft(refuses(status, "overloaded"))
    error, waits = await fails(at(wire, retries=0))
    assert (error.code, error.message) == (ModelFault.UNAVAILABLE, f"one is out of order ({status}): overloaded")
    assert waits == []


async def test_tried_as_often_as_is_said(wire: Wire) -> None:
    wire.plan(Reply(500))
    error, waits = await fails(at(wire, retries=7))
    assert (error.code, waits, len(wire.asked)) == (ModelFault.UNAVAILABLE, [0.5, 1, 2, 4, 8, 8, 8], 8)


@pytest.mark.parametrize("reply", [Reply(body=FINE.body, is_cut=True), Reply(500, b"{", is_cut=True)])
async def test_a_connection_that_is_cut(reply: Reply, wire: Wire) -> None:
    wire.plan(reply, FINE)
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert ((await made.ask()).text, made.clock.waits) == ("Hi", [0.5])


@pytest.mark.parametrize(
    ("after", "waits"), [("3", [3.0]), ("0", [0.0]), ("1.5", [1.5]), (DATE, [7.0]), ("soon", [0.5]), ("-5", [0.5])]
)
async def test_a_provider_is_waited_for(after: str, waits: list[float], wire: Wire) -> None:
    wire.plan(refuses(429, "slow down", retry_after=after), FINE)
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert ((await made.ask()).text, made.clock.waits) == ("Hi", waits)


@pytest.mark.parametrize(
    ("after", "hint"),
    [
        ("3600", "try again in 3600 seconds"),
        ("9" * 18, "try again later"),
        ("Fri, 31 Dec 9999 23:59:59 GMT", "try again later"),
    ],
)
async def test_a_provider_that_wants_to_be_waited_for_too_long(after: str, hint: str, wire: Wire) -> None:
    wire.plan(refuses(429, "slow down", retry_after=after), FINE)
    error, waits = await fails(at(wire))
    assert (error.code, error.message) == (ModelFault.RATE_LIMITED, "one takes no more for now (429): slow down")
    assert (error.hint, waits, len(wire.asked)) == (hint, [], 1)


@pytest.mark.parametrize(
    "after", ["9" * 400, "Sun, 99 Foo 2023", "Tue, 14 Nov 99999 22:13:27 GMT", "nan", "1e9", "\u0665"]
)
async def test_a_wait_that_makes_no_sense(after: str, wire: Wire) -> None:
    headers = {"retry-after": after} if after.isascii() else {"retry-after": after.encode().decode("latin-1")}
    wire.plan(Reply(429, headers=headers), FINE)
    async with routing({"providers": {"one": at(wire)}}) as made:
        assert ((await made.ask()).text, made.clock.waits) == ("Hi", [0.5])


@pytest.mark.parametrize("place", ["headers", "body"])
@pytest.mark.parametrize("status", [200, 500])
async def test_slow(place: str, status: int, wire: Wire) -> None:
    wire.plan(Reply(status, FINE.body, stops_before=place))
    error, _ = await fails(at(wire, timeout=0.5))
    assert (error.code, error.message) == (ModelFault.TIMEOUT, "one has not answered within 0.5 seconds")
    assert len(wire.asked) == 1


async def test_no_wait_is_longer_than_an_answer_may_take(wire: Wire) -> None:
    wire.plan(refuses(429, retry_after="6"), FINE)
    error, waits = await fails(at(wire, timeout=5))
    assert (error.code, waits) == (ModelFault.RATE_LIMITED, [])


def test_the_date_is_as_said() -> None:
    assert NOW == 1_700_000_000
