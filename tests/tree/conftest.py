"""A few files to ask about."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.rs").write_text("one")
    (tmp_path / "src" / "b.rs").write_text("two")
    (tmp_path / "link").symlink_to("src")
    return tmp_path
