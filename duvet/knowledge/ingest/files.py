"""Finds the files to index, and updates those that changed."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from duvet import rules
from duvet.config.settings import Config, IngestRule
from duvet.errors import DuvetError
from duvet.knowledge.ingest.chunks import IngestContent, IngestReader
from duvet.knowledge.ingest.git_history import CommitTimes
from duvet.knowledge.ingest.records import (
    FileRecord,
    IngestMemo,
    detect_kind,
    detect_namespace,
    make_valid_text,
    make_warning,
)
from duvet.knowledge.ingest.subsystems import SubsystemIndex
from duvet.knowledge.maintenance.feedback import is_backup
from duvet.model import Problem, ProblemsError
from duvet.progress import CountedStep
from duvet.project.project import Project
from duvet.sources.gitignore import IgnoredPaths
from duvet.sources.glob import PathPattern, PathPredicate, PatternError, compile_pattern, match_any
from duvet.store.protocol import StoreWriter
from duvet.store.records import Artifact, FileKind, IngestedFile, RemovedFile
from duvet.tree.files import OWN_FOLDERS, Tree, TreeEntry, is_folder
from duvet.tree.outputs import is_unfinished


class FileChanges(Struct):
    """The files as they are now, and what has come of each."""

    artifacts: dict[str, Artifact] = field(default_factory=dict)
    known: dict[str, FileRecord] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: tuple[RemovedFile, ...] = ()
    problems: list[Problem] = field(default_factory=list)


class FileUpdater:
    """Takes in the files that are not what they were."""

    def __init__(
        self,
        before: Mapping[str, Artifact],
        memo: IngestMemo,
        reader: IngestReader,
        subsystems: SubsystemIndex,
        times: CommitTimes,
        writing: StoreWriter | None,
    ) -> None:
        """Without a way to write, it is only found out what would change."""
        self._before = before
        self._memo = memo
        self._reader = reader
        self._subsystems = subsystems
        self._times = times
        self._writing = writing
        self._files = FileChanges()

    def update(self, paths: Iterable[str], counted: CountedStep) -> FileChanges:
        """Go through all files."""
        for path in paths:
            self._file(path)
            counted.advance()
        self._forget()
        return self._files

    def _file(self, path: str) -> None:
        before, known = self._before.get(path), self._memo.files.get(path)
        if before is None or known is None:
            before, known = None, FileRecord()
        modified = self._reader.modified(path, known.seen) if before else None
        if before and modified is not None:
            self._same(before, known, modified)
            return
        kind = detect_kind(path)
        content = self._reader.read(path, kind, before.digest if before else "")
        # Without one it has gone since its name was read.
        if content is None:
            return
        if before and content.digest and content.digest == before.digest:
            self._same(before, replace(known, seen=content.known.seen), content.modified)
        else:
            self._put(path, kind, content)

    def _same(self, before: Artifact, known: FileRecord, modified: float | None) -> None:
        now = self._artifact(before, known, modified)
        self._files.artifacts[now.path] = now
        self._files.known[now.path] = known
        if now != before and self._writing:
            self._writing.touch(now)

    def _put(self, path: str, kind: FileKind, content: IngestContent) -> None:
        files = self._files
        bare = Artifact(
            path=path,
            kind=kind,
            namespace=detect_namespace(path),
            digest=content.digest,
            chunk_count=len(content.pieces),
            skipped=content.skipped,
        )
        now = self._artifact(bare, content.known, content.modified)
        files.artifacts[path] = now
        files.known[path] = content.known
        files.problems += content.problems
        (files.changed if path in self._before else files.added).append(path)
        if self._writing:
            taken = IngestedFile(artifact=now, text=content.text, pieces=content.pieces, symbols=content.symbols)
            self._writing.put(taken)

    def _artifact(self, one: Artifact, known: FileRecord, modified: float | None) -> Artifact:
        """The file with all that isn't in it."""
        belongs = self._subsystems.of(one.path, one.kind, known.subsystem, known.imports)
        change = self._times.of(one.path)
        return replace(
            one,
            subsystem=belongs.subsystem,
            criticality=belongs.criticality,
            tags=tuple(dict.fromkeys((*known.tags, *belongs.tags))),
            git_commit=change.commit if change else "",
            git_timestamp=change.time if change else modified,
        )

    def _forget(self) -> None:
        gone = [one for path, one in self._before.items() if path not in self._files.artifacts]
        ##= man/spec/knowledge.md#ingest-runs
        ##% `duvet ingest` MUST forget deleted files, and report them as removed or renamed.
        self._files.removed = tuple(_removed(gone, [self._files.artifacts[path] for path in self._files.added]))
        if self._writing:
            for one in gone:
                self._writing.remove(one.path)


def _removed(gone: Sequence[Artifact], added: Sequence[Artifact]) -> Iterable[RemovedFile]:
    heirs: dict[str, list[str]] = {}
    for one in added:
        # Empty files are all the same, and none is another one's heir.
        if one.digest and one.skipped != "empty":
            heirs.setdefault(one.digest, []).append(one.path)
    for one in gone:
        others = heirs.get(one.digest)
        heir = others.pop(0) if others else ""
        yield RemovedFile(
            path=one.path,
            kind=one.kind,
            subsystem=one.subsystem,
            digest=one.digest,
            status="renamed" if heir else "deleted",
            renamed_to=heir,
        )


_SECRETS = re.compile(
    r"\.env(?!\.example\Z).*|.*\.(?:pem|key|p12|pfx)|id_(?:rsa|dsa|ecdsa|ed25519).*|\.(?:netrc|npmrc|pypirc)", re.DOTALL
)
_FOLDERS = ("node_modules", "__pycache__")
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
        return is_inside or bool(_SECRETS.fullmatch(low)) or (inner and low in _FOLDERS)

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
