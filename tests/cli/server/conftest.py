"""Makes the servers of the unit tests available to tests of commands."""

from __future__ import annotations

from tests.unit.server.conftest import client, kettle, mode, project, server, version, wire

__all__ = ["client", "kettle", "mode", "project", "server", "version", "wire"]
