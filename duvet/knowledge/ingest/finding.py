"""Which files of a project are taken in."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from duvet import rules
from duvet.config.schema import Config, IngestRule
from duvet.errors import DuvetError
from duvet.knowledge.ingest.unasked import Unasked
from duvet.knowledge.ingest.warnings import as_text, warning
from duvet.knowledge.upkeep.places import is_backup
from duvet.model import Problem, ProblemsError
from duvet.project import Project
from duvet.sources.ignored import Ignored
from duvet.sources.patterns import Matches, Pattern, PatternError, any_of, compile_pattern
from duvet.tree.disk import OWN_FOLDERS
from duvet.tree.protocol import Entry, Tree, is_folder
from duvet.unfinished import is_unfinished

_OWN = (*OWN_FOLDERS, ".duvet/reports")
"""What duvet makes itself."""
_ALL = "**"


class FoundFiles(Struct, frozen=True):
    """The files in order, and what is wrong with some."""

    paths: tuple[str, ...]
    problems: tuple[Problem, ...]


def find_files(project: Project, wanted: IngestRule, own: Iterable[str] = ()) -> FoundFiles:
    """The files to take in; `own` are further files and folders that duvet has made."""
    walk = _Walk(project.tree, project.root, wanted, (*_OWN, *own, *_made(project)))
    paths = tuple(sorted(walk.files()))
    return FoundFiles(paths, tuple(sorted(walk.problems, key=lambda one: one.sort_key)))


class _Walk:
    """Goes through folders with a list of what is still to do: a tree may be deeper than Python's stack."""

    def __init__(self, tree: Tree, root: str, wanted: IngestRule, own: Iterable[str]) -> None:
        self.tree = tree
        self.problems: list[Problem] = []
        self._includes = None if _ALL in wanted.include else _any("include", wanted.include)
        self._excludes = _any("exclude", wanted.exclude)
        self._ignores = Ignored(tree, root).hides
        self._unasked = Unasked(wanted.include)
        self._own = frozenset(posixpath.normpath(path) for path in own)

    def files(self) -> Iterator[str]:
        """Every file that is wanted, in no order."""
        unasked, todo = self._unasked, [("", False)]
        while todo:
            folder, is_inside = todo.pop()
            start, entries = f"{folder}/" if folder else "", self._entries(folder)
            is_inside = is_inside or unasked.hides_all_in(folder, [entry.name for entry in entries])
            for entry in entries:
                path = start + entry.name
                inner = is_folder(entry)
                if entry.is_symlink() or self._is_left_out(path, entry.name, inner):
                    continue
                is_hidden = unasked.hides(path, entry.name, inner, is_inside)
                if inner and (not is_hidden or unasked.leads_on(path)):
                    todo.append((path, is_hidden))
                elif not inner and not is_hidden and self._is_wanted(path):
                    yield path

    def _entries(self, folder: str) -> list[Entry]:
        try:
            return list(self.tree.entries(folder))
        except DuvetError as error:
            self.problems.append(warning(error.message, as_text(error.path or folder)))
            return []

    def _is_left_out(self, path: str, name: str, inner: bool) -> object:
        ##= man/spec/knowledge.md#files
        ##% What git ignores, what is in `.git`, what duvet has made itself, and links MUST NOT be taken in.
        ##= man/spec/gateway.md#maintenance
        ##% A backup that stands elsewhere in the project under the name that it was given by duvet MUST NOT be taken in.
        ##= man/spec/knowledge.md#files
        ##% What was left unfinished by those who were killed MUST NOT be taken in, in whichever folder it is.
        if path in self._own or is_unfinished(name) or (not inner and is_backup(name)):
            return True
        return self._excludes(path) or self._ignores(path, inner)

    def _is_wanted(self, path: str) -> object:
        try:
            path.encode()
        except UnicodeEncodeError:
            ##= man/spec/knowledge.md#files
            ##% A file whose name is not UTF-8 MUST be left out with a warning.
            self.problems.append(warning("the name of this file is not UTF-8", as_text(path)))
            return False
        ##= man/spec/knowledge.md#files
        ##% Those files MUST be taken in that a pattern of `ingest.include` matches, or that are in a folder that one
        ##% matches, and that none of `ingest.exclude` does.
        return self._includes is None or self._includes(path)


def _any(key: str, patterns: Iterable[str]) -> Matches:
    return any_of(map(_compiler(key), patterns))


def _compiler(key: str) -> Callable[[str], Pattern]:
    def compiled(pattern: str) -> Pattern:
        try:
            return compile_pattern(pattern)
        except PatternError as error:
            message = f"ingest.{key}: {error.message}"
            raise ProblemsError((rules.CONFIG_BAD_PATTERN.problem(message, hint=error.hint),)) from error

    return compiled


def _made(project: Project) -> Iterator[str]:
    """The reports that the configuration names."""
    config = _config(project)
    if config is not None:
        yield from (config.report.html.path, config.report.json.path, config.report.snapshot.path)


def _config(project: Project) -> Config | None:
    try:
        return project.config
    except DuvetError:
        # What is wrong with it is told where the trace is read.
        return None
