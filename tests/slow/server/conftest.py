from tests.unit.server.conftest import project, wire

__all__ = ["project", "wire"]
