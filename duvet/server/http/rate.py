"""How often a client may ask."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

from starlette.types import ASGIApp, Receive, Scope, Send

from duvet.server.http.answers import refuse, too_busy


class Buckets:
    """A bucket of tokens for each client: a request takes one, and they come back with time."""

    def __init__(self, rate: float, burst: float, clients: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clients = clients
        self._clock = clock
        self._found: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def wait(self, client: str, cost: float = 1) -> float:
        """0 where the client may go on, and has paid for it; else for how many seconds it may not."""
        if not self._rate:
            return 0
        left = self._left(client) - min(cost, self._burst)
        if left < 0:
            return -left / self._rate
        self._found[client] = (left, self._clock())
        self._found.move_to_end(client)
        if len(self._found) > self._clients:
            self._found.popitem(last=False)
        return 0

    def _left(self, client: str) -> float:
        left, then = self._found.get(client, (self._burst, self._clock()))
        return min(self._burst, left + (self._clock() - then) * self._rate)


Payer = Callable[[Scope], str]


class RateGuard:
    """Lets requests through that don't come too often."""

    def __init__(self, app: ASGIApp, buckets: Buckets, payer: Payer) -> None:
        """Requests are counted by what the payer says of them."""
        self._app = app
        self._buckets = buckets
        self._payer = payer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ##= man/spec/mcp.md#limits
        ##% A client that asks more often than it may MUST be refused with 429 and a `Retry-After`.
        if scope["type"] == "http" and (seconds := self._buckets.wait(self._payer(scope))):
            await refuse(scope, send, too_busy(429, "Too many requests", seconds))
        else:
            await self._app(scope, receive, send)


def client_of(scope: Scope) -> str:
    """What requests are counted by: an address, or the network of one, for who has one IPv6 address has many."""
    host = (scope.get("client") or ("",))[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return str(host)
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
