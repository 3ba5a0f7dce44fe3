"""Assigns files to subsystems by front matter, a catalogue file, paths, imports and citations."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Any

from msgspec import Struct, convert, field

from duvet import errors, model, rules
from duvet.config import check, document_formats
from duvet.config.document import DataDocument, DocumentError, DocumentLocation
from duvet.knowledge.ingest.files import detect_kind, make_warning
from duvet.sources.glob import PathPredicate, PatternError, compile_pattern, match_any
from duvet.store.records import FileKind
from duvet.text import quote_text, suggest_nearest
from duvet.trace.catalogue import Catalogue
from duvet.tree.files import Tree

_USUAL_FOLDERS = ("packages", "crates", "apps", "libs", "services", "modules", "plugins", "internal", "pkg", "cmd")
_SOURCE_FOLDER = "src"
_GENERIC_FOLDERS = frozenset((_SOURCE_FOLDER, *_USUAL_FOLDERS))
_SUBJECT_FOLDERS = {FileKind.TEST: ("tests", "test", "__tests__"), FileKind.DOC: ("docs", "doc", "man")}
_TEST_AFFIX = re.compile(r"^test_|_tests?$|[.-](?:test|spec)$|Tests?$")
_LAST_PART = re.compile(r"[._-]+[^._-]*\Z")
_DOTTED_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*\(?[ \t]*(\w*)"
    r"|(?:import(?:[ \t]+static)?|using|(?:pub[ \t]+)?use)[ \t]+([A-Za-z_][\w.:]*))",
    re.MULTILINE,
)
_QUOTED_IMPORT = re.compile(r"""\b(?:from|require|import|include)\b[ \t(]*["'<]([\w@./-]+)["'>]""")
_GO_IMPORT = re.compile(r'^(?:import)?[ \t]*(?:[\w.]+[ \t]+)?"([\w.-]+(?:/[\w.-]+)+)"[ \t]*$', re.MULTILINE)
_SEPARATORS = re.compile(r"[./:]+")
_ENDING = re.compile(r"\.\w{1,5}\Z")
_NOT_NAMES = ("", "crate", "super", "self")
_FOLDER_MODULES = ("__init__", "index", "mod", "lib", "main")  # Files that are imported by the name of their folder.
_MAX_IMPORTS, _MAX_IMPORT_TEXT, _MAX_IMPORT_LENGTH = 64, 1 << 16, 200
_MAX_MANIFEST_BYTES = 1 << 20
CRITICALITY_LEVELS = ("low", "medium", "high", "critical")
SUBSYSTEM_PATHS = tuple(
    f"{folder}subsystems.{ending}"
    for folder in ("", ".duvet/", ".metadata/", "docs/")
    for ending in ("yaml", "yml", "json")
)
"""The possible paths of the catalogue file; only the first file that exists is read."""
_SUBSYSTEMS = "subsystems"
_Words = str | tuple[str, ...]


class SubsystemIndex:
    def __init__(
        self,
        catalogue: Sequence[CatalogueSubsystem],
        roots: Sequence[SourceRoot],
        paths: Iterable[str],
        trace: Catalogue | None = None,
    ) -> None:
        self.catalogue = {_key(subsystem.name): subsystem for subsystem in catalogue}
        self._roots = [(f"{root.folder}/", root) for root in roots]
        patterns = ((pattern, subsystem.name) for subsystem in catalogue for pattern in subsystem.paths)
        self._patterns: list[tuple[PathPredicate, str]] = [
            (match_any([compile_pattern(pattern)]), name)
            for pattern, name in sorted(patterns, key=lambda found: -len(found[0]))
        ]
        self._names = {key: subsystem.name for key, subsystem in self.catalogue.items()}
        code = (path for path in paths if detect_kind(path) in (FileKind.CODE, FileKind.PROTO))
        self._code = {path: name for path in code if (name := self._find_by_path(path))}
        for name in self._code.values():
            self._names.setdefault(_key(name), name)
        self._trace = trace

    def find_membership(
        self, path: str, kind: FileKind, named: str = "", imports: Sequence[str] = ()
    ) -> CatalogueSubsystem:
        """`named` is the subsystem in the front matter; if no subsystem is found, the result has no name."""
        ##= man/spec/knowledge.md#subsystems
        ##% `duvet ingest` MUST assign a file to the subsystem in its front matter, or else to the subsystem with the
        ##% longest matching pattern, or else to the subsystem whose name occurs in the file's path.
        name = named or self._code.get(path) or self._find_by_path(path)
        if not name:
            guesses = guess_subject_names(path, kind)
            found = (self.find_spelling(guess) or self._top_modules.get(_key(guess), "") for guess in guesses)
            name = next(filter(None, found), "")
        if not name and kind is FileKind.TEST:
            votes = Counter[str]()
            for parts in (imported.split("/") for imported in imports):
                # A module path may begin with the host that it is loaded from, or with the name of the project.
                spans = ((start, end) for end in range(len(parts), 0, -1) for start in range(max(1, end - 1)))
                known = (self._modules.get("/".join(parts[start:end])) for start, end in spans)
                votes.update(islice(filter(None, known), 1))
            if not votes:
                # Code that cites the same requirements.
                cited, citing = self._citations
                votes.update(other for index in sorted(cited.get(path, ())) for other in citing.get(index, ()))
            name = votes.most_common(1)[0][0] if votes else ""
        key = _key(name)
        return self.catalogue.get(key) or CatalogueSubsystem(self._names.setdefault(key, name) if name else "")

    def find_spelling(self, name: str) -> str:
        return self._names.get(_key(name), "")

    def find_unknown(self) -> Iterator[model.Problem]:
        for subsystem in self.catalogue.values():
            for needed in subsystem.needed:
                if not self.find_spelling(needed.name):
                    hint = suggest_nearest(needed.name, self._names.values())
                    message = f"unknown subsystem {quote_text(needed.name)}"
                    yield make_warning(message, needed.path, needed.place, hint)

    def _find_by_path(self, path: str) -> str:
        listed = next((name for matches, name in self._patterns if matches(path)), "")
        if listed:
            return listed
        for start, root in self._roots:
            if not path.startswith(start):
                continue
            inner, slash, _ = path[len(start) :].partition("/")
            if slash and not root.is_whole:
                return inner
            if root.is_whole or "/" in root.folder:
                return root.folder.rpartition("/")[2]
            return "" if root.folder in _GENERIC_FOLDERS else root.folder
        return ""

    @cached_property
    def _top_modules(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for path, name in self._code.items():
            folder, _, file = path.rpartition("/")
            if any(root.folder == folder for _, root in self._roots):
                found.setdefault(_key(file.rpartition(".")[0]), name)
        return found

    @cached_property
    def _modules(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for path, name in self._code.items():
            above = [""]
            for start, root in self._roots:
                if path.startswith(start):
                    # A package is imported by its own name, and the content of a folder such as `src` without it.
                    above.append(start if root.folder in _GENERIC_FOLDERS else start[: start[:-1].rfind("/") + 1])
            for stem in (_ENDING.sub("", path.removeprefix(start)) for start in above):
                folder, _, last = stem.rpartition("/")
                found.setdefault(stem, name)
                # The module of a folder takes precedence over other files in the folder.
                if folder and (last in _FOLDER_MODULES or folder not in found):
                    found[folder] = name
        return found

    @cached_property
    def _citations(self) -> tuple[dict[str, set[int]], dict[int, list[str]]]:
        cited, citing = defaultdict[str, set[int]](set), defaultdict[int, list[str]](list)
        for citation in self._trace.citations if self._trace else ():
            cited[citation.path].update(citation.requirements)
            if name := self._code.get(citation.path):
                for requirement in citation.requirements:
                    citing[requirement].append(name)
        return cited, citing


def _key(name: str) -> str:
    return name.strip().casefold()


def guess_subject_names(path: str, kind: FileKind) -> Iterator[str]:
    folders = _SUBJECT_FOLDERS.get(kind)
    if folders is None:
        return
    *above, name = path.split("/")
    at = next((index for index, part in enumerate(above) if part in folders), None)
    if at is not None:
        yield from reversed(above[at + 1 :])
    elif kind is FileKind.DOC:
        return
    stem = _TEST_AFFIX.sub("", name.rpartition(".")[0] or name)
    while stem:
        yield stem
        shorter = _LAST_PART.sub("", stem)
        stem = shorter if shorter != stem else ""


def find_imports(path: str, text: str) -> tuple[str, ...]:
    names = []
    for package, first, other in _DOTTED_IMPORT.findall(text, 0, _MAX_IMPORT_TEXT):
        parts = _SEPARATORS.split(f"{package}.{first}" if package else other)
        names.append("/".join(part for part in parts if part not in _NOT_NAMES))
    for name in (_GO_IMPORT if path.endswith(".go") else _QUOTED_IMPORT).findall(text, 0, _MAX_IMPORT_TEXT):
        near = posixpath.join(posixpath.dirname(path), name) if name.startswith(".") else name
        names.append(_ENDING.sub("", posixpath.normpath(near)))
    return tuple(islice((name for name in names if 0 < len(name) <= _MAX_IMPORT_LENGTH), _MAX_IMPORTS))


class SourceRoot(Struct, frozen=True, order=True):
    folder: str
    is_whole: bool = False  # Whether the folder is one subsystem.


def find_roots(tree: Tree, paths: Sequence[str]) -> list[SourceRoot]:
    # Go modules below the top.
    go_modules = (SourceRoot(path.rpartition("/")[0], is_whole=True) for path in paths if path.endswith("/go.mod"))
    usual = (SourceRoot(name) for name in (_SOURCE_FOLDER, *_USUAL_FOLDERS))
    found = {*_find_crates(tree, paths), *go_modules, *_find_packages(tree, paths), *usual}
    below = [path for path in paths if path.startswith(f"{_SOURCE_FOLDER}/") and detect_kind(path) is FileKind.CODE]
    inner = {parts[1] for parts in (path.split("/") for path in below) if len(parts) > 2}
    if len(inner) == 1:
        # The only package in `src`.
        found.add(SourceRoot(f"{_SOURCE_FOLDER}/{inner.pop()}"))
    return sorted(found, key=lambda root: (-root.folder.count("/"), not root.is_whole, root.folder))


def _find_packages(tree: Tree, paths: Sequence[str]) -> Iterator[SourceRoot]:
    values = _read_toml(tree, "pyproject.toml")
    tool = _table(values, "tool")
    setuptools = _table(tool, "setuptools")
    names = [_table(values, "project").get("name"), _table(tool, "poetry").get("name")]
    listed = setuptools.get("packages")
    names += listed if isinstance(listed, list) else []
    included = _table(tool, "poetry").get("packages")
    entries = included if isinstance(included, list) else []
    names += [entry.get("include") for entry in entries if isinstance(entry, dict)]
    tops = {re.split(r"[./]", name)[0].replace("-", "_") for name in names if isinstance(name, str)}
    parts = (path.split("/") for path in paths)
    folders = {"/".join(some[:depth]) for some in parts for depth in (1, 2) if len(some) > depth}
    candidates = [folder for top in tops for folder in (top, f"{_SOURCE_FOLDER}/{top}")]
    candidates += [folder for folder in _table(setuptools, "package-dir").values() if isinstance(folder, str)]
    yield from (SourceRoot(folder) for folder in candidates if folder in folders)


def _find_crates(tree: Tree, paths: Sequence[str]) -> Iterator[SourceRoot]:
    members = _table(_read_toml(tree, "Cargo.toml"), "workspace").get("members")
    patterns = []
    for member in members if isinstance(members, list) else ():
        with suppress(PatternError):
            patterns.append(compile_pattern(posixpath.normpath(str(member))))
    if patterns:
        matches = match_any(patterns)
        folders = (path.rpartition("/")[0] for path in paths if path.endswith("/Cargo.toml"))
        yield from (SourceRoot(folder, is_whole=True) for folder in folders if matches(folder))


def _read_toml(tree: Tree, path: str) -> dict[str, Any]:
    if not tree.is_file(path):
        return {}
    try:
        data = tree.read(path)
        return tomllib.loads(data.decode()) if len(data) <= _MAX_MANIFEST_BYTES else {}
    except (errors.DuvetError, ValueError, RecursionError):
        # Errors in the file are reported by the tools that it belongs to.
        return {}


def _table(values: dict[str, Any], key: str) -> dict[str, Any]:
    found = values.get(key)
    return found if isinstance(found, dict) else {}


class CatalogueEntry(Struct, frozen=True, forbid_unknown_fields=True):
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


class _CatalogueFile(Struct, frozen=True):
    subsystems: dict[str, CatalogueEntry] = field(default_factory=dict)


class SubsystemDependency(Struct, frozen=True):
    name: str
    path: str
    place: model.Place


class CatalogueSubsystem(Struct, frozen=True):
    name: str
    description: str = ""
    criticality: str = ""
    owner: str = ""
    domain: str = ""
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    needed: tuple[SubsystemDependency, ...] = ()

    @property
    def dependencies(self) -> tuple[str, ...]:
        return tuple(needed.name for needed in self.needed)


def read_subsystem_catalogue(tree: Tree) -> tuple[CatalogueSubsystem, ...]:
    ##= man/spec/knowledge.md#subsystems
    ##% `duvet ingest` MUST fail if the subsystems file has errors, and report the line of each error.
    path = next((path for path in SUBSYSTEM_PATHS if tree.is_file(path)), None)
    if path is None:
        return ()
    try:
        document = document_formats.read_document(tree.read(path), path)
    except DocumentError as error:
        raise errors.ProblemsError((error.make_problem(),)) from None
    if set(document.values) != {_SUBSYSTEMS}:
        # The file omits the key above its subsystems.
        inner = document
        document = DataDocument(
            {_SUBSYSTEMS: inner.values},
            inner.text,
            path,
            lambda _: {(_SUBSYSTEMS, *keys): spans for keys, spans in inner.spans.items()},
        )
    root = DocumentLocation(document, {})
    _raise_any(check.check_table(_CatalogueFile, root))
    at = root / _SUBSYSTEMS
    entries = convert(document.values, _CatalogueFile).subsystems
    found = {name: _make_subsystem(name, entry, at / name) for name, entry in entries.items()}
    _raise_any(_find_faults(at, found, entries))
    return tuple(found.values())


def _raise_any(problems: Iterable[model.Problem]) -> None:
    if found := model.sort_problems(problems):
        raise errors.ProblemsError(found)


def _make_subsystem(name: str, entry: CatalogueEntry, at: DocumentLocation) -> CatalogueSubsystem:
    needed: dict[str, SubsystemDependency] = {}
    for key in ("dependencies", "depends_on", "depends_on_subsystems"):
        words: _Words = getattr(entry, key)
        for index, word in enumerate((words,) if isinstance(words, str) else words):
            if word.strip():
                place = (at / key if isinstance(words, str) else at / key / index).place
                needed[word.strip()] = SubsystemDependency(word.strip(), at.document.path, place)
    return CatalogueSubsystem(
        name.strip(),
        entry.description,
        entry.criticality.strip().lower(),
        entry.owner,
        entry.domain,
        _join_words(entry.tags, entry.labels),
        _join_words(entry.paths, entry.includes),
        tuple(needed.values()),
    )


def _join_words(*lists: _Words) -> tuple[str, ...]:
    words = [word.strip() for some in lists for word in ((some,) if isinstance(some, str) else some)]
    return tuple(dict.fromkeys(filter(None, words)))


def _find_faults(
    at: DocumentLocation, subsystems: Mapping[str, CatalogueSubsystem], entries: Mapping[str, CatalogueEntry]
) -> Iterator[model.Problem]:
    first_names: dict[str, str] = {}
    for name, subsystem in subsystems.items():
        first = first_names.setdefault(_key(name), name)
        if not name.strip():
            yield (at / name).problem(rules.CONFIG_BAD_VALUE, "a subsystem must have a name", at_key=True)
        elif first != name:
            message = f"{quote_text(name)} and {quote_text(first)} name the same subsystem"
            yield (at / name).problem(rules.CONFIG_BAD_VALUE, message, "merge the two entries", at_key=True)
        criticality = subsystem.criticality
        if criticality and criticality not in CRITICALITY_LEVELS:
            message = f"unknown criticality {quote_text(criticality)}"
            hint = suggest_nearest(criticality, CRITICALITY_LEVELS) or f"available: {', '.join(CRITICALITY_LEVELS)}"
            yield (at / name / "criticality").problem(rules.CONFIG_BAD_VALUE, message, hint)
        for key in ("paths", "includes"):
            for pattern in _join_words(getattr(entries[name], key)):
                try:
                    compile_pattern(pattern)
                except PatternError as error:
                    yield (at / name / key).problem(rules.CONFIG_BAD_PATTERN, error.message, error.hint)
