"""The folder of the unit tests of the cache, for tests that take long."""

from tests.unit.cache.conftest import root

__all__ = ["root"]
