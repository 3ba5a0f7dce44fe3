"""The project of a command: its cache, catalogue, specifications and page rules."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from duvet.console.command import TerminalSettings, current_settings, wants_cache
from duvet.tree.cache import BlobStore, DiskCache, make_cache_key
from duvet.tree.files import CACHE_FOLDER, DiskTree, Tree

if TYPE_CHECKING:
    from duvet.config.settings import PagesTable
    from duvet.model import Specification
    from duvet.progress import Progress
    from duvet.project.project import Project
    from duvet.trace.catalogue import Catalogue, SpecificationCard
    from duvet.tree.recorder import FileContent

PageRules = tuple["PagesTable", ...]
Value = TypeVar("Value")


def load_catalogue(options: Mapping[str, Any]) -> Catalogue:
    from duvet.trace.catalogue import CATALOGUE_KEY, Catalogue

    return cached_query(CATALOGUE_KEY, Catalogue, options, lambda project: project.catalogue)


def cached_query(
    name: str,
    kind: type[Value],
    options: Mapping[str, Any],
    query: Callable[[Project], Value],
    rules: PageRules | None = None,
) -> Value:
    cache = open_cache()
    if cache is None:
        return query(open_project_quietly(None, options, rules))
    key = make_options_key(options, rules=rules)
    return cache.compute(name, kind, key, lambda: query(open_project_quietly(cache, options, rules)), whole_run=True)


def make_options_key(options: Mapping[str, Any], *more: object, rules: PageRules | None = None) -> str:
    parts = more if rules is None else (*more, rules)
    return make_cache_key((os.getcwd(), current_settings().config_path, sorted(options.items()), *parts))


def open_cache(pinned: Mapping[str, FileContent] | None = None) -> DiskCache | None:
    settings = current_settings()
    return (
        DiskCache(DiskTree(), settings.environ, today=settings.today, pinned=pinned) if wants_cache(settings) else None
    )


def open_blobs(settings: TerminalSettings) -> BlobStore:
    return BlobStore(DiskTree().at(CACHE_FOLDER)) if wants_cache(settings) else BlobStore()


def find_spending_folder(settings: TerminalSettings) -> str:
    # Not in the cache, which can be cleared and exists only in projects.
    home = settings.environ.get("HOME", "")
    local = os.path.join(home, ".local", "state") if home else settings.environ.get("LOCALAPPDATA", "")
    for state in (settings.environ.get("XDG_STATE_HOME", ""), local):
        if os.path.isabs(state):
            return os.path.join(state, "duvet", "spending", make_cache_key((os.path.realpath(os.getcwd()),)))
    return ""


def open_project(
    cache: DiskCache | None = None,
    progress: Progress | None = None,
    *,
    settings: TerminalSettings | None = None,
    root: str = "",
    rules: PageRules | None = None,
    is_quiet: bool = False,
    config_path: str | None,
    **flags: Any,
) -> Project:
    from duvet.console.progress import ProgressLines
    from duvet.project.project import Options, Project

    settings = settings or current_settings()
    project_options = Options.from_flags(
        config_path=config_path or settings.config_path,
        ##= man/spec/pages.md#folders-of-notes
        ##% With `--pages`, duvet MUST ignore configurations in the folder unless an option or an environment variable
        ##% names them.
        finds_config=not settings.has_only_pages,
        notes=rules,
        **flags,
    )
    return Project(
        root,
        project_options,
        environ=cache.environ if cache else settings.environ,
        tree=cache.tree if cache else None,
        memory=cache,
        progress=progress or ProgressLines(settings, math.inf if is_quiet else None),
        today=settings.today,
    )


def open_project_quietly(
    cache: DiskCache | None, options: Mapping[str, Any], rules: PageRules | None = None
) -> Project:
    project = open_project(cache, is_quiet=True, rules=rules, **options)
    project.require_contents()
    return project


def load_specification(card: SpecificationCard) -> Specification:
    from duvet.specs.library import Library

    cache = open_cache()
    # The card has the path of the text, so the configuration isn't read.
    library = Library(cache.tree if cache else DiskTree(), "", memory=cache)
    return card.load(library)


def load_page_rules(options: Mapping[str, Any], tree: Tree | None = None) -> PageRules | None:
    settings = current_settings()
    # Most projects have none, and then nothing needs to be imported.
    if not any(map(settings.environ.get, ("DUVET_CONFIG", "CONTEXTIVE_CONFIG"))):
        try:
            names = [*os.listdir(), *(os.listdir(settings.folder) if settings.folder else ())]
        except OSError:
            # The code that reads the project reports the unreadable folder.
            names = []
        if not any(name.startswith(("duvet.config.", "contextive.config.")) for name in names):
            return None
    from duvet.config.service import load_service_pages

    config_path = options["config_path"] or settings.config_path
    return load_service_pages(tree or DiskTree(), settings.environ, config_path, settings.folder)
