"""Projects that can't be read at all"""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet import DiskTree, Project
from duvet.errors import UnreadableError


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError) as caught:
        _ = Project(str(tmp_path / "nowhere")).trace
    assert str(caught.value) == f"{tmp_path.as_posix()}/nowhere: there is no such folder"


def test_a_named_folder_stays_when_the_process_goes_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / ".duvet").mkdir(parents=True)
    (tmp_path / "a" / ".duvet" / "config.toml").write_text("'$schema' = 'duvet-cli/config/v1'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    project = Project("a")
    monkeypatch.chdir("/")
    assert project.config is not None


def test_a_tree_on_disk_is_the_disk(tmp_path: Path) -> None:
    tree = DiskTree(str(tmp_path))
    assert Project(tree=tree).disk is tree
