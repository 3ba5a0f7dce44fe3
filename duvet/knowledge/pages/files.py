"""Which files are pages."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from msgspec import Struct

from duvet.config.schema import Config, NotesRule, SourceRule
from duvet.knowledge.pages.slugs import prefix_of
from duvet.model import Place, Problem
from duvet.project import Project
from duvet.rules import PAGE_UNREAD
from duvet.sources.inner import InnerTree
from duvet.sources.scan import Origin, find_sources
from duvet.specs.urls import is_url
from duvet.tree.disk import DiskTree
from duvet.tree.inside import Inside
from duvet.tree.memory import MemoryTree
from duvet.tree.protocol import Tree

BY_DEFAULT = (NotesRule(patterns=("docs/**/*.md",)),)


class Wanted(Struct, frozen=True):
    """What names the pages of a project."""

    rules: tuple[NotesRule, ...]
    config: Config | None
    root: str
    is_said: bool
    """Whether anybody has said which they are."""
    is_of_disk: bool = False
    """Whether links may lead out of the project."""

    def files(self, tree: Tree) -> Files:
        """Those that there are."""
        problems: list[Problem] = []
        found: dict[str, str] = {}
        inside = Inside(self.root, DiskTree(self.root))
        outside: dict[str, None] = {}

        def inner(view: Tree) -> Tree:
            ##= man/spec/pages.md#hostile-input
            ##% A folder outside of the folder of the project MUST NOT be entered for pages, and that MUST be one warning
            ##% for each link that leads there.
            return InnerTree(view, inside, lambda folder: outside.update({folder: None})) if self.is_of_disk else view

        for number, rule in enumerate(self.rules):
            for index, pattern in enumerate(rule.patterns):
                source = SourceRule(patterns=(pattern,), exclude=rule.exclude)
                ##= man/spec/pages.md#files
                ##% Where the configuration names pages, those files MUST be pages that a pattern matches and `exclude`
                ##% doesn't, and no others.
                given = [(source, self._origin(number, index))]
                for one in find_sources(given, tree, self.root, problems.append, inner):
                    ##= man/spec/pages.md#hostile-input
                    ##% A file outside of the folder of the project MUST NOT be a page, by whatever link it is reached,
                    ##% and that MUST be a warning.
                    if self.is_of_disk and not inside.has(one.path):
                        outside[one.path] = None
                    else:
                        found.setdefault(one.path, prefix_of(pattern))
        left_out = frozenset() if self.is_said else frozenset(self._specifications())
        prefixes = {path: prefix for path, prefix in found.items() if path not in left_out}
        return Files(prefixes, (*problems, *map(_told, outside)))

    def _origin(self, number: int, index: int) -> Origin:
        config = self.config
        if config is None or config.notes is None or self.rules is not config.notes:
            return Origin()

        def place(key: str, other: int) -> Place:
            return config.toml.value_place("pages", number, key, index if key == "pattern" else other)

        return Origin(config.path, place)

    def _specifications(self) -> Iterator[str]:
        ##= man/spec/pages.md#files
        ##% Where the configuration names no pages, they MUST be the Markdown files in `docs` that are no specification of
        ##% the configuration.
        for rule in self.config.specifications if self.config else ():
            if not is_url(rule.source):
                yield posixpath.normpath(rule.source)


class Files(Struct, frozen=True):
    """The files, each with the folders that its slug doesn't name, and what is wrong with the patterns."""

    prefixes: dict[str, str]
    problems: tuple[Problem, ...]


def wanted_of(project: Project) -> Wanted:
    """What names the pages of a project."""
    config = project.config
    said = project.options.notes
    if said is None and config is not None:
        said = config.notes
    return Wanted(BY_DEFAULT if said is None else said, config, project.root, said is not None, _is_of_disk(project))


def find_pages(project: Project) -> Files:
    """The files that are pages, by the tree of the project."""
    wanted = wanted_of(project)
    found = wanted.files(project.tree)
    # Whoever follows the project has to look for others as well.
    project.listings.append((lambda tree: list(wanted.files(tree).prefixes), list(found.prefixes)))
    return found


def _is_of_disk(project: Project) -> bool:
    """Whether there are files on disk in the project, be it with others laid over them."""
    tree = project.tree
    return project.on_disk or (isinstance(tree, MemoryTree) and tree.below is not None)


def _told(path: str) -> Problem:
    hint = "move it into the project, or name it in `exclude`"
    return PAGE_UNREAD.problem("it is outside of the project", path, hint=hint)
