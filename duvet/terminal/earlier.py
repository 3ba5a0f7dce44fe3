"""The catalogue of the project as it was in a commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from duvet.cache.cache import Cache
from duvet.config.find import CONFIG_PATH
from duvet.errors import DuvetError, UnreadableError
from duvet.model import ProblemsError
from duvet.project import Project
from duvet.queries.bases import Base
from duvet.queries.catalogue import Catalogue
from duvet.specs.resolve import locate
from duvet.terminal.options import key_of, open_project
from duvet.terminal.progress import Quietly
from duvet.terminal.settings import settings
from duvet.tree.git import GitTree
from duvet.tree.revisions import Revisions

_NAME = "earlier"


class Earlier(Struct, frozen=True):
    """What there was, and what had to be taken from today's disk to tell."""

    catalogue: Catalogue
    has_configuration: bool
    taken: tuple[str, ...]


def read_earlier(
    cache: Cache | None, where: Mapping[str, Any], revisions: Revisions, base: Base, now: Catalogue
) -> Earlier:
    """The catalogue of a commit: commits don't change, so what is known of one is known for good."""
    today = open_project(cache, Quietly(settings()), **where)
    files = tuple(sorted(card.path for card in now.specifications))

    def work() -> Earlier:
        with _told_with(base), revisions.tree(base.commit, today.tree) as tree:
            return _read(today, tree, files)

    how = key_of(where, base.commit, revisions.prefix, files)
    return today.memory.of_tree(_NAME, Earlier, how, work)


def _read(today: Project, tree: GitTree, files: tuple[str, ...]) -> Earlier:
    project = Project(
        options=today.options, environ=today.environ, tree=tree, progress=today.progress, today=today.today
    )
    options = today.options
    if not (tree.exists(options.config_path or CONFIG_PATH) or options.sources or options.requirements):
        ##= man/spec/diff.md#faults
        ##% A revision without the folder of the project or without a configuration MUST be taken for one in which
        ##% nothing was required and nothing cited.
        return Earlier(Catalogue((), (), (), ()), False, ())
    tree.lend(frozenset([*files, *_configured(project)]), project.downloads)
    catalogue = project.catalogue
    _check_whole(tree)
    for entry in project.not_applicable:
        # A commit doesn't change, and yet what it says may end.
        if entry.expiry:
            today.memory.dated(entry.expiry.isoformat(), entry.has_expired)
    return Earlier(catalogue, True, tuple(tree.taken))


def _check_whole(tree: GitTree) -> None:
    if tree.paths.lacks:
        ##= man/spec/diff.md#faults
        ##% Where a clone lacks a part of a revision, the comparison MUST fail.
        hint = "get it with git, for example by `git checkout`; duvet fetches nothing"
        raise UnreadableError("this clone lacks it", path=tree.paths.lacks[0], hint=hint)


def _configured(project: Project) -> Iterator[str]:
    for rule in project.config.specifications if project.config else ():
        try:
            locator = locate(rule.source)
        except DuvetError:
            # What is wrong with a name is told at its place.
            continue
        if not locator.is_url:
            yield locator.name


@contextmanager
def _told_with(base: Base) -> Iterator[None]:
    """What is wrong with a file of a revision is told with the name of the revision, as git does."""
    revision = base.short if base.is_merge_base else base.revision
    try:
        yield
    except ProblemsError as error:
        ##= man/spec/diff.md#faults
        ##% What is wrong with the configuration of a revision MUST be told with the name of the revision.
        raise ProblemsError(tuple(replace(one, path=f"{revision}:{one.path}") for one in error.problems)) from error
    except DuvetError as error:
        error.path = f"{revision}:{error.path}"
        raise
