"""Finds the files to index and their kinds."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from duvet import rules
from duvet.config.settings import Config, IngestRule
from duvet.errors import DuvetError
from duvet.knowledge.settings import is_backup
from duvet.model import Place, Problem, ProblemsError, Severity
from duvet.project.project import Project
from duvet.sources.gitignore import IgnoredPaths
from duvet.sources.glob import PathPattern, PathPredicate, PatternError, compile_pattern, match_any
from duvet.store.records import FileKind
from duvet.tree.files import OWN_FOLDERS, Tree, TreeEntry, is_folder
from duvet.tree.outputs import is_unfinished


def make_warning(message: str, path: str = "", place: Place = Place(), hint: str = "") -> Problem:  # noqa: B008 - frozen
    """A problem that keeps nothing from going on."""
    return Problem("", message, path, place, hint=hint, severity=Severity.WARNING)


def make_warnings(error: DuvetError) -> tuple[Problem, ...]:
    """The same of an error."""
    if isinstance(error, ProblemsError):
        return tuple(make_warning(one.message, one.path, one.place, one.hint) for one in error.problems)
    return (make_warning(error.message, error.path, Place(error.line), error.hint),)


def format_problem_line(problem: Problem) -> str:
    """A problem on one line."""
    place = f"{problem.path}:{problem.place.line}: " if problem.place.line else f"{problem.path}: " * bool(problem.path)
    return make_valid_text(place + problem.message)


def make_valid_text(words: str) -> str:
    """Words in which a name may stand that is no text."""
    return words.encode(errors="surrogateescape").decode(errors="backslashreplace")


def describe_failure(error: BaseException) -> str:
    """Why a run has come to nothing."""
    if isinstance(error, DuvetError):
        return make_valid_text(str(error))
    # What stops a run from outside says where that came from, which nobody needs to know.
    said = str(error) if isinstance(error, Exception) else ""
    return make_valid_text(f"{type(error).__name__}: {said}".rstrip(": "))


_FOLDERS = {
    **dict.fromkeys(("tests", "test", "__tests__", "testdata", "e2e"), FileKind.TEST),
    **dict.fromkeys(("docs", "doc"), FileKind.DOC),
    "_generated": FileKind.PROTO,
    **dict.fromkeys((".codacy", ".github", ".circleci"), FileKind.CONFIG),
}
_TEST = re.compile(
    r"(?:test_.*|.*_test|.*_tests|conftest)\.py|.*_test\.(?:go|rs|cc|cpp|c|dart|exs|rb)|tests?\.rs|.*_spec\.rb"
    r"|.*[.-](?:test|spec)\.[cm]?[jt]sx?|.*Tests?\.(?:java|kt|cs|swift|php|scala)"
)
_NAMES = {
    **dict.fromkeys(("readme", "license", "licence", "copying", "notice", "authors", "changelog"), FileKind.DOC),
    **dict.fromkeys(
        ("makefile", "dockerfile", "justfile", "procfile", "codeowners", "cmakelists.txt"), FileKind.CONFIG
    ),
    **dict.fromkeys(("requirements.txt", "go.mod", "go.sum", ".gitignore", ".gitattributes"), FileKind.CONFIG),
}
_ENDINGS = {
    FileKind.DOC: "md markdown mdx rst adoc asciidoc txt tex org rtf",
    FileKind.PROTO: "proto thrift avsc capnp fbs",
    FileKind.CONFIG: (
        "toml yaml yml json jsonc json5 ini cfg conf properties env editorconfig lock xml plist tf tfvars hcl nix gradle"
    ),
    FileKind.CODE: (
        "py pyi pyx ts mts cts tsx js mjs cjs jsx go rs c h cc cpp cxx hh hpp hxx inl m mm java kt kts scala groovy cs "
        "fs vb swift rb php pl pm lua r jl dart ex exs erl hrl hs lhs ml mli elm clj cljs cljc lisp scm rkt zig nim d v "
        "sv vhd vhdl ada adb ads f f90 f95 pas asm s sql sh bash zsh fish ps1 bat cmd awk sed vue svelte astro html htm "
        "css scss sass less j2 jinja erb graphql gql cmake mk bzl star dfy vy sol cu cuh glsl wgsl metal proverif cv pv"
    ),
}
_BY_ENDING = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}


def detect_kind(path: str) -> FileKind:
    """The first folder that says something decides, or else the name of the file."""
    *folders, name = path.split("/")
    named = _by_name(name)
    for depth, folder in enumerate(folders):
        kind = _FOLDERS.get(folder)
        # A program may have a module that is called so.
        if kind is not None and not (kind is FileKind.DOC and named is FileKind.CODE and depth):
            return kind
    return named


def _by_name(name: str) -> FileKind:
    if _TEST.fullmatch(name):
        return FileKind.TEST
    low = name.lower()
    stem, dot, ending = low.rpartition(".")
    return _NAMES.get(low) or _BY_ENDING.get(ending if dot else "") or _NAMES.get(stem) or FileKind.OTHER


def detect_namespace(path: str) -> str:
    """The second part below `src`, else the first part; a file at the top has none."""
    first, *rest = path.split("/")
    if not rest:
        return ""
    return rest[0] if first == "src" and len(rest) > 1 else first


_SECRETS = re.compile(
    r"\.env(?!\.example\Z).*|.*\.(?:pem|key|p12|pfx)|id_(?:rsa|dsa|ecdsa|ed25519).*|\.(?:netrc|npmrc|pypirc)", re.DOTALL
)
_FILES_FOLDERS = ("node_modules", "__pycache__")
_ENVIRONMENT = "pyvenv.cfg"
"""What stands in a virtual environment of Python."""


class DefaultExcludes:
    """Tells such files and folders from what is wanted: they are that where their very path is named."""

    def __init__(self, include: Iterable[str]) -> None:
        self._named = frozenset(map(posixpath.normpath, include))
        self._above = {above for path in self._named for above in _above(path)}

    def hides_all_in(self, folder: str, names: Iterable[str]) -> bool:
        """Whether a folder of such a content is hidden as a whole."""
        # Where somebody has made an environment of the project itself, the project is still meant.
        return bool(folder) and folder not in self._named and _ENVIRONMENT in names

    def hides(self, path: str, name: str, inner: bool, is_inside: bool) -> bool:
        """Whether a path is hidden, by its own name or because it is inside of what is."""
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST skip files that may contain secrets and vendored folders, unless `ingest.include` names
        ##% their exact path.
        if path in self._named:
            return False
        low = name.casefold()
        return is_inside or bool(_SECRETS.fullmatch(low)) or (inner and low in _FILES_FOLDERS)

    def leads_on(self, folder: str) -> bool:
        """Whether something that is named stands further inside."""
        return folder in self._above


def is_excluded_by_default(root: str, path: str) -> bool:
    """Whether a file is such a one, whatever the configuration names."""
    unasked, at = DefaultExcludes(()), ""
    *folders, last = path.split("/")
    for name in folders:
        at = posixpath.join(at, name)
        if unasked.hides(at, name, True, False) or os.path.lexists(os.path.join(root, at, _ENVIRONMENT)):
            return True
    return unasked.hides(path, last, False, False)


def _above(path: str) -> Iterable[str]:
    """The folders that a path is in."""
    while path := path.rpartition("/")[0]:
        yield path


_OWN = (*OWN_FOLDERS, ".duvet/reports")
"""What duvet makes itself."""
_ALL = "**"


class IngestFiles(Struct, frozen=True):
    """The files in order, and what is wrong with some."""

    paths: tuple[str, ...]
    problems: tuple[Problem, ...]


def find_ingest_files(project: Project, wanted: IngestRule, own: Iterable[str] = ()) -> IngestFiles:
    """The files to take in; `own` are further files and folders that duvet has made."""
    walk = _Walk(project.tree, project.root, wanted, (*_OWN, *own, *_made(project)))
    paths = tuple(sorted(walk.files()))
    return IngestFiles(paths, tuple(sorted(walk.problems, key=lambda one: one.sort_key)))


class _Walk:
    """Goes through folders with a list of what is still to do: a tree may be deeper than Python's stack."""

    def __init__(self, tree: Tree, root: str, wanted: IngestRule, own: Iterable[str]) -> None:
        self.tree = tree
        self.problems: list[Problem] = []
        self._includes = None if _ALL in wanted.include else _any("include", wanted.include)
        self._excludes = _any("exclude", wanted.exclude)
        self._ignores = IgnoredPaths(tree, root).hides
        self._unasked = DefaultExcludes(wanted.include)
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

    def _entries(self, folder: str) -> list[TreeEntry]:
        try:
            return list(self.tree.entries(folder))
        except DuvetError as error:
            self.problems.append(make_warning(error.message, make_valid_text(error.path or folder)))
            return []

    def _is_left_out(self, path: str, name: str, inner: bool) -> object:
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST skip what git ignores, links, and what duvet itself has made, including backups.
        if path in self._own or is_unfinished(name) or (not inner and is_backup(name)):
            return True
        return self._excludes(path) or self._ignores(path, inner)

    def _is_wanted(self, path: str) -> object:
        try:
            path.encode()
        except UnicodeEncodeError:
            ##= man/spec/knowledge.md#files
            ##% `duvet ingest` MUST keep only the name of a file that is empty, too large, not UTF-8 or unreadable, and
            ##% skip one whose name is not UTF-8.
            self.problems.append(make_warning("the name of this file is not UTF-8", make_valid_text(path)))
            return False
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST index the files that `ingest.include` matches and `ingest.exclude` does not.
        return self._includes is None or self._includes(path)


def _any(key: str, patterns: Iterable[str]) -> PathPredicate:
    return match_any(map(_compiler(key), patterns))


def _compiler(key: str) -> Callable[[str], PathPattern]:
    def compiled(pattern: str) -> PathPattern:
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
