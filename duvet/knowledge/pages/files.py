"""Finds page files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from msgspec import Struct

from duvet import errors, model
from duvet.config.settings import Config, NotesRule, SourceRule
from duvet.project.project import Project
from duvet.rules import PAGE_UNREAD
from duvet.sources.scan import InnerTree, RuleOrigin, find_sources
from duvet.specs.locator import is_url
from duvet.tree.files import DiskTree, FolderMembership, MemoryTree, Tree
from duvet.tree.recorder import RecordedTree

_WILDCARD = re.compile(r"[*?\[]")
DEFAULT_PAGE_RULES = (NotesRule(patterns=("docs/**/*.md",)),)


class PageFiles(Struct, frozen=True):
    """The page files, the folder prefix that each slug leaves out, and the problems with the patterns."""

    prefixes: dict[str, str]
    problems: tuple[model.Problem, ...]


class PagePatterns(Struct, frozen=True):
    rules: tuple[NotesRule, ...]
    config: Config | None
    root: str
    is_configured: bool  # False for the default patterns.
    is_of_disk: bool = False  # Whether the project is on disk, where links may lead out of it.

    def files(self, tree: Tree) -> PageFiles:
        problems: list[model.Problem] = []
        found: dict[str, str] = {}
        inside = FolderMembership(self.root, DiskTree(self.root))
        outside: dict[str, None] = {}

        def inner(view: Tree) -> Tree:
            return InnerTree(view, inside, lambda folder: outside.update({folder: None})) if self.is_of_disk else view

        for number, rule in enumerate(self.rules):
            for index, pattern in enumerate(rule.patterns):
                source = SourceRule(patterns=(pattern,), exclude=rule.exclude)
                sources = [(source, self._origin(number, index))]
                for file in find_sources(sources, tree, self.root, problems.append, inner):
                    ##= man/spec/pages.md#hostile-input
                    ##% duvet MUST skip a page behind a symbolic link that leads out of the project, and warn about it.
                    if self.is_of_disk and not inside.has(file.path):
                        outside[file.path] = None
                    else:
                        found.setdefault(file.path, find_pattern_prefix(pattern))
        excluded = frozenset() if self.is_configured else frozenset(self._specifications())
        hint = "move it into the project, or add it to `exclude`"
        problems += (PAGE_UNREAD.problem("the file is outside the project", path, hint=hint) for path in outside)
        return PageFiles({path: found[path] for path in found if path not in excluded}, tuple(problems))

    def _origin(self, number: int, index: int) -> RuleOrigin:
        config = self.config
        if config is None or config.notes is None or self.rules is not config.notes:
            return RuleOrigin()

        def place(key: str, other: int) -> model.Place:
            return config.toml.value_place("pages", number, key, index if key == "pattern" else other)

        return RuleOrigin(config.path, place)

    def _specifications(self) -> Iterator[str]:
        ##= man/spec/pages.md#files
        ##% duvet MUST read pages from the Markdown files that the configuration names, by default from the Markdown
        ##% files in `docs` that are not specifications.
        for rule in self.config.specifications if self.config else ():
            if not is_url(rule.source):
                yield posixpath.normpath(rule.source)


def load_page_patterns(project: Project) -> PagePatterns:
    """Return the patterns from the options, from the configuration, or else the defaults."""
    config, tree = project.config, project.tree
    rules = project.options.notes
    if rules is None and config is not None:
        rules = config.notes
    is_of_disk = project.on_disk or (isinstance(tree, MemoryTree) and tree.below is not None)
    return PagePatterns(
        DEFAULT_PAGE_RULES if rules is None else rules, config, project.root, rules is not None, is_of_disk
    )


def find_page_files(project: Project) -> PageFiles:
    """Find the page files of a project, and record them so that changes are noticed."""
    patterns = load_page_patterns(project)
    found = patterns.files(project.tree)
    project.listings.append((lambda tree: list(patterns.files(tree).prefixes), list(found.prefixes)))
    return found


def find_modification_time(project: Project, path: str) -> float:
    """Return the modification time of a file, or 0 if it is unknown."""
    tree = project.tree
    if isinstance(tree, RecordedTree):
        seen = tree.seen.get(path)
        return seen.modified / 1e9 if seen else 0.0
    if isinstance(tree, DiskTree):
        try:
            return tree.marks(path).st_mtime
        except errors.DuvetError:
            return 0.0
    return 0.0


def find_pattern_prefix(pattern: str) -> str:
    """Return the folders before the first wildcard of a pattern, with a slash at the end."""
    wildcard = _WILDCARD.search(pattern)
    fixed = pattern[: wildcard.start()] if wildcard else pattern
    folder, slash, _ = fixed.removeprefix("./").rpartition("/")
    return folder + slash
