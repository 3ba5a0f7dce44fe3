"""Finds page files, and the files beside them that links may lead to."""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from duvet import model
from duvet.config.settings import Config, PagesTable, SourceRule, make_pattern_tuple
from duvet.project.project import Project
from duvet.rules import PAGE_UNREAD
from duvet.sources.gitignore import VIRTUAL_ENVIRONMENT, DefaultExcludes, IgnoredPaths
from duvet.sources.glob import PathPredicate, PatternError, compile_pattern
from duvet.sources.scan import FilteredTree, InnerTree, ProblemReporter, RuleOrigin, find_sources
from duvet.specs.section_names import is_url
from duvet.tree.files import DiskTree, FolderMembership, MemoryTree, Tree
from duvet.tree.recorder import RecordedTree, TreeRecord, check_unchanged

_DEFAULT_FOLDER = "docs"
_WILDCARD = re.compile(r"[*?\[]")


class PageFiles(Struct, frozen=True):
    prefixes: dict[str, str]  # The folder that the slug of a page omits, by the path of the page.
    others: tuple[str, ...]
    problems: tuple[model.Problem, ...]
    walk: tuple[object, TreeRecord] | None = None  # What the search for the files depends on.


class PagePatterns(Struct, frozen=True):
    tables: tuple[PagesTable, ...]
    config: Config | None
    root: str
    is_configured: bool  # False for the default patterns.
    is_of_disk: bool = False  # Whether the project is on disk, where links may lead out of it.

    def files(self, tree: Tree) -> PageFiles:
        # Most projects have no pages.
        if not (self.is_configured or tree.exists(_DEFAULT_FOLDER)):
            return PageFiles({}, (), ())
        walk, config = _PageWalk(tree, self), self.config
        for number, table in enumerate(self.tables):
            for index, pattern in enumerate(make_pattern_tuple(table.pattern)):
                origin = RuleOrigin()
                if config is not None and self.tables is config.notes:
                    origin = RuleOrigin(config.path, partial(_find_place, config, number, index))
                walk.add(pattern, make_pattern_tuple(table.exclude), origin)
        ##= man/spec/pages.md#files
        ##% duvet MUST read pages from the Markdown files that the configuration names, by default the Markdown files in
        ##% `docs` that are not specifications.
        is_default = config is not None and not self.is_configured
        sources = [entry.source for entry in config.specifications] if config is not None and is_default else []
        specifications = {posixpath.normpath(source) for source in sources if not is_url(source)}
        pages = {path: prefix for path, prefix in walk.found.items() if path not in specifications}
        others = (path for path in walk.beside if path not in pages and path not in walk.outside)
        hint = "move the files into the project, or change `pages.pattern` or `pages.exclude`"
        outside = (PAGE_UNREAD.problem("the path leads out of the project", path, hint=hint) for path in walk.outside)
        problems = tuple(dict.fromkeys([*walk.problems, *outside]))
        return PageFiles(pages, tuple(filter(tree.is_file, others)), problems)


def _find_place(config: Config, number: int, index: int, key: str, other: int) -> model.Place:
    return config.toml.value_place("pages", number, key, index if key == "pattern" else other)


class _PageWalk:
    def __init__(self, tree: Tree, patterns: PagePatterns) -> None:
        self.found: dict[str, str] = {}  # The prefixes of pages.
        self.beside: dict[str, None] = {}  # The files in the folders that wildcards match.
        self.outside: dict[str, None] = {}
        self.problems: list[model.Problem] = []
        self._tree, self._patterns = tree, patterns
        self._inside = FolderMembership(patterns.root, DiskTree(patterns.root))
        self._ignored = IgnoredPaths(tree, patterns.root)
        self._excludes = DefaultExcludes(())

    def add(self, pattern: str, exclude: tuple[str, ...], origin: RuleOrigin) -> None:
        wildcard = _WILDCARD.search(pattern)
        fixed = pattern[: wildcard.start()] if wildcard else pattern
        folders = [name for name in fixed.split("/")[:-1] if name not in ("", ".")]
        prefix = "/" * fixed.startswith("/") + "".join([f"{name}/" for name in folders])

        def hides(path: str, is_folder: bool) -> bool:
            ##= man/spec/pages.md#files
            ##% duvet MUST skip files that git ignores, hidden files, files that may contain secrets, and vendored
            ##% folders.
            if is_folder and self._tree.is_file(f"{path}/{VIRTUAL_ENVIRONMENT}"):
                return True
            name = path.rpartition("/")[2]
            # The walk does not ask about the folders that the pattern names.
            if name.startswith(".") or self._excludes.excludes(path, name, is_folder=is_folder, is_inside=False):
                return True
            return self._ignored.hides(path, is_folder)

        def limit(view: Tree) -> Tree:
            view = FilteredTree(view, hides)
            if not self._patterns.is_of_disk:
                return view
            return InnerTree(view, self._inside, lambda folder: self.outside.update({folder: None}))

        def find(pattern: str, unmatched: ProblemReporter | None) -> list[str]:
            source = SourceRule(patterns=(pattern,), exclude=exclude)
            root = self._patterns.root
            return [*find_sources([(source, origin)], self._tree, root, self.problems.append, limit, unmatched)]

        matches: PathPredicate | None = None
        with suppress(PatternError, IndexError):
            # The problem is reported when the pattern is used.
            matches = compile_pattern(pattern).components[-1].matches
        # One walk finds the pages and the files beside them.
        beside = find("".join([*pattern.rpartition("/")[:2], "*"]), None) if wildcard and matches else []
        unmatched: list[model.Problem] = []
        found = [path for path in beside if matches and matches(path.rpartition("/")[2])]
        for path in found or find(pattern, unmatched.append):
            ##= man/spec/pages.md#files
            ##% duvet MUST NOT read pages through a symbolic link that leads out of the project.
            if self._patterns.is_of_disk and not self._inside.has(path):
                self.outside[path] = None
            else:
                self.found.setdefault(path, prefix)
        self.beside.update(dict.fromkeys(beside))
        if self._patterns.is_configured:
            self.problems += (replace(problem, hint="correct the pattern, or remove it") for problem in unmatched)


def load_page_patterns(project: Project) -> PagePatterns:
    config, tree = project.config, project.tree
    tables = project.options.notes
    if tables is None and config is not None:
        tables = config.notes
    is_of_disk = project.on_disk or (isinstance(tree, MemoryTree) and tree.below is not None)
    default = (PagesTable(pattern=f"{_DEFAULT_FOLDER}/**/*.md"),)
    return PagePatterns(default if tables is None else tables, config, project.root, tables is not None, is_of_disk)


def find_page_files(project: Project, earlier: PageFiles | None = None) -> PageFiles:
    patterns = load_page_patterns(project)
    found = _find_files(patterns, project.tree, earlier)

    def list_files(tree: Tree) -> list[str]:
        now = patterns.files(tree)
        return [*now.prefixes, *now.others]

    project.listings.append((list_files, [*found.prefixes, *found.others]))
    return found


def _find_files(patterns: PagePatterns, tree: Tree, earlier: PageFiles | None) -> PageFiles:
    if not isinstance(tree, RecordedTree):
        return patterns.files(tree)
    # The inputs, apart from the tree, that determine the files.
    config = patterns.config
    written = config and (config.path, config.toml.text, config.specifications)
    key: object = (patterns.tables, patterns.root, patterns.is_configured, patterns.is_of_disk, written)
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
