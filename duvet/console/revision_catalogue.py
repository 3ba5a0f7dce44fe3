"""The catalogue of the project at a commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.project_file import CONFIG_PATH
from duvet.console.options import make_options_key, open_project
from duvet.console.progress import QuietProgress
from duvet.console.settings import current_settings
from duvet.errors import DuvetError, UnreadableError
from duvet.model import ProblemsError
from duvet.project.project import Project
from duvet.queries.revisions import DiffBase
from duvet.specs.locator import locate_specification
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import DiskCache
from duvet.tree.git import GitCommand, GitRevisions, GitTree

_NAME = "earlier"


class EarlierCatalogue(Struct, frozen=True):
    """What there was, and what had to be taken from today's disk to tell."""

    catalogue: Catalogue
    has_configuration: bool
    taken: tuple[str, ...]


def load_earlier_catalogue(
    cache: DiskCache | None, where: Mapping[str, Any], revisions: GitRevisions, base: DiffBase, now: Catalogue
) -> EarlierCatalogue:
    """The catalogue of a commit: commits don't change, so what is known of one is known for good."""
    today = open_project(cache, QuietProgress(current_settings()), **where)
    files = tuple(sorted(card.path for card in now.specifications))

    def work() -> EarlierCatalogue:
        with _told_with(base), revisions.tree(base.commit, today.tree) as tree:
            return _read(today, tree, files)

    how = make_options_key(where, base.commit, revisions.prefix, files)
    return today.memory.compute(_NAME, EarlierCatalogue, how, work)


def _read(today: Project, tree: GitTree, files: tuple[str, ...]) -> EarlierCatalogue:
    project = Project(
        options=today.options, environ=today.environ, tree=tree, progress=today.progress, today=today.today
    )
    options = today.options
    if not (tree.exists(options.config_path or CONFIG_PATH) or options.sources or options.requirements):
        ##= man/spec/diff.md#reading-a-revision
        ##% `duvet diff` MUST treat a revision without the project or its configuration as empty, and fail when a clone
        ##% lacks a part of the revision.
        return EarlierCatalogue(Catalogue((), (), (), ()), False, ())
    tree.lend(frozenset([*files, *_configured(project)]), project.downloads)
    catalogue = project.catalogue
    _check_whole(tree)
    for entry in project.not_applicable:
        # A commit doesn't change, and yet what it says may end.
        if entry.expiry:
            today.memory.note_day(entry.expiry.isoformat(), entry.has_expired)
    return EarlierCatalogue(catalogue, True, tuple(tree.taken))


def _check_whole(tree: GitTree) -> None:
    if tree.paths.lacks:
        hint = "get it with git, for example by `git checkout`; duvet fetches nothing"
        raise UnreadableError("this clone lacks it", path=tree.paths.lacks[0], hint=hint)


def _configured(project: Project) -> Iterator[str]:
    for rule in project.config.specifications if project.config else ():
        try:
            locator = locate_specification(rule.source)
        except DuvetError:
            # What is wrong with a name is told at its place.
            continue
        if not locator.is_url:
            yield locator.name


@contextmanager
def _told_with(base: DiffBase) -> Iterator[None]:
    """What is wrong with a file of a revision is told with the name of the revision, as git does."""
    revision = base.short if base.is_merge_base else base.revision
    try:
        yield
    except ProblemsError as error:
        raise ProblemsError(tuple(replace(one, path=f"{revision}:{one.path}") for one in error.problems)) from error
    except DuvetError as error:
        error.path = f"{revision}:{error.path}"
        raise


def read_committed_file(folder: str, commit: str, path: str) -> bytes | None:
    """The content of a file that is named from a folder; None where the commit lacks it, or git is absent."""
    # What a hook is told about repositories is about the same one, or about another.
    environ = {name: value for name, value in current_settings().environ.items() if not name.startswith("GIT_")}
    try:
        return GitCommand(folder, environ).content("cat-file", "blob", f"{commit}:./{path}")
    except DuvetError:
        return None
