"""The project of a command: its cache, catalogue, specifications and page rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from duvet.console.command import TerminalSettings, current_settings, wants_cache
from duvet.console.streams import print_remark
from duvet.errors import NotFoundError
from duvet.tree.cache import BlobStore, DiskCache, NoBlobStore, make_cache_key
from duvet.tree.files import CACHE_FOLDER, DiskTree, Tree

if TYPE_CHECKING:
    from duvet.config.settings import NotesRule
    from duvet.model import Specification
    from duvet.progress import Progress
    from duvet.project.project import Project
    from duvet.trace.catalogue import Catalogue, SpecificationCard
    from duvet.trace.locations import ProjectFiles
    from duvet.tree.recorder import FileContent

PageRules = tuple["NotesRule", ...]
Value = TypeVar("Value")


def load_catalogue(options: Mapping[str, Any]) -> Catalogue:
    from duvet.trace.catalogue import CATALOGUE_KEY, Catalogue

    return cached_query(CATALOGUE_KEY, Catalogue, options, lambda project: project.catalogue)


def require_catalogue(options: Mapping[str, Any]) -> Catalogue:
    """Return the catalogue; raise NotFoundError if it contains no requirements."""
    from duvet.queries.records import NO_REQUIREMENTS, describe_error_count, list_errors

    catalogue = load_catalogue(options)
    if catalogue.requirements:
        return catalogue
    if list_errors(catalogue):
        hint = f"{describe_error_count(catalogue)}; run `duvet validate` to list them"
    elif not catalogue.specifications:
        hint = "add a specification with `duvet init --specification URL|FILE`"
    else:
        hint = "no sentence of the specifications has an RFC 2119 keyword such as MUST"
    raise NotFoundError(NO_REQUIREMENTS, hint=hint)


def print_error_notice(catalogue: Catalogue) -> None:
    """If the project has errors, print a notice that results may be incomplete."""
    from duvet.queries.records import describe_incompleteness

    notice = describe_incompleteness(catalogue)
    if notice:
        print_remark(f"{notice}; run `duvet validate` to list them")


def cached_query(
    name: str,
    kind: type[Value],
    options: Mapping[str, Any],
    query: Callable[[Project], Value],
    rules: PageRules | None = None,
) -> Value:
    """Return the result of a query about the project, from the cache if nothing has changed."""
    cache = open_cache()
    if cache is None:
        return query(open_project_quietly(None, options, rules))
    key = make_options_key(options, rules=rules)
    return cache.compute(name, kind, key, lambda: query(open_project_quietly(cache, options, rules)), whole_run=True)


def make_options_key(options: Mapping[str, Any], *more: object, rules: PageRules | None = None) -> str:
    parts = more if rules is None else (*more, rules)
    return make_cache_key((os.getcwd(), current_settings().config_path, sorted(options.items()), *parts))


def open_cache(pinned: Mapping[str, FileContent] | None = None) -> DiskCache | None:
    """Open the cache of the project; return None without a project or with `--no-cache`."""
    settings = current_settings()
    return (
        DiskCache(DiskTree(), settings.environ, today=settings.today, pinned=pinned) if wants_cache(settings) else None
    )


def open_blobs(settings: TerminalSettings) -> BlobStore:
    """Open the cache's folder; without a project or with `--no-cache`, return a store that stays empty."""
    return BlobStore(DiskTree().at(CACHE_FOLDER)) if wants_cache(settings) else NoBlobStore()


def open_project(
    cache: DiskCache | None = None,
    progress: Progress | None = None,
    *,
    settings: TerminalSettings | None = None,
    root: str = "",
    rules: PageRules | None = None,
    config_path: str | None,
    offline: bool,
    allow_http: bool,
    source_patterns: tuple[str, ...],
    spec_patterns: tuple[str, ...],
    spec_path: str | None,
) -> Project:
    from duvet.console.progress import ProgressLines
    from duvet.project.project import Options, Project
    from duvet.specs.library import Policy

    settings = settings or current_settings()
    if source_patterns:
        from duvet.sources.glob import parse_legacy_pattern

        sources = tuple(map(parse_legacy_pattern, source_patterns))
    else:
        sources = ()
    project_options = Options(
        config_path=config_path or settings.config_path,
        ##= man/spec/pages.md#folders-of-notes
        ##% With `--pages`, duvet MUST ignore configurations in the folder unless an option or an environment variable
        ##% names them.
        finds_config=not settings.has_only_pages,
        sources=sources,
        requirements=spec_patterns,
        spec_path=spec_path,
        policy=Policy(offline=offline, allow_http=allow_http),
        notes=rules,
    )
    return Project(
        root,
        project_options,
        environ=cache.environ if cache else settings.environ,
        tree=cache.tree if cache else None,
        memory=cache,
        progress=progress or ProgressLines(settings),
        today=settings.today,
    )


def open_project_quietly(
    cache: DiskCache | None, options: Mapping[str, Any], rules: PageRules | None = None
) -> Project:
    """Open the project for a query, printing only downloads; raise UnreadableError if nothing is configured."""
    from duvet.console.progress import QuietProgress

    project = open_project(cache, QuietProgress(current_settings()), rules=rules, **options)
    require_contents(project)
    return project


def require_contents(project: Project) -> None:
    """Raise UnreadableError if neither the configuration nor options name sources or requirements."""
    if not (project.config or project.options.sources or project.options.requirements):
        from duvet.config.project_file import require_config

        require_config(project.tree)


def open_project_files() -> ProjectFiles:
    from duvet.trace.locations import ProjectFiles

    return ProjectFiles(DiskTree(), os.getcwd().replace(os.sep, "/"))


def load_specification(card: SpecificationCard) -> Specification:
    from duvet.specs.library import Library
    from duvet.trace.catalogue import load_card_specification

    cache = open_cache()
    # The card has the path of the text, so the configuration isn't read.
    library = Library(cache.tree if cache else DiskTree(), "", memory=cache)
    return load_card_specification(card, library)


def load_page_rules(options: Mapping[str, Any], tree: Tree | None = None) -> PageRules | None:
    """Load the page rules of the service configuration, for commands that need nothing else from it."""
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
