"""A project for the tools."""

from __future__ import annotations

import pytest

from duvet.tools.context import Context
from tests.tools.made import FILES, context_of


@pytest.fixture
def context() -> Context:
    return context_of(FILES)
