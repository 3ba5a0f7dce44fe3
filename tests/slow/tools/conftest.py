"""The projects of the unit tests of tools, for tests that take long."""

from tests.unit.tools.conftest import context, project, site
from tests.unit.tools.knowledge.conftest import known

__all__ = ["context", "known", "project", "site"]
