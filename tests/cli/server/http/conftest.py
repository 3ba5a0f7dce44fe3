"""The servers over HTTP of the unit tests, for commands that serve."""

from tests.unit.server.http.conftest import live, server, waiting

__all__ = ["live", "server", "waiting"]
