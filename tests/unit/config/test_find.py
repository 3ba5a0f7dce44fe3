"""Where the configuration is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.config.project_file import CONFIG_PATH, find_config, find_parent_project, require_config
from duvet.errors import UnreadableError
from duvet.tree.files import DiskTree, MemoryTree


def test_a_file_that_is_given_wins_over_that_of_the_folder() -> None:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST read `.duvet/config.toml` unless another file is named, and `duvet report` SHOULD say where it
    ##% belongs when nothing is configured.
    tree = MemoryTree({CONFIG_PATH: b""})
    assert [find_config(tree), find_config(tree, "x.toml")] == [CONFIG_PATH, "x.toml"]


def test_there_may_be_none() -> None:
    assert find_config(MemoryTree({"config.toml": b""})) is None


def project(folder: Path) -> DiskTree:
    """A tree two folders below one with a configuration."""
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    (folder / ".duvet").mkdir()
    (folder / CONFIG_PATH).touch()
    return DiskTree(str(below))


def test_parents_are_not_searched_but_named(tmp_path: Path) -> None:
    tree = project(tmp_path)
    with pytest.raises(UnreadableError) as error:
        require_config(tree)
    assert find_config(tree) is None
    assert error.value.hint == "there is one in `../..`: add `-C ../..`"


def test_the_search_ends_at_the_root() -> None:
    assert find_parent_project(DiskTree("/")) == ""


def test_the_search_ends_where_the_tree_has_no_root() -> None:
    class Endless(MemoryTree):
        def exists(self, path: str) -> bool:
            return not path.endswith(CONFIG_PATH)

        def identity(self, folder: str) -> object:
            return folder

    assert find_parent_project(Endless({})) == ""
