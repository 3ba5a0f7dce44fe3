"""What is kept of a project, for tests that take long."""

from tests.unit.knowledge.upkeep.conftest import kept

__all__ = ["kept"]
