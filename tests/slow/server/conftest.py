"""The servers of the unit tests, for tests that take long."""

from tests.unit.server.conftest import anyio_backend, project, version, wire

__all__ = ["anyio_backend", "project", "version", "wire"]
