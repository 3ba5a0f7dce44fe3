"""The catalogue of the project in the working directory, from the cache where nothing has changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from duvet.cache.cache import Cache
from duvet.cache.key import key
from duvet.model import Severity
from duvet.queries.catalogue import Catalogue
from duvet.terminal.recalling import open_cache
from duvet.terminal.settings import settings
from duvet.terminal.streams import say
from duvet.text import plural

_NAME = "catalogue"


def read_catalogue(where: Mapping[str, Any]) -> Catalogue:
    """The catalogue of the project that these options describe."""
    cache = open_cache(settings())
    if cache is None:
        return _read(None, where)
    how = key(os.getcwd(), settings().config_path, sorted(where.items()))
    known = cache.recall(_NAME, Catalogue, how)
    if known is not None:
        return known
    found = _read(cache, where)
    cache.keep(_NAME, how, found)
    cache.save()
    return found


def _read(cache: Cache | None, where: Mapping[str, Any]) -> Catalogue:
    from duvet.config.find import require_config
    from duvet.terminal.options import open_project
    from duvet.terminal.progress import Quietly

    project = open_project(cache, Quietly(settings()), **where)
    if not (project.config or project.options.sources or project.options.requirements):
        require_config(project.tree)
    return project.catalogue


def tell_errors(catalogue: Catalogue) -> None:
    """Say on standard error that not all annotations count, because some are wrong."""
    errors = sum(problem.severity is Severity.ERROR for problem in catalogue.problems)
    if errors and not settings().quiet:
        say(
            f"{plural(errors, 'error')} in the project, so not everything counts; `duvet validate` lists what is wrong\n"
        )
