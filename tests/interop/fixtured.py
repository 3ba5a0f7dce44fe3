"""The server of the product with the fixtures in it, over HTTP: python -m tests.interop.fixtured PROJECT"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from duvet.server.http.app import HttpApplication, TrustSettings
from duvet.server.http.guards import AllowedHosts, HttpLimits
from duvet.server.http.listener import HttpServer, ServerAddress, open_listener
from duvet.server.http.tokens import AccessTokens
from tests.interop.fixtures import Fixtures
from tests.unit.server.http.serving import telemetry
from tests.unit.server.servers import live_of, server_of


def main(folder: str) -> None:
    """Serve until a signal ends it, and say on standard error where."""
    live = live_of(Path(folder))
    live.begin()
    server = server_of(live, instructions="For the conformance suite.", parts=[Fixtures()])
    address, limits = ServerAddress("127.0.0.1", 0), HttpLimits()
    with open_listener(address, anywhere=False) as listening:
        where = address.at(listening.getsockname()[1])
        app = HttpApplication(
            server, TrustSettings(AllowedHosts(address.host, ()), AccessTokens()), telemetry(), limits
        )
        running = HttpServer(app, limits, lambda: print(f"{where.url}/mcp", file=sys.stderr, flush=True))
        anyio.run(running.serve, [listening])


if __name__ == "__main__":
    main(sys.argv[1])
