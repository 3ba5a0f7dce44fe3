"""Finds the files to index and their kinds."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet import errors, rules
from duvet.config.languages import TEST_FOLDERS, find_test_glob
from duvet.config.settings import IngestRule
from duvet.model import Place, Problem, Severity, sort_problems
from duvet.sources import gitignore, glob
from duvet.sources.gitignore import DefaultExcludes
from duvet.store.location import is_backup
from duvet.store.records import FileKind
from duvet.tree.files import OWN_FOLDERS, Tree, TreeEntry, is_folder
from duvet.tree.outputs import is_unfinished

if TYPE_CHECKING:
    from duvet.project.project import Project

_KINDS_BY_FOLDER = {
    **dict.fromkeys(TEST_FOLDERS, FileKind.TEST),
    **dict.fromkeys(("docs", "doc"), FileKind.DOC),
    "_generated": FileKind.PROTO,
    **dict.fromkeys((".codacy", ".github", ".circleci"), FileKind.CONFIG),
}
_KINDS_BY_NAME = {
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
_KINDS_BY_ENDING = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}


def make_warning(message: str, path: str = "", place: Place = Place(), hint: str = "") -> Problem:  # noqa: B008 - frozen
    return Problem("", message, path, place, hint=hint, severity=Severity.WARNING)


def make_warnings(error: errors.DuvetError) -> tuple[Problem, ...]:
    if isinstance(error, errors.ProblemsError):
        return tuple(make_warning(one.message, one.path, one.place, one.hint) for one in error.problems)
    return (make_warning(error.message, error.path, Place(error.line), error.hint),)


def format_problem_line(problem: Problem) -> str:
    place = f"{problem.path}:{problem.place.line}: " if problem.place.line else f"{problem.path}: " * bool(problem.path)
    return make_valid_text(place + problem.message)


def make_valid_text(words: str) -> str:
    """Escape the bytes of a file name that are not UTF-8."""
    return words.encode(errors="surrogateescape").decode(errors="backslashreplace")


def describe_failure(error: BaseException) -> str:
    if isinstance(error, errors.DuvetError):
        return make_valid_text(str(error))
    # The message of a signal or an interrupt adds nothing to its type.
    text = str(error) if isinstance(error, Exception) else ""
    return make_valid_text(f"{type(error).__name__}: {text}".rstrip(": "))


def detect_kind(path: str) -> FileKind:
    """Derive the kind of a file from its folders or, if they imply none, from its name."""
    *folders, name = path.split("/")
    stem, dot, ending = name.lower().rpartition(".")
    by_name = (
        FileKind.TEST
        if find_test_glob(name)
        else _KINDS_BY_NAME.get(name.lower())
        or _KINDS_BY_ENDING.get(ending if dot else "")
        or _KINDS_BY_NAME.get(stem)
        or FileKind.OTHER
    )
    for depth, folder in enumerate(folders):
        kind = _KINDS_BY_FOLDER.get(folder)
        # A program may have a package called `docs`.
        if kind is not None and not (kind is FileKind.DOC and by_name is FileKind.CODE and depth):
            return kind
    return by_name


def detect_namespace(path: str) -> str:
    """Return the folder below `src`, or else the top folder; "" for a top-level file."""
    first, *rest = path.split("/")
    if not rest:
        return ""
    return rest[0] if first == "src" and len(rest) > 1 else first


class IngestFiles(Struct, frozen=True):
    paths: tuple[str, ...]
    problems: tuple[Problem, ...]


def find_ingest_files(project: Project, rule: IngestRule, own: Iterable[str] = ()) -> IngestFiles:
    """Find the files to index; `own` lists duvet's files and folders, which are skipped."""
    walk = _Walk(project.tree, project.root, rule, (*OWN_FOLDERS, ".duvet/reports", *own, *_find_reports(project)))
    paths = tuple(sorted(walk.files()))
    return IngestFiles(paths, sort_problems(walk.problems))


def _find_reports(project: Project) -> tuple[str, ...]:
    try:
        config = project.config
    except errors.DuvetError:
        # The run reports this problem when it reads the trace.
        return ()
    return (config.report.html.path, config.report.json.path, config.report.snapshot.path) if config else ()


class _Walk:
    """Walks folders with an explicit stack, because a tree may be deeper than Python's recursion limit."""

    def __init__(self, tree: Tree, root: str, rule: IngestRule, own: Iterable[str]) -> None:
        self.problems: list[Problem] = []
        self._tree = tree
        self._includes = None if "**" in rule.include else _match_patterns("include", rule.include)
        self._excludes = _match_patterns("exclude", rule.exclude)
        self._ignores = gitignore.IgnoredPaths(tree, root).hides
        self._defaults = DefaultExcludes(rule.include)
        self._own = frozenset(posixpath.normpath(path) for path in own)

    def files(self) -> Iterator[str]:
        defaults, todo = self._defaults, [("", False)]
        while todo:
            folder, is_inside = todo.pop()
            start, entries = f"{folder}/" if folder else "", self._read_folder(folder)
            is_inside = is_inside or defaults.excludes_folder(folder, [entry.name for entry in entries])
            for entry in entries:
                path = start + entry.name
                inner = is_folder(entry)
                if entry.is_symlink() or self._is_excluded(path, entry.name, inner):
                    continue
                is_hidden = defaults.excludes(path, entry.name, is_folder=inner, is_inside=is_inside)
                if inner and (not is_hidden or path in defaults.folders_with_included):
                    todo.append((path, is_hidden))
                elif not inner and not is_hidden and self._is_included(path):
                    yield path

    def _read_folder(self, folder: str) -> list[TreeEntry]:
        try:
            return list(self._tree.entries(folder))
        except errors.DuvetError as error:
            self.problems.append(make_warning(error.message, make_valid_text(error.path or folder)))
            return []

    def _is_excluded(self, path: str, name: str, is_folder: bool) -> object:
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST skip files that git ignores, symbolic links, and files that duvet wrote.
        if path in self._own or is_unfinished(name) or (not is_folder and is_backup(name)):
            return True
        return self._excludes(path) or self._ignores(path, is_folder)

    def _is_included(self, path: str) -> object:
        try:
            path.encode()
        except UnicodeEncodeError:
            self.problems.append(make_warning("the file name is not UTF-8", make_valid_text(path)))
            return False
        ##= man/spec/knowledge.md#files
        ##% `duvet ingest` MUST index the files that match `ingest.include` and do not match `ingest.exclude`.
        return self._includes is None or self._includes(path)


def _match_patterns(key: str, patterns: Iterable[str]) -> glob.PathPredicate:
    def compile_or_raise(pattern: str) -> glob.PathPattern:
        try:
            return glob.compile_pattern(pattern)
        except glob.PatternError as error:
            message = f"ingest.{key}: {error.message}"
            raise errors.ProblemsError((rules.CONFIG_BAD_PATTERN.problem(message, hint=error.hint),)) from error

    return glob.match_any(map(compile_or_raise, patterns))
