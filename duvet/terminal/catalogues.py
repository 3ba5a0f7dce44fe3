"""The catalogue of the project in the working directory, from the cache where nothing has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.cache.cache import Cache
from duvet.errors import NotFoundError
from duvet.queries.catalogue import Catalogue
from duvet.queries.soundness import NO_REQUIREMENTS, counted, errors, not_everything
from duvet.terminal.questions import remembered
from duvet.terminal.settings import settings
from duvet.terminal.streams import say
from duvet.tree.disk import DiskTree

CATALOGUE = "catalogue"
"""What it is kept as."""


def read_catalogue(where: Mapping[str, Any]) -> Catalogue:
    """The catalogue of the project that these options describe."""
    return remembered(CATALOGUE, Catalogue, where, lambda project: project.catalogue)


def last_catalogue(folder: str) -> Catalogue | None:
    """What the last question about the project in this folder has found out, however old it is."""
    return Cache(DiskTree(folder), {}).last(CATALOGUE, Catalogue)


def read_requirements(where: Mapping[str, Any]) -> Catalogue:
    """The same, of a project that has requirements."""
    catalogue = read_catalogue(where)
    if not catalogue.requirements:
        raise NotFoundError(NO_REQUIREMENTS, hint=_why_none(catalogue))
    return catalogue


def _why_none(catalogue: Catalogue) -> str:
    if errors(catalogue):
        return f"{counted(catalogue)}; `duvet validate` lists what is wrong"
    if not catalogue.specifications:
        return "name a specification in the configuration, as `[[specification]]`"
    return "no sentence of its specifications has a keyword of RFC 2119, such as MUST"


def error_count(catalogue: Catalogue) -> int:
    """How many errors the project has; while it has any, not everything counts."""
    return len(errors(catalogue))


def tell_errors(catalogue: Catalogue) -> None:
    """Say on standard error that not all annotations count, because some are wrong."""
    words = not_everything(catalogue)
    if words and not settings().quiet:
        say(f"{words}; `duvet validate` lists what is wrong\n")
