"""Which subsystem a file belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from duvet.knowledge.ingest.catalogue import Subsystem
from duvet.knowledge.ingest.kinds import kind_of
from duvet.knowledge.ingest.roots import Root
from duvet.sources.patterns import Matches
from duvet.store.records import Kind

_BESIDE = {Kind.TEST: ("tests", "test", "__tests__"), Kind.DOC: ("docs", "doc", "man")}
_AFFIX = re.compile(r"^test_|_tests?$|[.-](?:test|spec)$|Tests?$")


class Belongs(Struct, frozen=True):
    """What a file has of its subsystem."""

    subsystem: str = ""
    criticality: str = ""
    tags: tuple[str, ...] = ()


class Subsystems:
    """All subsystems of a project by the paths of its files and by its catalogue."""

    def __init__(self, catalogue: Sequence[Subsystem], roots: Sequence[Root], paths: Iterable[str]) -> None:
        self.catalogue = {_key(one.name): one for one in catalogue}
        self._roots = [(f"{root.folder}/", root) for root in roots]
        self._patterns: list[tuple[int, Matches, str]] = sorted(
            ((length, matches, one.name) for one in catalogue for length, matches in one.matches()),
            key=lambda found: -found[0],
        )
        self._names = {key: one.name for key, one in self.catalogue.items()}
        for path in paths:
            if kind_of(path) in (Kind.CODE, Kind.PROTO) and (name := self._derived(path)):
                self._names.setdefault(_key(name), name)

    def of(self, path: str, kind: Kind, said: str = "") -> Belongs:
        """What a file has; `said` is the subsystem that it names itself."""
        ##= man/spec/knowledge.md#files
        ##% A file MUST belong to the subsystem that its front matter names, or else to the one in the catalogue with the
        ##% longest pattern for it, or else to the one that its path names.
        name = said or self._listed(path) or self._derived(path) or self._beside(path, kind)
        if not name:
            return Belongs()
        key = _key(name)
        ##= man/spec/knowledge.md#files
        ##% Names of subsystems that differ in case alone MUST be one, spelt as the catalogue has it.
        one = self.catalogue.get(key)
        if one is None:
            return Belongs(self._names.setdefault(key, name))
        return Belongs(one.name, one.criticality, one.tags)

    def named(self, name: str) -> str:
        """How a subsystem is spelt; empty where there is none of that name."""
        return self._names.get(_key(name), "")

    def listed(self, name: str) -> Subsystem | None:
        """What the catalogue says of it."""
        return self.catalogue.get(_key(name))

    def _listed(self, path: str) -> str:
        return next((name for _, matches, name in self._patterns if matches(path)), "")

    def _derived(self, path: str) -> str:
        for start, root in self._roots:
            if path.startswith(start):
                inner, slash, _ = path[len(start) :].partition("/")
                if slash and not root.is_whole:
                    return inner
                # A file that stands in no folder of a root that is itself in another one.
                return root.folder.rpartition("/")[2] if root.is_whole or "/" in root.folder else self._top(root)
        return ""

    def _top(self, root: Root) -> str:
        return "" if root.folder in _NO_NAMES else root.folder

    def _beside(self, path: str, kind: Kind) -> str:
        """The subsystem that a test or a document is called after."""
        folders = _BESIDE.get(kind, ())
        parts = path.split("/")
        at = next((index for index, part in enumerate(parts) if part in folders), None)
        if at is None or at + 1 >= len(parts):
            return ""
        inner = parts[at + 1]
        if at + 2 == len(parts):
            inner = _AFFIX.sub("", inner.rpartition(".")[0] or inner)
        return self.named(inner)


_NO_NAMES = frozenset(
    ("src", "packages", "crates", "apps", "libs", "services", "modules", "plugins", "internal", "pkg", "cmd")
)
"""Folders that say nothing of what is in them."""


def _key(name: str) -> str:
    return name.strip().casefold()
