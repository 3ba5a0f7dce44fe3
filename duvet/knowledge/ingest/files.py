"""Finds the files to index and their kinds."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from duvet import errors, rules
from duvet.config.languages import TEST_FOLDERS, find_test_glob
from duvet.config.service_tables import IngestRule
from duvet.model import Place, Problem, Severity, sort_problems
from duvet.sources import gitignore, glob
from duvet.store.location import is_backup
from duvet.store.records import FileKind
from duvet.tree.files import OWN_FOLDERS, TreeEntry, is_folder
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
    return words.encode(errors="surrogateescape").decode(errors="backslashreplace")


def describe_failure(error: BaseException) -> str:
    if isinstance(error, errors.DuvetError):
        return make_valid_text(str(error))
    # The message of a signal or an interrupt adds nothing to its type.
    text = str(error) if isinstance(error, Exception) else ""
    return make_valid_text(f"{type(error).__name__}: {text}".rstrip(": "))


def detect_kind(path: str) -> FileKind:
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
    first, *rest = path.split("/")
    if not rest:
        return ""
    return rest[0] if first == "src" and len(rest) > 1 else first


def find_ingest_files(
    project: Project, rule: IngestRule, own: Iterable[str] = ()
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    skipped = {posixpath.normpath(path) for path in (*OWN_FOLDERS, ".duvet/reports", *own)}
    # The run reports errors in the configuration when it reads the trace.
    with suppress(errors.DuvetError):
        if project.config:
            report = project.config.report
            skipped |= {posixpath.normpath(one.path) for one in (report.html, report.json, report.snapshot)}
    includes = _match_patterns("include", () if "**" in rule.include else rule.include)
    excludes = _match_patterns("exclude", rule.exclude)
    ignores = gitignore.IgnoredPaths(project.tree, project.root).hides
    defaults = gitignore.DefaultExcludes(rule.include)
    paths: list[str] = []
    problems: list[Problem] = []
    # An explicit stack, because a tree may be deeper than Python's recursion limit.
    todo = [("", False)]
    while todo:
        folder, is_inside = todo.pop()
        start = f"{folder}/" if folder else ""
        entries: list[TreeEntry] = []
        try:
            entries = list(project.tree.entries(folder))
        except errors.DuvetError as error:
            problems.append(make_warning(error.message, make_valid_text(error.path or folder)))
        is_inside = is_inside or defaults.excludes_folder(folder, [entry.name for entry in entries])
        for entry in entries:
            path, inner = start + entry.name, is_folder(entry)
            is_own = path in skipped or is_unfinished(entry.name) or (not inner and is_backup(entry.name))
            ##= man/spec/knowledge.md#files
            ##% `duvet ingest` MUST skip files that git ignores, symbolic links, and files that duvet wrote.
            if is_own or entry.is_symlink() or excludes(path) or ignores(path, inner):
                continue
            is_hidden = defaults.excludes(path, entry.name, is_folder=inner, is_inside=is_inside)
            if inner and (not is_hidden or path in defaults.folders_with_included):
                todo.append((path, is_hidden))
            elif not inner and not is_hidden and make_valid_text(path) != path:
                problems.append(make_warning("not indexed, because the path is not UTF-8", make_valid_text(path)))
            ##= man/spec/knowledge.md#files
            ##% `duvet ingest` MUST index the files that match `ingest.include` and do not match `ingest.exclude`.
            elif not inner and not is_hidden and ("**" in rule.include or includes(path)):
                paths.append(path)
    return tuple(sorted(paths)), sort_problems(problems)


def _match_patterns(key: str, patterns: Iterable[str]) -> glob.PathPredicate:
    try:
        return glob.match_any([glob.compile_pattern(pattern) for pattern in patterns])
    except glob.PatternError as error:
        message = f"ingest.{key}: {error.message}"
        raise errors.ProblemsError((rules.CONFIG_BAD_PATTERN.problem(message, hint=error.hint),)) from error
