"""What is known of a project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.knowledge.made import Asking, asking


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Asking]:
    with asking(tmp_path) as found:
        yield found
