"""The server of the product with the fixtures in it, over HTTP: python -m tests.interop.fixtured PROJECT"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from duvet.server.http.address import Address, listen
from duvet.server.http.app import App, Trust
from duvet.server.http.hosts import Hosts
from duvet.server.http.limits import Limits
from duvet.server.http.running import Running
from duvet.server.http.tokens import Tokens
from duvet.server.identity import Identity
from duvet.server.live import Live
from duvet.server.protocol.server import DuvetServer
from duvet.tools.desk import Desk
from duvet.tools.registry import Registry
from tests.interop.fixtures import Fixtures
from tests.unit.server.http.serving import accounts
from tests.unit.server.opened import PAGE_SIZE, opened


def main(folder: str) -> None:
    """Serve until a signal ends it, and say on standard error where."""
    live = Live(lambda: opened(Path(folder)), PAGE_SIZE)
    live.begin()
    server = DuvetServer(Identity(), "For the conformance suite.", live, Desk(Registry(), live), parts=[Fixtures()])
    address, limits = Address("127.0.0.1", 0), Limits()
    with listen(address, anywhere=False) as listening:
        where = address.at(listening.getsockname()[1])
        app = App(server, Trust(Hosts(address.host, ()), Tokens()), accounts(), limits)
        running = Running(app, limits, lambda: print(f"{where.url}/mcp", file=sys.stderr, flush=True))
        anyio.run(running.serve, [listening])


if __name__ == "__main__":
    main(sys.argv[1])
