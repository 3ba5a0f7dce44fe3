"""A small project with a file."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".duvet").mkdir()
    (tmp_path / "a").write_text("one")
    return tmp_path
