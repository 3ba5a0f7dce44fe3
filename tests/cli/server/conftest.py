"""The servers of the unit tests, for commands that serve."""

from tests.unit.server.conftest import anyio_backend, client, project, server, version, wire

__all__ = ["anyio_backend", "client", "project", "server", "version", "wire"]
