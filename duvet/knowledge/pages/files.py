"""Finds page files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from duvet import model
from duvet.config.settings import Config, NotesRule, SourceRule
from duvet.project.project import Project
from duvet.rules import PAGE_UNREAD
from duvet.sources.gitignore import VIRTUAL_ENVIRONMENT, DefaultExcludes, IgnoredPaths
from duvet.sources.glob import PatternError, compile_pattern
from duvet.sources.scan import FilteredTree, InnerTree, ProblemReporter, RuleOrigin, find_sources
from duvet.specs.locator import is_url
from duvet.tree.files import DiskTree, FolderMembership, MemoryTree, Tree
from duvet.tree.recorder import RecordedTree, TreeRecord, check_unchanged

_WILDCARD = re.compile(r"[*?\[]")
DEFAULT_PAGE_RULES = (NotesRule(patterns=("docs/**/*.md",)),)


class PageFiles(Struct, frozen=True):
    prefixes: dict[str, str]  # The folder that the slug of a page omits, by the path of the page.
    others: tuple[str, ...]
    problems: tuple[model.Problem, ...]
    walk: tuple[object, TreeRecord] | None = None  # What the search for the files depends on.


class PagePatterns(Struct, frozen=True):
    rules: tuple[NotesRule, ...]
    config: Config | None
    root: str
    is_configured: bool  # False for the default patterns.
    is_of_disk: bool = False  # Whether the project is on disk, where links may lead out of it.

    def files(self, tree: Tree) -> PageFiles:
        walk = _PageWalk(tree, self.root, self.is_of_disk)
        for number, rule in enumerate(self.rules):
            for index, pattern in enumerate(rule.patterns):
                walk.add(pattern, rule, self._origin(number, index), reports_unmatched=self.is_configured)
        ##= man/spec/pages.md#files
        ##% duvet MUST read pages from the Markdown files that the configuration names, by default the Markdown files in
        ##% `docs` that are not specifications.
        return walk.make_result(frozenset() if self.is_configured else frozenset(self._specifications()))

    @property
    def key(self) -> object:
        """The inputs, apart from the tree, that determine the files."""
        config = self.config
        written = config and (config.path, config.toml.text, config.specifications)
        return self.rules, self.root, self.is_configured, self.is_of_disk, written

    def _origin(self, number: int, index: int) -> RuleOrigin:
        config = self.config
        if config is None or config.notes is None or self.rules is not config.notes:
            return RuleOrigin()

        def place(key: str, other: int) -> model.Place:
            return config.toml.value_place("pages", number, key, index if key == "pattern" else other)

        return RuleOrigin(config.path, place)

    def _specifications(self) -> Iterator[str]:
        for rule in self.config.specifications if self.config else ():
            if not is_url(rule.source):
                yield posixpath.normpath(rule.source)


class _PageWalk:
    def __init__(self, tree: Tree, root: str, is_of_disk: bool) -> None:
        self._tree, self._root, self._is_of_disk = tree, root, is_of_disk
        self._inside = FolderMembership(root, DiskTree(root))
        self._ignored = IgnoredPaths(tree, root)
        self._found: dict[str, str] = {}
        self._others: dict[str, None] = {}
        self._outside: dict[str, None] = {}
        self._problems: list[model.Problem] = []

    def add(self, pattern: str, rule: NotesRule, origin: RuleOrigin, *, reports_unmatched: bool) -> None:
        prefix = find_pattern_prefix(pattern)

        def report_unmatched(problem: model.Problem) -> None:
            if reports_unmatched:
                self._problems.append(replace(problem, hint="correct the pattern, or remove it"))

        def find(pattern: str, report: ProblemReporter, unmatched: ProblemReporter) -> Iterator[str]:
            source = SourceRule(patterns=(pattern,), exclude=rule.exclude)
            limit = partial(self._limit, prefix=prefix)
            return (
                file.path for file in find_sources([(source, origin)], self._tree, self._root, report, limit, unmatched)
            )

        folder, matches = _find_folder_pattern(pattern), _compile_name(pattern)
        # One walk finds the pages and the files beside them.
        beside = list(find(folder, self._problems.append, _ignore)) if folder and matches else []
        found = [path for path in beside if matches and matches(path.rpartition("/")[2])]
        for path in found or find(pattern, self._problems.append, report_unmatched):
            ##= man/spec/pages.md#files
            ##% duvet MUST skip files that are behind a symbolic link out of the project.
            if self._is_of_disk and not self._inside.has(path):
                self._outside[path] = None
            else:
                self._found.setdefault(path, prefix)
        self._others.update(dict.fromkeys(beside))

    def _limit(self, view: Tree, prefix: str) -> Tree:
        view = FilteredTree(view, _HiddenFiles(self._ignored, prefix).hides)
        if not self._is_of_disk:
            return view
        return InnerTree(view, self._inside, lambda folder: self._outside.update({folder: None}))

    def make_result(self, excluded: frozenset[str]) -> PageFiles:
        pages = {path: prefix for path, prefix in self._found.items() if path not in excluded}
        others = (path for path in self._others if path not in pages and path not in self._outside)
        hint = "move it into the project, or add it to `exclude`"
        outside = (PAGE_UNREAD.problem("the file is outside the project", path, hint=hint) for path in self._outside)
        return PageFiles(
            pages, tuple(filter(self._tree.is_file, others)), tuple(dict.fromkeys([*self._problems, *outside]))
        )


def _compile_name(pattern: str) -> Callable[[str], object] | None:
    """Return a predicate for the last part of a pattern; None if there is none or the pattern is invalid."""
    try:
        components = compile_pattern(pattern).components
    except PatternError:
        # The problem is reported when the pattern is used.
        return None
    return components[-1].matches if components else None


def _ignore(problem: model.Problem) -> None:
    pass


class _HiddenFiles:
    """Hides ignored, hidden, secret and vendored files, except folders that the `prefix` of a pattern names."""

    def __init__(self, ignored: IgnoredPaths, prefix: str) -> None:
        self._ignored = ignored
        self._prefix = prefix
        self._excludes = DefaultExcludes(())

    def hides(self, path: str, is_folder: bool) -> bool:
        ##= man/spec/pages.md#files
        ##% duvet MUST skip files that git ignores, hidden files, files that may contain secrets, and vendored folders.
        name = path.rpartition("/")[2]
        is_below = path.startswith(self._prefix)
        if is_folder and self._ignored.tree.is_file(f"{path}/{VIRTUAL_ENVIRONMENT}"):
            return True
        if is_below and (
            name.startswith(".") or self._excludes.excludes(path, name, is_folder=is_folder, is_inside=False)
        ):
            return True
        return self._ignored.hides(path, is_folder)


def _find_folder_pattern(pattern: str) -> str:
    """Return a pattern for all files in the folders that a pattern matches; empty for a pattern without wildcards."""
    folder, slash, _ = pattern.rpartition("/")
    return f"{folder}{slash}*" if _WILDCARD.search(pattern) else ""


def load_page_patterns(project: Project) -> PagePatterns:
    """Return the patterns from the options, else from the configuration, else the defaults."""
    config, tree = project.config, project.tree
    rules = project.options.notes
    if rules is None and config is not None:
        rules = config.notes
    is_of_disk = project.on_disk or (isinstance(tree, MemoryTree) and tree.below is not None)
    return PagePatterns(
        DEFAULT_PAGE_RULES if rules is None else rules, config, project.root, rules is not None, is_of_disk
    )


def find_page_files(project: Project, earlier: PageFiles | None = None) -> PageFiles:
    patterns = load_page_patterns(project)
    found = _find_files(patterns, project.tree, earlier)

    def list_files(tree: Tree) -> list[str]:
        now = patterns.files(tree)
        return [*now.prefixes, *now.others]

    project.listings.append((list_files, [*found.prefixes, *found.others]))
    return found


def _find_files(patterns: PagePatterns, tree: Tree, earlier: PageFiles | None) -> PageFiles:
    """Find the files of patterns; reuse `earlier` if no folder has changed since."""
    if not isinstance(tree, RecordedTree):
        return patterns.files(tree)
    key = patterns.key
    if earlier and earlier.walk and earlier.walk[0] == key:
        before = earlier.walk[1]
        # Where a symlink leads is not recorded.
        unchanged = None if before.links else check_unchanged(before, tree)
        if unchanged is not None:
            tree.record.merge(unchanged)
            return replace(earlier, walk=(key, unchanged))
    with tree.recording() as record:
        found = patterns.files(tree)
    return replace(found, walk=(key, record))


def find_pattern_prefix(pattern: str) -> str:
    wildcard = _WILDCARD.search(pattern)
    fixed = pattern[: wildcard.start()] if wildcard else pattern
    folder, slash, _ = fixed.removeprefix("./").rpartition("/")
    return folder + slash
