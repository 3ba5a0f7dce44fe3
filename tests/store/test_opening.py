"""Where a store is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.store.opening import open_store
from tests.histories import git


@pytest.mark.parametrize("name", ["store.db", "my [1].db", "#!*"])
def test_git_ignores_the_store_and_nothing_beside_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.md").touch()
    open_store(str(tmp_path / name), create=True).close()
    git(tmp_path, "init", "--quiet")
    assert git(tmp_path, "ls-files", "--others", "--exclude-standard").split() == ["notes.md"]
