"""The catalogue of the project in the working directory, from the cache where nothing has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.cache.cache import Cache
from duvet.errors import NotFoundError
from duvet.model import Severity
from duvet.queries.catalogue import Catalogue
from duvet.terminal.questions import remembered
from duvet.terminal.settings import settings
from duvet.terminal.streams import say
from duvet.text import plural
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
        raise NotFoundError("the project has no requirements", hint=_why_none(catalogue))
    return catalogue


def _why_none(catalogue: Catalogue) -> str:
    if error_count(catalogue):
        return f"{_errors_words(catalogue)}; `duvet validate` lists what is wrong"
    if not catalogue.specifications:
        return "name a specification in the configuration, as `[[specification]]`"
    return "no sentence of its specifications has a keyword of RFC 2119, such as MUST"


def error_count(catalogue: Catalogue) -> int:
    """How many errors the project has; while it has any, not everything counts."""
    return sum(problem.severity is Severity.ERROR for problem in catalogue.problems)


def tell_errors(catalogue: Catalogue) -> None:
    """Say on standard error that not all annotations count, because some are wrong."""
    if error_count(catalogue) and not settings().quiet:
        say(f"{_errors_words(catalogue)}, so not everything counts; `duvet validate` lists what is wrong\n")


def _errors_words(catalogue: Catalogue) -> str:
    return f"{plural(error_count(catalogue), 'error')} in the project"
