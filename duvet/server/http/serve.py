"""Serves everybody who may ask over HTTP."""

from __future__ import annotations

import gc
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from msgspec import Struct

from duvet.server.http.address import Address, listen
from duvet.server.http.limits import Limits
from duvet.server.http.tokens import Tokens
from duvet.server.identity import Identity
from duvet.server.live import Live
from duvet.server.log import Log
from duvet.tools.desk import Desk
from duvet.tools.seen import Observer
from duvet.version import VERSION

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Offer(Struct, frozen=True, kw_only=True):
    """What is served: by whom, what is said first, what is known and what can be done."""

    identity: Identity
    instructions: str | Callable[[], str]
    live: Live
    desk: Callable[[Sequence[Observer]], Desk]
    """Where tools are called, made once there is time for it; these hear of every call."""


class Terms(Struct, frozen=True, kw_only=True):
    """To whom, and where."""

    address: Address
    tokens: Tokens = Tokens()
    hosts: tuple[str, ...] = ()
    """Names that the server goes by, beside the one it listens at."""
    limits: Limits = Limits()


class _EndError(BaseException):
    """A signal came before there was a server to end."""


def serve(offer: Offer, terms: Terms, log: Log, say: Callable[[str], None]) -> None:
    """Answer until a signal ends it; DuvetError where that can't begin."""
    try:
        with _ending(), listen(terms.address, anywhere=bool(terms.tokens)) as listening:
            # What takes longest begins first.
            offer.live.begin()
            _run(offer, terms, listening, log, say)
    except _EndError:
        return


def _run(offer: Offer, terms: Terms, listening: socket.socket, log: Log, say: Callable[[str], None]) -> None:
    import anyio

    from duvet.server.http.app import Accounts, App, Trust
    from duvet.server.http.hosts import Hosts
    from duvet.server.http.metrics import Metrics
    from duvet.server.http.running import Running
    from duvet.server.log import tell_complaints
    from duvet.server.protocol.server import DuvetServer

    # A run of the command line has it switched off; what has been imported stays.
    gc.enable()
    gc.freeze()
    tell_complaints(log)
    metrics = Metrics(VERSION)
    desk = offer.desk([log.saw, metrics.saw])
    metrics.tell_of(desk)
    server = DuvetServer(offer.identity, offer.instructions, offer.live, desk)
    trust = Trust(Hosts(terms.address.host, terms.hosts), terms.tokens)
    app = App(server, trust, Accounts(log, metrics), terms.limits)
    where = terms.address.at(listening.getsockname()[1])
    ##= man/spec/mcp.md#http
    ##% Once it listens, and not before, `duvet mcp --http` MUST say in a line on standard error where.
    running = Running(app, terms.limits, lambda: say(f"duvet mcp: serving {where.url}/mcp"))
    anyio.run(running.serve, [listening])


@contextmanager
def _ending() -> Iterator[None]:
    """Until the server takes them, signals end what is being prepared."""
    before = {one: signal.signal(one, _end) for one in SIGNALS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise _EndError
