"""Finds the project, and converts paths between its folder and the user's folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

import click
from msgspec.structs import replace

from duvet.console.command import TerminalSettings, current_settings
from duvet.errors import DuvetError, describe_os_error

_CONFIG = os.path.join(".duvet", "config.toml")
_LEGACY_FLAGS = ("--source-pattern", "--spec-pattern", "--spec-path")
_PATH_VARIABLES = ("DUVET_CONFIG", "CONTEXTIVE_CONFIG")
# The path of a reference to a file: what precedes `:LINE`, `:LINE:COLUMN` or `#SECTION`.
_REFERENCE = r"(?P<path>[^#]+?)(?P<part>(?::\d+){0,2}:?|#.*)\Z"


def has_legacy_flags(args: Iterable[str]) -> bool:
    """Return whether the command line uses awslabs duvet's flags to describe the project."""
    return any(arg.partition("=")[0] in _LEGACY_FLAGS for arg in args)


def find_project_folder(start: str = "") -> str | None:
    """Return the nearest folder with a configuration, from `start` up to the top of its git repository."""
    ##= man/spec/init.md#project-discovery
    ##% duvet MUST use the nearest `.duvet/config.toml` in the working directory or a folder above it, but MUST NOT
    ##% search above the top of a git repository.
    try:
        folder = os.path.realpath(start) if start else os.getcwd()
    except OSError:
        # The working directory was removed; the first read reports that.
        return None
    while not os.path.lexists(os.path.join(folder, _CONFIG)):
        above = os.path.dirname(folder)
        # Worktrees and submodules have a file `.git`.
        if above == folder or os.path.lexists(os.path.join(folder, ".git")):
            return None
        folder = above
    return folder


def enter_project(settings: TerminalSettings) -> TerminalSettings:
    """Change to the project's folder if the user is below it, and return the adapted settings."""
    root = find_project_folder()
    here = os.getcwd() if root else None
    if root is None or here is None or root == here:
        return settings
    folder = os.path.relpath(here, root).replace(os.sep, "/")
    try:
        os.chdir(root)
    except OSError as error:
        raise DuvetError(f"cannot run in this folder: {describe_os_error(error)}", path=root) from error
    environ = settings.environ
    if named := {name: locate_path(environ[name], folder) for name in _PATH_VARIABLES if environ.get(name)}:
        environ = {**environ, **named}
    config_path = settings.config_path and locate_path(settings.config_path, folder)
    return replace(settings, folder=folder, environ=environ, config_path=config_path)


def locate_path(path: str, folder: str) -> str:
    """Convert a path that the user typed to one relative to the project."""
    ##= man/spec/init.md#project-discovery
    ##% duvet MUST read and print paths relative to the working directory.
    plain = path.replace(os.sep, "/")
    if not folder or plain in ("", "-") or os.path.isabs(path) or "://" in plain:
        return path
    parts, rest = folder.split("/"), plain
    # Only leading dots are resolved here: the folder before `..` may be a link.
    while found := re.match(r"(\.\.?)(?:/+|\Z)", rest):
        rest = rest[found.end() :]
        if found[1] == "..":
            parts = [*parts, ".."] if not parts or parts[-1] == ".." else parts[:-1]
    return "/".join([*parts, rest] if rest else parts) or "."


def show_path(path: str, folder: str | None = None) -> str:
    """Convert a path relative to the project to one relative to a folder, by default the user's."""
    folder = current_settings().folder if folder is None else folder
    # A path with a colon is a URL, has a revision in front of it, or is absolute.
    if not folder or path in ("", "-") or ":" in path or os.path.isabs(path):
        return path
    return os.path.relpath(path, folder).replace(os.sep, "/")


def locate_reference(reference: str, folder: str) -> str:
    """Convert the path in a reference to a file; return other references unchanged."""
    found = re.match(_REFERENCE, reference, re.DOTALL) if folder else None
    if found is None:
        return reference
    path = locate_path(found["path"], folder)
    return path + found["part"] if os.path.isfile(path) else reference


class PathType(click.ParamType[str]):
    """Converts a path that the user typed to one relative to the project."""

    name = "path"

    def __init__(self, type: click.ParamType[str] = click.STRING) -> None:
        self.type = type

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        settings = ctx.find_object(TerminalSettings) if ctx else None
        text = self.type.convert(value, param, ctx)
        return self.locate(text, settings.folder) if settings and isinstance(text, str) else text

    def locate(self, text: str, folder: str) -> str:
        return locate_path(text, folder)


class ReferenceType(PathType):
    """Converts the path in FILE or FILE:LINE, and leaves other references unchanged."""

    name = "reference"

    def locate(self, text: str, folder: str) -> str:
        return locate_reference(text, folder)
