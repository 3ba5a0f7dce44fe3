"""Subsystems of a project, from folders, imports, front matter and a catalogue file."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

import posixpath
import re
from collections import Counter

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from duvet import rules
from duvet.config.check import DocumentLocation, check_table, sort_problems
from duvet.config.document import DataDocument, DocumentError
from duvet.config.document_formats import read_document
from duvet.config.project_file import build_table
from duvet.errors import DuvetError
from duvet.knowledge.ingest.files import detect_kind, make_warning
from duvet.model import Place, Problem, ProblemsError
from duvet.sources.glob import PathPredicate, PatternError, compile_pattern, match_any
from duvet.store.records import FileKind
from duvet.text import quote_text
from duvet.trace.catalogue import Catalogue, CitationCard
from duvet.trace.names import suggest_nearest
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


CRITICALITY_LEVELS = ("low", "medium", "high", "critical")


def find_entry_faults(at: DocumentLocation, entries: Sequence[tuple[str, str, tuple[str, ...]]]) -> Iterator[Problem]:
    """The faults of entries, each a name as it is written, how critical it is, and its patterns."""
    names: dict[str, str] = {}
    for name, criticality, patterns in entries:
        here = at / name
        known = names.setdefault(name.strip().casefold(), name)
        if not name.strip():
            yield here.problem(rules.CONFIG_BAD_VALUE, "a subsystem has to have a name", at_key=True)
        elif known != name:
            message = f"{quote_text(name)} is the same subsystem as {quote_text(known)}"
            yield here.problem(rules.CONFIG_BAD_VALUE, message, "write one entry for both", at_key=True)
        if criticality and criticality not in CRITICALITY_LEVELS:
            message = f"{quote_text(criticality)} is no criticality"
            yield (here / "criticality").problem(
                rules.CONFIG_BAD_VALUE,
                message,
                suggest_nearest(criticality, CRITICALITY_LEVELS) or f"it is {', '.join(CRITICALITY_LEVELS)}",
            )
        yield from _bad_patterns(here / "paths", patterns)


def _bad_patterns(at: DocumentLocation, patterns: Sequence[str]) -> Iterator[Problem]:
    for pattern in patterns:
        try:
            compile_pattern(pattern)
        except PatternError as error:
            yield at.problem(rules.CONFIG_BAD_PATTERN, error.message, error.hint)


CATALOGUE_FOLDERS = ("", ".duvet/", ".metadata/", "docs/")
CATALOGUE_ENDINGS = ("yaml", "yml", "json")
CATALOGUE_PATHS = tuple(f"{folder}subsystems.{ending}" for folder in CATALOGUE_FOLDERS for ending in CATALOGUE_ENDINGS)
"""What is looked for, the first one counts."""

_SUBSYSTEMS_WHOLE = "subsystems"
_NEEDED = ("dependencies", "depends_on", "depends_on_subsystems")
_Words = str | tuple[str, ...]


class CatalogueEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file says of a subsystem."""

    description: str = ""
    criticality: str = ""
    owner: str = ""
    domain: str = ""
    tags: _Words = ()
    labels: _Words = ()
    paths: _Words = ()
    includes: _Words = ()
    dependencies: _Words = ()
    depends_on: _Words = ()
    depends_on_subsystems: _Words = ()


class _File(Struct, frozen=True):
    subsystems: dict[str, CatalogueEntry] = field(default_factory=dict)


class SubsystemDependency(Struct, frozen=True):
    """A subsystem that another one names, and where it does so."""

    name: str
    path: str
    place: Place


class CatalogueSubsystem(Struct, frozen=True):
    """A part of the project, as the file has it."""

    name: str
    description: str = ""
    criticality: str = ""
    owner: str = ""
    domain: str = ""
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    needed: tuple[SubsystemDependency, ...] = ()
    """The subsystems that it depends on."""

    @property
    def dependencies(self) -> tuple[str, ...]:
        """The names of these."""
        return tuple(one.name for one in self.needed)

    def matches(self) -> list[tuple[int, PathPredicate]]:
        """What finds its files, each with how much of a path it says."""
        return [(len(one), match_any([compile_pattern(one)])) for one in self.paths]


def read_subsystem_catalogue(tree: Tree) -> tuple[CatalogueSubsystem, ...]:
    """The subsystems of the first file that there is; ProblemsError with all that is wrong with it."""
    ##= man/spec/knowledge.md#subsystems
    ##% `duvet ingest` MUST read subsystems from `subsystems.yaml`, `.yml` or `.json` at the top, in `.duvet`,
    ##% `.metadata` or `docs`, and stop at an error in it with its line.
    path = next((path for path in CATALOGUE_PATHS if tree.is_file(path)), None)
    if path is None:
        return ()
    try:
        document = read_document(tree.read(path), path)
    except DocumentError as error:
        problem = rules.CONFIG_SYNTAX.problem(error.message, path, error.place, hint=error.hint)
        raise ProblemsError((problem,)) from None
    part = _Part(document)
    at = DocumentLocation(part, {})
    _require_none(check_table(_File, at))
    found = {name: _subsystem(name, entry, at) for name, entry in build_table(part.values, _File).subsystems.items()}
    _require_none(
        find_entry_faults(at / _SUBSYSTEMS_WHOLE, [(name, one.criticality, one.paths) for name, one in found.items()])
    )
    return tuple(found.values())


def _require_none(problems: Iterable[Problem]) -> None:
    if found := sort_problems(problems):
        raise ProblemsError(found)


class _Part:
    """The file as if its names stood in a table, which they may."""

    def __init__(self, document: DataDocument) -> None:
        self._document = document
        self._is_inside = set(document.values) == {_SUBSYSTEMS_WHOLE}
        self.path = document.path
        inside = document.values[_SUBSYSTEMS_WHOLE] if self._is_inside else document.values
        self.values: dict[str, Any] = {_SUBSYSTEMS_WHOLE: inside}

    def value_place(self, *keys: str | int) -> Place:
        return self._document.value_place(*(keys if self._is_inside else keys[1:]))

    def key_place(self, *keys: str | int) -> Place:
        return self._document.key_place(*(keys if self._is_inside else keys[1:]))


def _subsystem(name: str, entry: CatalogueEntry, at: DocumentLocation) -> CatalogueSubsystem:
    needed = {
        one.name: one for key in _NEEDED for one in _needed(getattr(entry, key), at / _SUBSYSTEMS_WHOLE / name / key)
    }
    return CatalogueSubsystem(
        name.strip(),
        entry.description,
        entry.criticality.strip().lower(),
        entry.owner,
        entry.domain,
        _all(entry.tags, entry.labels),
        _all(entry.paths, entry.includes),
        tuple(needed.values()),
    )


def _needed(said: _Words, at: DocumentLocation) -> Iterator[SubsystemDependency]:
    for index, word in enumerate((said,) if isinstance(said, str) else said):
        if word.strip():
            place = (at if isinstance(said, str) else at / index).place
            yield SubsystemDependency(word.strip(), at.document.path, place)


def _all(*lists: _Words) -> tuple[str, ...]:
    words = [word for one in lists for word in ((one,) if isinstance(one, str) else one)]
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))


class SubsystemMembership(Struct, frozen=True):
    """What a file has of its subsystem."""

    subsystem: str = ""
    criticality: str = ""
    tags: tuple[str, ...] = ()


class SubsystemIndex:
    """All subsystems of a project by the paths of its files and by its catalogue."""

    def __init__(
        self,
        catalogue: Sequence[CatalogueSubsystem],
        roots: Sequence[SourceRoot],
        paths: Iterable[str],
        trace: Catalogue | None = None,
    ) -> None:
        self.catalogue = {_key(one.name): one for one in catalogue}
        self._roots = [(f"{root.folder}/", root) for root in roots]
        self._patterns: list[tuple[int, PathPredicate, str]] = sorted(
            ((length, matches, one.name) for one in catalogue for length, matches in one.matches()),
            key=lambda found: -found[0],
        )
        self._names = {key: one.name for key, one in self.catalogue.items()}
        code = (path for path in paths if detect_kind(path) in (FileKind.CODE, FileKind.PROTO))
        self._code = {path: name for path in code if (name := self._placed(path))}
        for name in self._code.values():
            self._names.setdefault(_key(name), name)
        self._cited = CitationNeighbours(trace, lambda path: self._code.get(path, "")) if trace else None

    def of(self, path: str, kind: FileKind, said: str = "", imports: Sequence[str] = ()) -> SubsystemMembership:
        """What a file has; `said` is the subsystem that it names itself, and `imports` are the modules that it does."""
        ##= man/spec/knowledge.md#subsystems
        ##% A file MUST belong to the subsystem that its front matter names, or else that of the longest matching
        ##% pattern, or else that of its path, in any case.
        name = said or self._code.get(path) or self._placed(path) or self._beside(path, kind, imports)
        if not name:
            return SubsystemMembership()
        key = _key(name)
        one = self.catalogue.get(key)
        if one is None:
            return SubsystemMembership(self._names.setdefault(key, name))
        return SubsystemMembership(one.name, one.criticality, one.tags)

    def named(self, name: str) -> str:
        """How a subsystem is spelt; empty where there is none of that name."""
        return self._names.get(_key(name), "")

    def listed(self, name: str) -> CatalogueSubsystem | None:
        """What the catalogue says of it."""
        return self.catalogue.get(_key(name))

    def unknown(self) -> Iterator[Problem]:
        """What the catalogue names as depended on, and no file belongs to."""
        for one in self.catalogue.values():
            for needed in one.needed:
                if not self.named(needed.name):
                    hint = suggest_nearest(needed.name, self._names.values())
                    yield make_warning(
                        f"there is no subsystem {quote_text(needed.name)}", needed.path, needed.place, hint
                    )

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

    def _top(self, root: SourceRoot) -> str:
        return "" if root.folder in _NO_NAMES else root.folder

    def _beside(self, path: str, kind: FileKind, imports: Sequence[str]) -> str:
        """The subsystem that a test or a document is about."""
        ##= man/spec/knowledge.md#subsystems
        ##% A test or document MUST belong to the subsystem that its path names below `tests` or `docs`, and a test
        ##% otherwise to that of its imports or of the requirements that it cites.
        for name in guess_subject_names(path, kind):
            if found := self.named(name) or self._at_the_top.get(_key(name), ""):
                return found
        if kind is not FileKind.TEST:
            return ""
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
    def _modules(self) -> ModuleIndex:
        """The names by which code is imported."""
        return ModuleIndex(((path, list(self._called(path))) for path in self._code), self._code)

    def _called(self, path: str) -> Iterator[str]:
        yield path
        for start, root in self._roots:
            if path.startswith(start):
                # A package is imported by its own name, and what a folder such as `src` holds without that one.
                above = start if root.folder in _NO_NAMES else start[: start[:-1].rfind("/") + 1]
                yield path.removeprefix(above)


_NO_NAMES = frozenset((SOURCE_FOLDER, *USUAL_FOLDERS))
"""Folders that say nothing of what is in them."""


def _key(name: str) -> str:
    return name.strip().casefold()
