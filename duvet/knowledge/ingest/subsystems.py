"""Which subsystem a file belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from duvet.knowledge.ingest.beside import names_beside
from duvet.knowledge.ingest.catalogue import Subsystem
from duvet.knowledge.ingest.cited import Cited
from duvet.knowledge.ingest.imports import Modules
from duvet.knowledge.ingest.kinds import kind_of
from duvet.knowledge.ingest.roots import Root
from duvet.knowledge.ingest.warnings import warning
from duvet.model import Problem
from duvet.queries.catalogue import Catalogue
from duvet.queries.names import nearest_hint
from duvet.sources.patterns import Matches
from duvet.store.records import Kind
from duvet.text import quoted


class Belongs(Struct, frozen=True):
    """What a file has of its subsystem."""

    subsystem: str = ""
    criticality: str = ""
    tags: tuple[str, ...] = ()


class Subsystems:
    """All subsystems of a project by the paths of its files and by its catalogue."""

    def __init__(
        self,
        catalogue: Sequence[Subsystem],
        roots: Sequence[Root],
        paths: Iterable[str],
        trace: Catalogue | None = None,
    ) -> None:
        self.catalogue = {_key(one.name): one for one in catalogue}
        self._roots = [(f"{root.folder}/", root) for root in roots]
        self._patterns: list[tuple[int, Matches, str]] = sorted(
            ((length, matches, one.name) for one in catalogue for length, matches in one.matches()),
            key=lambda found: -found[0],
        )
        self._names = {key: one.name for key, one in self.catalogue.items()}
        code = (path for path in paths if kind_of(path) in (Kind.CODE, Kind.PROTO))
        self._code = {path: name for path in code if (name := self._placed(path))}
        for name in self._code.values():
            self._names.setdefault(_key(name), name)
        self._cited = Cited(trace, lambda path: self._code.get(path, "")) if trace else None

    def of(self, path: str, kind: Kind, said: str = "", imports: Sequence[str] = ()) -> Belongs:
        """What a file has; `said` is the subsystem that it names itself, and `imports` are the modules that it does."""
        ##= man/spec/knowledge.md#files
        ##% A file MUST belong to the subsystem that its front matter names, or else to the one in the catalogue with the
        ##% longest pattern for it, or else to the one that its path names.
        name = said or self._code.get(path) or self._placed(path) or self._beside(path, kind, imports)
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

    def unknown(self) -> Iterator[Problem]:
        """What the catalogue names as depended on, and no file belongs to."""
        ##= man/spec/knowledge.md#files
        ##% A subsystem that another one depends on, and that there is not, MUST be a warning with its line.
        for one in self.catalogue.values():
            for needed in one.needed:
                if not self.named(needed.name):
                    hint = nearest_hint(needed.name, self._names.values())
                    yield warning(f"there is no subsystem {quoted(needed.name)}", needed.path, needed.place, hint)

    def _placed(self, path: str) -> str:
        return self._listed(path) or self._derived(path)

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

    def _beside(self, path: str, kind: Kind, imports: Sequence[str]) -> str:
        """The subsystem that a test or a document is about."""
        ##= man/spec/knowledge.md#files
        ##% A test and a document MUST belong to the subsystem after which a folder of its path is called that is inside of
        ##% `tests` or `docs`, the innermost first, or else its file, or what that begins with.
        for name in names_beside(path, kind):
            if found := self.named(name) or self._at_the_top.get(_key(name), ""):
                return found
        if kind is not Kind.TEST:
            return ""
        ##= man/spec/knowledge.md#files
        ##% Where these tell nothing, a test MUST belong to the subsystem of most of what it imports, or else of most of the
        ##% code that cites the same requirements.
        imported = self._modules.subsystem(imports) if imports else ""
        return imported or (self._cited.subsystem(path) if self._cited else "")

    @cached_property
    def _at_the_top(self) -> dict[str, str]:
        """The modules that stand in no folder of their root, with the subsystem that they are in."""
        found: dict[str, str] = {}
        for path, name in self._code.items():
            folder, _, file = path.rpartition("/")
            if any(root.folder == folder for _, root in self._roots):
                found.setdefault(_key(file.rpartition(".")[0]), name)
        return found

    @cached_property
    def _modules(self) -> Modules:
        """The names by which code is imported."""
        return Modules(((path, list(self._called(path))) for path in self._code), self._code)

    def _called(self, path: str) -> Iterator[str]:
        yield path
        for start, root in self._roots:
            if path.startswith(start):
                # A package is imported by its own name, and what a folder such as `src` holds without that one.
                above = start if root.folder in _NO_NAMES else start[: start[:-1].rfind("/") + 1]
                yield path.removeprefix(above)


_NO_NAMES = frozenset(
    ("src", "packages", "crates", "apps", "libs", "services", "modules", "plugins", "internal", "pkg", "cmd")
)
"""Folders that say nothing of what is in them."""


def _key(name: str) -> str:
    return name.strip().casefold()
