"""Finds the configuration file of a project."""

from __future__ import annotations

from duvet.errors import UnreadableError
from duvet.tree.protocol import Tree

CONFIG_PATH = ".duvet/config.toml"
# Deeper than anyone works, for trees that don't know where they end.
_MOST_FOLDERS = 64


def find_config(tree: Tree, given: str | None = None) -> str | None:
    """The file that is given, or else the one of this very folder; none where there is none."""
    ##= man/spec/trace.md#configuration
    ##% duvet MUST read `.duvet/config.toml` in the working directory, unless another file is named.
    if given:
        return given
    return CONFIG_PATH if tree.exists(CONFIG_PATH) else None


def require_config(tree: Tree, given: str | None = None) -> str:
    """The configuration file, or an error that says where one would be."""
    found = find_config(tree, given)
    if found:
        return found
    above = folder_above(tree)
    hint = f"there is one in `{above}`: add `-C {above}`" if above else "write one with `duvet init`"
    raise UnreadableError("no configuration in this folder", path=CONFIG_PATH, hint=hint)


def folder_above(tree: Tree) -> str:
    """The nearest parent folder that has a configuration, such as `../..`; empty where none has."""
    folder, seen = "..", tree.identity(".")
    for _ in range(_MOST_FOLDERS):
        if not tree.exists(folder) or tree.identity(folder) == seen:
            return ""
        if tree.exists(f"{folder}/{CONFIG_PATH}"):
            return folder
        folder, seen = f"../{folder}", tree.identity(folder)
    return ""
