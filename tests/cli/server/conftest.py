"""The servers of the unit tests, for commands that serve."""

from __future__ import annotations

from tests.unit.server.conftest import anyio_backend, client, kettle, mode, project, server, version, wire

__all__ = ["anyio_backend", "client", "kettle", "mode", "project", "server", "version", "wire"]
