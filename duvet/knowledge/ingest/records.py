"""What an ingest run remembers of each file, the kinds of files, and warnings."""

from __future__ import annotations

import re

from duvet.errors import DuvetError
from duvet.model import Place, Problem, ProblemsError, Severity
from duvet.store.records import FileKind


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
