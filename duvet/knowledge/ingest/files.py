"""Brings the files of a store up to date."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from duvet.knowledge.ingest.kinds import kind_of, namespace_of
from duvet.knowledge.ingest.known import Known, Memo
from duvet.knowledge.ingest.reading import Content, Reader
from duvet.knowledge.ingest.subsystems import Subsystems
from duvet.knowledge.ingest.times import Times
from duvet.model import Problem
from duvet.progress import Counted
from duvet.store.protocol import Writing
from duvet.store.records import Artifact, Kind, Removed, Taken


class Files(Struct):
    """The files as they are now, and what has come of each."""

    artifacts: dict[str, Artifact] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: tuple[Removed, ...] = ()
    problems: list[Problem] = field(default_factory=list)


class Updating:
    """Takes in the files that are not what they were."""

    def __init__(
        self,
        before: Mapping[str, Artifact],
        memo: Memo,
        reader: Reader,
        subsystems: Subsystems,
        times: Times,
        writing: Writing | None,
    ) -> None:
        """Without a way to write, it is only found out what would change."""
        self._before = before
        self._memo = memo
        self._reader = reader
        self._subsystems = subsystems
        self._times = times
        self._writing = writing
        self._files = Files()

    def update(self, paths: Iterable[str], counted: Counted) -> Files:
        """Go through all files."""
        for path in paths:
            self._file(path)
            counted.advance()
        self._forget()
        return self._files

    def _file(self, path: str) -> None:
        before, known = self._before.get(path), self._memo.files.get(path)
        if before is None or known is None:
            before, known = None, Known()
        modified = self._reader.modified(path, known.seen) if before else None
        if before and modified is not None:
            self._same(before, known, modified)
            return
        kind = kind_of(path)
        content = self._reader.read(path, kind, before.digest if before else "")
        # Without one it has gone since its name was read.
        if content is None:
            return
        if before and content.digest and content.digest == before.digest:
            self._same(before, replace(known, seen=content.known.seen), content.modified)
        else:
            self._put(path, kind, content)

    def _same(self, before: Artifact, known: Known, modified: float | None) -> None:
        now = self._artifact(before, known, modified)
        self._files.artifacts[now.path] = now
        self._files.known[now.path] = known
        if now != before and self._writing:
            self._writing.touch(now)

    def _put(self, path: str, kind: Kind, content: Content) -> None:
        files = self._files
        bare = Artifact(
            path=path,
            kind=kind,
            namespace=namespace_of(path),
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
            taken = Taken(artifact=now, text=content.text, pieces=content.pieces, symbols=content.symbols)
            self._writing.put(taken)

    def _artifact(self, one: Artifact, known: Known, modified: float | None) -> Artifact:
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
        ##= man/spec/knowledge.md#runs
        ##% What was known of a file that is gone MUST be forgotten, and the run MUST tell it as removed, or as renamed where
        ##% a new file has the same bytes.
        self._files.removed = tuple(_removed(gone, [self._files.artifacts[path] for path in self._files.added]))
        if self._writing:
            for one in gone:
                self._writing.remove(one.path)


def _removed(gone: Sequence[Artifact], added: Sequence[Artifact]) -> Iterable[Removed]:
    heirs: dict[str, list[str]] = {}
    for one in added:
        # Empty files are all the same, and none is another one's heir.
        if one.digest and one.skipped != "empty":
            heirs.setdefault(one.digest, []).append(one.path)
    for one in gone:
        others = heirs.get(one.digest)
        heir = others.pop(0) if others else ""
        yield Removed(
            path=one.path,
            kind=one.kind,
            subsystem=one.subsystem,
            digest=one.digest,
            status="renamed" if heir else "deleted",
            renamed_to=heir,
        )
