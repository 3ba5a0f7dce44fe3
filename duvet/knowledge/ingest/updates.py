"""Updates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from duvet.knowledge.ingest.chunks import IngestContent, IngestReader
from duvet.knowledge.ingest.git_history import CommitTimes
from duvet.knowledge.ingest.memo import FileRecord, IngestMemo
from duvet.knowledge.ingest.records import detect_kind, detect_namespace
from duvet.knowledge.ingest.subsystems import SubsystemIndex
from duvet.model import Problem
from duvet.progress import CountedStep
from duvet.store.protocol import StoreWriter
from duvet.store.records import Artifact, FileKind, IngestedFile, RemovedFile


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
