"""Makes the servers of the unit tests available to slow tests."""

from tests.unit.server.conftest import anyio_backend, project, version, wire

__all__ = ["anyio_backend", "project", "version", "wire"]
