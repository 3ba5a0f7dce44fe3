"""Where the sources of a project stand, by its packages, crates and modules."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.knowledge.ingest.kinds import kind_of
from duvet.sources.patterns import PatternError, any_of, compile_pattern
from duvet.store.records import Kind
from duvet.tree.protocol import Tree

USUAL = ("packages", "crates", "apps", "libs", "services", "modules", "plugins", "internal", "pkg", "cmd")
SRC = "src"
_MOST_BYTES = 1 << 20


class Root(Struct, frozen=True, order=True):
    """A folder of sources: the folders in it are subsystems, or it is one itself."""

    folder: str
    is_whole: bool = False
    """Whether all that is in it is one subsystem."""


def roots_of(tree: Tree, paths: Sequence[str]) -> list[Root]:
    """The roots of a project, the deepest first."""
    found = dict.fromkeys((*_crates(tree, paths), *_go_modules(paths), *_packages(tree, paths), *_in_src(paths)))
    found |= dict.fromkeys(Root(name) for name in USUAL)
    return sorted(found, key=lambda root: (-root.folder.count("/"), not root.is_whole, root.folder))


def _in_src(paths: Iterable[str]) -> Iterator[Root]:
    """`src`; where one package is all that is in it, that package as well."""
    inner: Counter[str] = Counter()
    for path in paths:
        first, _, rest = path.partition("/")
        if first == SRC and "/" in rest and kind_of(path) is Kind.CODE:
            inner[rest.partition("/")[0]] += 1
    if len(inner) == 1:
        yield Root(f"{SRC}/{next(iter(inner))}")
    yield Root(SRC)


def _packages(tree: Tree, paths: Sequence[str]) -> Iterator[Root]:
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
        yield from (Root(folder) for folder in (top, f"{SRC}/{top}") if folder in known)
    yield from (Root(folder) for folder in folders.values() if isinstance(folder, str) and folder in known)


def _crates(tree: Tree, paths: Sequence[str]) -> Iterator[Root]:
    """The members of a Cargo workspace."""
    members = _table(_toml(tree, "Cargo.toml"), "workspace").get("members")
    patterns = []
    for member in members if isinstance(members, list) else ():
        with suppress(PatternError):
            patterns.append(compile_pattern(posixpath.normpath(str(member))))
    if patterns:
        matches = any_of(patterns)
        folders = (path.rpartition("/")[0] for path in paths if path.endswith("/Cargo.toml"))
        yield from (Root(folder, is_whole=True) for folder in folders if matches(folder))


def _go_modules(paths: Iterable[str]) -> Iterator[Root]:
    """The modules of Go below the top."""
    yield from (Root(path.rpartition("/")[0], is_whole=True) for path in paths if path.endswith("/go.mod"))


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
