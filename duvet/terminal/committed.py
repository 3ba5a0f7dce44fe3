"""A file as it is in a commit, asked of git."""

from __future__ import annotations

from duvet.errors import DuvetError
from duvet.terminal.settings import settings
from duvet.tree.git_command import Git


def committed(folder: str, commit: str, path: str) -> bytes | None:
    """The content of a file that is named from a folder; None where the commit lacks it, or git is absent."""
    # What a hook is told about repositories is about the same one, or about another.
    environ = {name: value for name, value in settings().environ.items() if not name.startswith("GIT_")}
    try:
        return Git(folder, environ).content("cat-file", "blob", f"{commit}:./{path}")
    except DuvetError:
        return None
