"""Finds the configuration of the service."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet.config.documents.reading import ENDINGS, ending
from duvet.errors import DuvetError, UnreadableError
from duvet.tree.protocol import Tree

VARIABLES = ("DUVET_CONFIG", "CONTEXTIVE_CONFIG")
CANDIDATES = tuple(f"{name}.config.{ending}" for name in ("duvet", "contextive") for ending in ENDINGS)
"""What is looked for in the working directory."""

OPTION, FOUND, DEFAULTS = "--config", "found", "defaults"


class Found(Struct, frozen=True):
    """A file, and how it came to be that one."""

    path: str
    """Empty where there is none, and the defaults are in force."""
    origin: str
    """`--config`, the name of a variable, `found` or `defaults`."""


def find_service(tree: Tree, environ: Mapping[str, str], given: str | None = None) -> Found:
    """The file that is given, else the one of a variable, else the one of this folder, else none."""
    ##= man/spec/service.md#configuration
    ##% The configuration MUST be the file that `--config` names, or else the one that `DUVET_CONFIG` or
    ##% `CONTEXTIVE_CONFIG` names, or else the one of `duvet.config.*` and `contextive.config.*` that stands in the working
    ##% directory, or else the defaults.
    if given:
        return _named(tree, given, OPTION)
    if variable := _variable(environ):
        return _named(tree, environ[variable], variable)
    present = [path for path in CANDIDATES if tree.exists(path)]
    if len(present) > 1:
        ##= man/spec/service.md#configuration
        ##% Where both variables name different files, or more than one file stands in the working directory, that MUST be
        ##% an error that names all of them.
        names = " and ".join(f"`{path}`" for path in present)
        raise DuvetError(f"more than one configuration: {names}", hint="keep one of them, or name it with `--config`")
    return Found(present[0], FOUND) if present else Found("", DEFAULTS)


def _variable(environ: Mapping[str, str]) -> str:
    """The variable that names a file; a variable that is empty names none."""
    naming = [name for name in VARIABLES if environ.get(name)]
    if len({environ[name] for name in naming}) > 1:
        both = " and ".join(f"`{name}` names `{environ[name]}`" for name in naming)
        raise DuvetError(f"two configurations: {both}", hint="unset one of the variables")
    return naming[0] if naming else ""


def _named(tree: Tree, path: str, origin: str) -> Found:
    ##= man/spec/service.md#configuration
    ##% A file that is named and missing MUST be an error that says by what it is named.
    if not tree.exists(path):
        raise UnreadableError(f"no such file, though `{origin}` names it", path=path, hint="name another, or none")
    if ending(path) not in ENDINGS:
        known = ", ".join(f"`.{one}`" for one in ENDINGS)
        raise UnreadableError(f"`{origin}` names a file of an unknown format", path=path, hint=f"it ends in {known}")
    return Found(path, origin)
