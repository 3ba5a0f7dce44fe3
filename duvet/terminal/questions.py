"""Questions to the project in the working directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from duvet.terminal.options import key_of, open_cache, open_project
from duvet.terminal.settings import settings

if TYPE_CHECKING:
    from duvet.cache.cache import Cache
    from duvet.config.schema import NotesRule
    from duvet.project import Project

Value = TypeVar("Value")


def remembered(
    name: str,
    kind: type[Value],
    where: Mapping[str, Any],
    answer: Callable[[Project], Value],
    notes: tuple[NotesRule, ...] | None = None,
) -> Value:
    """The answer about the project that these options describe, from the cache where nothing has changed."""
    cache = open_cache(settings())
    if cache is None:
        return answer(open_quietly(None, where, notes))
    how = key_of(where) if notes is None else key_of(where, notes)
    return cache.remembered(name, kind, how, lambda: answer(open_quietly(cache, where, notes)))


def open_quietly(cache: Cache | None, where: Mapping[str, Any], notes: tuple[NotesRule, ...] | None = None) -> Project:
    """The project that these options describe, for a question to it; an error where nothing says what is in it."""
    from duvet.terminal.progress import Quietly

    project = open_project(cache, Quietly(settings()), notes=notes, **where)
    require_contents(project)
    return project


def require_contents(project: Project) -> None:
    """An error where nothing says what is in the project."""
    if not (project.config or project.options.sources or project.options.requirements):
        from duvet.config.find import require_config

        require_config(project.tree)
