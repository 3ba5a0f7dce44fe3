"""Which files clients may name: those of the project."""

from __future__ import annotations

from posixpath import join, normpath

from duvet.tree.inside import leads_inside


def whole(root: str, path: str) -> str:
    """The absolute path of a file that is named from the root of a project."""
    return normpath(join(root, path))


def is_inside(root: str, path: str) -> bool:
    """Whether a path leads to a file of the project, whatever links it goes through."""
    ##= man/spec/mcp.md#tools
    ##% A path from a client MUST lead to a file of the project, or be refused.
    if "\0" in path or not whole(root, path).startswith(root.rstrip("/") + "/"):
        return False
    return leads_inside(root, whole(root, path))
