"""Makes the servers of the unit tests available to slow tests."""

from tests.unit.server.conftest import project, wire

__all__ = ["project", "wire"]
