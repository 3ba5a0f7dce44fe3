"""Relations between files: source roots, imports, test names, shared citations."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.knowledge.ingest.records import detect_kind
from duvet.sources.glob import PatternError, compile_pattern, match_any
from duvet.store.records import FileKind
from duvet.trace.catalogue import Catalogue, CitationCard
from duvet.tree.files import Tree

USUAL_FOLDERS = ("packages", "crates", "apps", "libs", "services", "modules", "plugins", "internal", "pkg", "cmd")
SOURCE_FOLDER = "src"
_MOST_BYTES = 1 << 20


class SourceRoot(Struct, frozen=True, order=True):
    """A folder of sources: the folders in it are subsystems, or it is one itself."""

    folder: str
    is_whole: bool = False
    """Whether all that is in it is one subsystem."""


def find_roots(tree: Tree, paths: Sequence[str]) -> list[SourceRoot]:
    """The roots of a project, the deepest first."""
    found = dict.fromkeys((*_crates(tree, paths), *_go_modules(paths), *_packages(tree, paths), *_in_src(paths)))
    found |= dict.fromkeys(SourceRoot(name) for name in USUAL_FOLDERS)
    return sorted(found, key=lambda root: (-root.folder.count("/"), not root.is_whole, root.folder))


def _in_src(paths: Iterable[str]) -> Iterator[SourceRoot]:
    """`src`; where one package is all that is in it, that package as well."""
    inner: Counter[str] = Counter()
    for path in paths:
        first, _, rest = path.partition("/")
        if first == SOURCE_FOLDER and "/" in rest and detect_kind(path) is FileKind.CODE:
            inner[rest.partition("/")[0]] += 1
    if len(inner) == 1:
        yield SourceRoot(f"{SOURCE_FOLDER}/{next(iter(inner))}")
    yield SourceRoot(SOURCE_FOLDER)


def _packages(tree: Tree, paths: Sequence[str]) -> Iterator[SourceRoot]:
    """The packages that `pyproject.toml` names, as far as they are there."""
    values = _toml(tree, "pyproject.toml")
    tool = _table(values, "tool")
    setuptools = _table(tool, "setuptools")
    folders = _table(setuptools, "package-dir")
    named = [_table(values, "project").get("name"), _table(tool, "poetry").get("name")]
    listed = setuptools.get("packages")
    named += listed if isinstance(listed, list) else []
    included = _table(tool, "poetry").get("packages")
    named += [one.get("include") for one in included if isinstance(one, dict)] if isinstance(included, list) else []
    tops = {re.split(r"[./]", name)[0].replace("-", "_") for name in named if isinstance(name, str)}
    known = _folders(paths)
    for top in sorted(tops):
        yield from (SourceRoot(folder) for folder in (top, f"{SOURCE_FOLDER}/{top}") if folder in known)
    yield from (SourceRoot(folder) for folder in folders.values() if isinstance(folder, str) and folder in known)


def _crates(tree: Tree, paths: Sequence[str]) -> Iterator[SourceRoot]:
    """The members of a Cargo workspace."""
    members = _table(_toml(tree, "Cargo.toml"), "workspace").get("members")
    patterns = []
    for member in members if isinstance(members, list) else ():
        with suppress(PatternError):
            patterns.append(compile_pattern(posixpath.normpath(str(member))))
    if patterns:
        matches = match_any(patterns)
        folders = (path.rpartition("/")[0] for path in paths if path.endswith("/Cargo.toml"))
        yield from (SourceRoot(folder, is_whole=True) for folder in folders if matches(folder))


def _go_modules(paths: Iterable[str]) -> Iterator[SourceRoot]:
    """The modules of Go below the top."""
    yield from (SourceRoot(path.rpartition("/")[0], is_whole=True) for path in paths if path.endswith("/go.mod"))


def _folders(paths: Iterable[str]) -> set[str]:
    """The folders at the top, and those in `src`."""
    parts = (path.split("/") for path in paths)
    return {"/".join(one[:depth]) for one in parts for depth in (1, 2) if len(one) > depth}


def _toml(tree: Tree, path: str) -> dict[str, Any]:
    if not tree.is_file(path):
        return {}
    import tomllib

    try:
        data = tree.read(path)
        return tomllib.loads(data.decode()) if len(data) <= _MOST_BYTES else {}
    except (DuvetError, ValueError, RecursionError):
        # It is for other programs, and they complain.
        return {}


def _table(values: dict[str, Any], key: str) -> dict[str, Any]:
    found = values.get(key)
    return found if isinstance(found, dict) else {}


_DOTTED = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*\(?[ \t]*(\w*)"
    r"|(?:import(?:[ \t]+static)?|using|(?:pub[ \t]+)?use)[ \t]+([A-Za-z_][\w.:]*))",
    re.MULTILINE,
)
_QUOTED = re.compile(r"""\b(?:from|require|import|include)\b[ \t(]*["'<]([\w@./-]+)["'>]""")
_IN_GO = re.compile(r'^(?:import)?[ \t]*(?:[\w.]+[ \t]+)?"([\w.-]+(?:/[\w.-]+)+)"[ \t]*$', re.MULTILINE)
_BETWEEN = re.compile(r"[./:]+")
_ENDING = re.compile(r"\.\w{1,5}\Z")
_NOWHERE = ("", "crate", "super", "self")
_WHOLE = ("__init__", "index", "mod", "lib", "main")
"""Modules that are what their folder is."""
_MOST, _MOST_TEXT, _LONGEST = 64, 1 << 16, 200


def find_imports(path: str, text: str) -> tuple[str, ...]:
    """The modules that a file names, with slashes between their parts, as often as it does so."""
    found: list[str] = []
    for name in _names(path, text[:_MOST_TEXT]):
        if 0 < len(name) <= _LONGEST:
            found.append(name)
        if len(found) == _MOST:
            break
    return tuple(found)


def _names(path: str, text: str) -> Iterator[str]:
    for whole, first, other in _DOTTED.findall(text):
        parts = [part for part in _BETWEEN.split(f"{whole}.{first}" if whole else other) if part not in _NOWHERE]
        yield "/".join(parts)
    for name in (_IN_GO if path.endswith(".go") else _QUOTED).findall(text):
        near = posixpath.join(posixpath.dirname(path), name) if name.startswith(".") else name
        yield _ENDING.sub("", posixpath.normpath(near))


class ModuleIndex:
    """What names of modules stand for."""

    def __init__(self, modules: Iterable[tuple[str, Sequence[str]]], subsystems: Mapping[str, str]) -> None:
        """The files with all that each may be called, and the subsystem of each."""
        self._subsystems: dict[str, str] = {}
        for path, names in modules:
            for name in names:
                stem = _ENDING.sub("", name)
                folder, _, last = stem.rpartition("/")
                self._subsystems.setdefault(stem, subsystems[path])
                if folder:
                    # Whatever is in a folder that is called like a module, the module itself goes before it.
                    one_of = self._subsystems.__setitem__ if last in _WHOLE else self._subsystems.setdefault
                    one_of(folder, subsystems[path])

    def subsystem(self, imports: Iterable[str]) -> str:
        """The one that most of these are of, the first of several; empty where none is of any."""
        votes = Counter(found for name in imports if (found := self._of(name.split("/"))))
        return votes.most_common(1)[0][0] if votes else ""

    def _of(self, parts: Sequence[str]) -> str:
        for end in range(len(parts), 0, -1):
            # What stands before the name of a module is the host that it is loaded from, or a name for all of the project.
            for start in range(max(1, end - 1)):
                if found := self._subsystems.get("/".join(parts[start:end])):
                    return found
        return ""


_FOLDERS = {FileKind.TEST: ("tests", "test", "__tests__"), FileKind.DOC: ("docs", "doc", "man")}
_AFFIX = re.compile(r"^test_|_tests?$|[.-](?:test|spec)$|Tests?$")
_LAST_PART = re.compile(r"[._-]+[^._-]*\Z")


def guess_subject_names(path: str, kind: FileKind) -> Iterator[str]:
    """The names that may tell what a file is about, the likeliest first."""
    folders = _FOLDERS.get(kind)
    if folders is None:
        return
    *above, name = path.split("/")
    at = next((index for index, part in enumerate(above) if part in folders), None)
    if at is not None:
        yield from reversed(above[at + 1 :])
    elif kind is FileKind.DOC:
        return
    stem = _AFFIX.sub("", name.rpartition(".")[0] or name)
    while stem:
        yield stem
        shorter = _LAST_PART.sub("", stem)
        stem = shorter if shorter != stem else ""


class CitationNeighbours:
    """Files that cite the same requirements."""

    def __init__(self, catalogue: Catalogue, subsystem: Callable[[str], str]) -> None:
        """The second tells the subsystem of a file of code; of all others nothing."""
        self._citations = catalogue.citations
        self._subsystem = subsystem

    def subsystem(self, path: str) -> str:
        """The one of most of the files that cite what this one does; empty where there is none."""
        votes = self._votes(self._by_path.get(path, ()))
        return votes.most_common(1)[0][0] if votes else ""

    def _votes(self, citations: Iterable[CitationCard]) -> Counter[str]:
        wanted = {requirement for one in citations for requirement in one.requirements}
        votes = Counter[str]()
        for requirement in sorted(wanted):
            votes.update(self._by_requirement.get(requirement, ()))
        return votes

    @cached_property
    def _by_path(self) -> dict[str, list[CitationCard]]:
        found: dict[str, list[CitationCard]] = {}
        for one in self._citations:
            found.setdefault(one.path, []).append(one)
        return found

    @cached_property
    def _by_requirement(self) -> dict[int, list[str]]:
        names = {path: self._subsystem(path) for path in self._by_path}
        found: dict[int, list[str]] = {}
        for one in self._citations:
            for requirement in one.requirements if names[one.path] else ():
                found.setdefault(requirement, []).append(names[one.path])
        return found
