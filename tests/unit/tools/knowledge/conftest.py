"""What is known of a project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.tools.knowledge.made import Asking, asking
from tests.unit.tools.knowledge.upkept import ledger


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Asking]:
    with asking(tmp_path) as found:
        yield found


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Asking]:
    """A project that nothing was taken in of yet."""
    with ledger(tmp_path / "ledger") as found:
        yield found
