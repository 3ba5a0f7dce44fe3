"""The catalogue of the project at a commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.project_file import CONFIG_PATH
from duvet.console.progress import QuietProgress
from duvet.console.project import make_options_key, open_project
from duvet.console.settings import current_settings
from duvet.errors import DuvetError, UnreadableError
from duvet.model import ProblemsError
from duvet.project.project import Project
from duvet.queries.revisions import DiffBase
from duvet.specs.locator import locate_specification
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import Cache
from duvet.tree.git import GitRevisions, GitTree


class RevisionCatalogue(Struct, frozen=True):
    """The catalogue at a commit, and the files that were read from disk because the commit lacks them."""

    catalogue: Catalogue
    has_configuration: bool
    borrowed: tuple[str, ...]


def load_revision_catalogue(
    cache: Cache | None, options: Mapping[str, Any], revisions: GitRevisions, base: DiffBase, now: Catalogue
) -> RevisionCatalogue:
    """Load the catalogue of a commit; commits don't change, so it stays valid in the cache."""
    today = open_project(cache, QuietProgress(current_settings()), **options)
    specifications = tuple(sorted(card.path for card in now.specifications))

    def read() -> RevisionCatalogue:
        with _name_revision(base), revisions.tree(base.commit, today.tree) as tree:
            return _read_revision(today, tree, specifications)

    key = make_options_key(options, base.commit, revisions.prefix, specifications)
    return today.memory.of_tree("earlier", RevisionCatalogue, key, read)


def _read_revision(today: Project, tree: GitTree, specifications: tuple[str, ...]) -> RevisionCatalogue:
    options = today.options
    if not (tree.exists(options.config_path or CONFIG_PATH) or options.sources or options.requirements):
        ##= man/spec/diff.md#reading-a-revision
        ##% `duvet diff` MUST treat a revision without the project or its configuration as empty, and fail when a clone
        ##% lacks a part of the revision.
        return RevisionCatalogue(Catalogue((), (), (), ()), False, ())
    project = Project(options=options, environ=today.environ, tree=tree, progress=today.progress, today=today.today)
    tree.lend(frozenset([*specifications, *_list_configured_files(project)]), project.downloads)
    catalogue = project.catalogue
    if tree.paths.lacks:
        hint = "get it with git, for example by `git checkout`; duvet fetches nothing"
        raise UnreadableError("this clone lacks it", path=tree.paths.lacks[0], hint=hint)
    for entry in project.not_applicable:
        # The commit doesn't change, but an entry of its configuration may expire.
        if entry.expiry:
            today.memory.dated(entry.expiry.isoformat(), entry.has_expired)
    return RevisionCatalogue(catalogue, True, tuple(tree.taken))


def _list_configured_files(project: Project) -> Iterator[str]:
    for rule in project.config.specifications if project.config else ():
        # A name that is no locator is reported with the trace.
        with suppress(DuvetError):
            locator = locate_specification(rule.source)
            if not locator.is_url:
                yield locator.name


@contextmanager
def _name_revision(base: DiffBase) -> Iterator[None]:
    """Put the revision before the paths in errors, as git does."""
    revision = base.short if base.is_merge_base else base.revision
    try:
        yield
    except ProblemsError as error:
        raise ProblemsError(tuple(replace(one, path=f"{revision}:{one.path}") for one in error.problems)) from error
    except DuvetError as error:
        error.path = f"{revision}:{error.path}"
        raise
