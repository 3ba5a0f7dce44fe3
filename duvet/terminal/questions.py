"""Questions to the project in the working directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from duvet.terminal.options import key_of, open_cache, open_project
from duvet.terminal.settings import settings

if TYPE_CHECKING:
    from duvet.cache.cache import Cache
    from duvet.project import Project

Value = TypeVar("Value")


def remembered(name: str, kind: type[Value], where: Mapping[str, Any], answer: Callable[[Project], Value]) -> Value:
    """The answer about the project that these options describe, from the cache where nothing has changed."""
    cache = open_cache(settings())
    if cache is None:
        return answer(open_quietly(None, where))
    how = key_of(where)
    known = cache.recall(name, kind, how)
    if known is not None:
        return known
    found = answer(open_quietly(cache, where))
    cache.keep(name, how, found)
    cache.save()
    return found


def open_quietly(cache: Cache | None, where: Mapping[str, Any]) -> Project:
    """The project that these options describe, for a question to it; an error where nothing says what is in it."""
    from duvet.config.find import require_config
    from duvet.terminal.progress import Quietly

    project = open_project(cache, Quietly(settings()), **where)
    if not (project.config or project.options.sources or project.options.requirements):
        require_config(project.tree)
    return project
