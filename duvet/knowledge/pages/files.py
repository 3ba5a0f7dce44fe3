"""Finds page files, and their dates."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable, Iterator
from subprocess import TimeoutExpired

from msgspec import Struct

from duvet.config.settings import Config, NotesRule, SourceRule
from duvet.errors import DuvetError
from duvet.knowledge.pages.page import find_pattern_prefix
from duvet.model import Place, Problem
from duvet.project.project import Project
from duvet.rules import PAGE_UNREAD
from duvet.sources.scan import InnerTree, RuleOrigin, find_sources
from duvet.specs.locator import is_url
from duvet.tree.files import DiskTree, FolderMembership, MemoryTree, Tree
from duvet.tree.git import GitCommand, GitRepository
from duvet.tree.recorder import RecordedTree

DEFAULT_PAGE_RULES = (NotesRule(patterns=("docs/**/*.md",)),)


class PagePatterns(Struct, frozen=True):
    """What names the pages of a project."""

    rules: tuple[NotesRule, ...]
    config: Config | None
    root: str
    is_said: bool
    """Whether anybody has said which they are."""
    is_of_disk: bool = False
    """Whether links may lead out of the project."""

    def files(self, tree: Tree) -> PageFiles:
        """Those that there are."""
        problems: list[Problem] = []
        found: dict[str, str] = {}
        inside = FolderMembership(self.root, DiskTree(self.root))
        outside: dict[str, None] = {}

        def inner(view: Tree) -> Tree:
            return InnerTree(view, inside, lambda folder: outside.update({folder: None})) if self.is_of_disk else view

        for number, rule in enumerate(self.rules):
            for index, pattern in enumerate(rule.patterns):
                source = SourceRule(patterns=(pattern,), exclude=rule.exclude)
                given = [(source, self._origin(number, index))]
                for one in find_sources(given, tree, self.root, problems.append, inner):
                    ##= man/spec/pages.md#hostile-input
                    ##% duvet MUST skip files and folders that a link leads to outside of the project, with a warning.
                    if self.is_of_disk and not inside.has(one.path):
                        outside[one.path] = None
                    else:
                        found.setdefault(one.path, find_pattern_prefix(pattern))
        left_out = frozenset() if self.is_said else frozenset(self._specifications())
        prefixes = {path: prefix for path, prefix in found.items() if path not in left_out}
        return PageFiles(prefixes, (*problems, *map(_told, outside)))

    def _origin(self, number: int, index: int) -> RuleOrigin:
        config = self.config
        if config is None or config.notes is None or self.rules is not config.notes:
            return RuleOrigin()

        def place(key: str, other: int) -> Place:
            return config.toml.value_place("pages", number, key, index if key == "pattern" else other)

        return RuleOrigin(config.path, place)

    def _specifications(self) -> Iterator[str]:
        ##= man/spec/pages.md#files
        ##% Pages MUST be the Markdown files that the configuration names or, by default, those in `docs` that are not
        ##% specifications.
        for rule in self.config.specifications if self.config else ():
            if not is_url(rule.source):
                yield posixpath.normpath(rule.source)


class PageFiles(Struct, frozen=True):
    """The files, each with the folders that its slug doesn't name, and what is wrong with the patterns."""

    prefixes: dict[str, str]
    problems: tuple[Problem, ...]


def load_page_patterns(project: Project) -> PagePatterns:
    """What names the pages of a project."""
    config = project.config
    said = project.options.notes
    if said is None and config is not None:
        said = config.notes
    return PagePatterns(
        DEFAULT_PAGE_RULES if said is None else said, config, project.root, said is not None, _is_of_disk(project)
    )


def find_page_files(project: Project) -> PageFiles:
    """The files that are pages, by the tree of the project."""
    wanted = load_page_patterns(project)
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


_LONGEST = 10.0
"""Seconds that git may take: without it there are other times."""
_VARIABLES = ("PATH", "HOME", "SYSTEMROOT")
_COMMIT = "\x01"
_RENAMED = "R"
_ASIDE = ("/", "../")
"""What the folders begin with of which the repository may know nothing, and refuse to say anything."""


class FirstCommitDates(Struct, frozen=True):
    """When each file came into the repository, as of a commit."""

    head: str = ""
    first: dict[str, float] = {}


def find_first_commits(
    project: Project, folders: Collection[str], earlier: FirstCommitDates | None
) -> FirstCommitDates:
    """The time of the first commit of each file in these folders; nothing where git doesn't tell."""
    head = _head(project)
    if not head:
        return FirstCommitDates()
    if earlier is not None and earlier.head == head:
        return earlier

    def work() -> dict[str, float]:
        # The commit that this depends on is a file that was read.
        _head(project)
        return _asked(project, folders)

    return FirstCommitDates(head, project.memory.compute("page-dates", dict[str, float], (head, sorted(folders)), work))


def _head(project: Project) -> str:
    if not project.on_disk:
        return ""
    repository = GitRepository(project.tree, project.root)
    top = repository.top(repository.start)
    return repository.head(top) if top else ""


def _asked(project: Project, folders: Iterable[str]) -> dict[str, float]:
    environ = {name: project.environ[name] for name in _VARIABLES if name in project.environ}
    known = [folder or "." for folder in folders if not folder.startswith(_ASIDE)]
    if not known:
        return {}
    try:
        process = GitCommand(project.root, environ).open(
            *("-c", "log.showRoot=true", "-c", "log.follow=false", "--literal-pathspecs"),
            # Renames that change nothing are found without a look into files, which a clone may lack.
            *("log", "-z", "--no-show-signature", "--no-color", "--find-renames=100%", "--diff-filter=AR"),
            *("--name-status", "--relative", f"--format=tformat:{_COMMIT}%at", "HEAD", "--", *known),
        )
        try:
            out, _ = process.communicate(timeout=_LONGEST)
        except TimeoutExpired:
            process.kill()
            process.communicate()
            return {}
    except (DuvetError, OSError):
        return {}
    return _read(os.fsdecode(out)) if process.returncode == 0 else {}


def _read(out: str) -> dict[str, float]:
    found: dict[str, float] = {}
    # The names that files have now, by those that they had.
    heirs: dict[str, Collection[str]] = {}
    moment = 0.0
    words = iter(out.split("\0"))
    for word in words:
        if word.startswith(_COMMIT):
            moment = float(word[1:])
        elif word.lstrip("\n").startswith(_RENAMED):
            ##= man/spec/pages.md#files
            ##% The date of a page MUST be that of its front matter, or of its first commit despite renames and git's
            ##% configuration, or of its file.
            before, after = next(words), next(words)
            heirs[before] = {*heirs.get(before, ()), *heirs.pop(after, ()), after}
        elif word:
            path = next(words)
            # The newest commit comes first, and the first one counts.
            found.update(dict.fromkeys(heirs.pop(path, (path,)), moment))
    return found


def find_modification_time(project: Project, path: str) -> float:
    """When a file was changed last; 0 where that is not known."""
    tree = project.tree
    if isinstance(tree, RecordedTree):
        seen = tree.seen.get(path)
        return seen.modified / 1e9 if seen else 0.0
    if isinstance(tree, DiskTree):
        try:
            return tree.marks(path).st_mtime
        except DuvetError:
            return 0.0
    return 0.0
