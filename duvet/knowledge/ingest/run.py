"""An ingest run: reads changed files and updates the index in one transaction."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from uuid import uuid4

from msgspec import Struct, field
from msgspec.structs import replace

from duvet.config.settings import IngestRule
from duvet.errors import DuvetError, QueryError
from duvet.knowledge.git_dates import CommitTimes, decode_times, find_commit_times
from duvet.knowledge.ingest.chunks import FileRecord, IngestContent, IngestMemo, IngestReader, decode_memo
from duvet.knowledge.ingest.files import (
    describe_failure,
    detect_kind,
    detect_namespace,
    find_ingest_files,
    format_problem_line,
    make_warning,
    make_warnings,
)
from duvet.knowledge.ingest.graph import KnowledgeGraph, build_graph
from duvet.knowledge.ingest.subsystems import SubsystemIndex, find_roots, read_subsystem_catalogue
from duvet.knowledge.ingest.symbols import wants_symbols
from duvet.knowledge.reports import gather_facts, save_reports
from duvet.model import Problem
from duvet.progress import CountedStep, Progress
from duvet.project.project import Project
from duvet.queries.embeddings import Embedder, VectorSpace, find_embedder, row_size
from duvet.store.errors import StoreBusyError
from duvet.store.protocol import Store, StoreWriter
from duvet.store.records import SPACE_KEY, Artifact, Chunk, FileKind, IngestedFile, IngestRun, RemovedFile
from duvet.text import quote_text, shorten_text
from duvet.trace.catalogue import Catalogue


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


SPACE_SIZE_KEY = "space-size"
"""What is kept beside the space: how many pieces there were when it was fitted."""

_SAMPLE = 10_000
"""So many pieces tell what a corpus is like."""
_BATCH = 512
_TOLERANCE = 5
"""A corpus that has grown or shrunk by more than this part is another one."""


class VectorUpdate:
    """Brings the vectors of a store up to date."""

    def __init__(self, store: Store, writing: StoreWriter, embedder: Embedder) -> None:
        self._store = store
        self._writing = writing
        self._embedder = embedder
        self._space: VectorSpace | None = None
        self._total = 0

    def plan(self, artifacts: Sequence[Artifact], changed: Iterable[str]) -> list[Artifact]:
        """The files whose pieces need vectors: those that have changed, or all where the corpus is another one."""
        with_pieces = [one for one in artifacts if one.chunk_count]
        total = sum(one.chunk_count for one in with_pieces)
        ##= man/spec/knowledge.md#ingest-runs
        ##% `duvet ingest` MUST process only files whose bytes have changed, and compute all vectors again when the
        ##% model or more than a fifth of the chunks has changed.
        self._space = self._kept(total)
        if self._space is None:
            self._total = total
            return with_pieces
        known = frozenset(changed)
        return [one for one in with_pieces if one.path in known]

    def make(self, artifacts: Sequence[Artifact], counted: CountedStep) -> None:
        """Make the vectors of these files."""
        space = self._space or self._fitted(artifacts, self._total)
        for batch in _batches(artifacts):
            self._embed(space, batch)
            counted.advance(sum(one.chunk_count for one in batch))

    def _kept(self, total: int) -> VectorSpace | None:
        data = self._store.kept(SPACE_KEY)
        space = self._embedder.space(data) if data else None
        size = int.from_bytes(self._store.kept(SPACE_SIZE_KEY) or b"")
        return space if space and abs(total - size) * _TOLERANCE <= size else None

    def _fitted(self, artifacts: Sequence[Artifact], total: int) -> VectorSpace:
        space = self._embedder.fitted(list(self._sample(artifacts, total)))
        self._writing.keep(SPACE_KEY, space.data)
        self._writing.keep(SPACE_SIZE_KEY, total.to_bytes(8))
        return space

    def _sample(self, artifacts: Sequence[Artifact], total: int) -> Iterator[str]:
        """Texts from all over the corpus, the same of the same one."""
        step = max(1, -(-total // _SAMPLE))
        first = 0
        for one in artifacts:
            start = -first % step
            first += one.chunk_count
            if start < one.chunk_count:
                numbers = self._store.chunk_numbers(one.path)
                yield from map(_words, self._store.chunks(numbers[start::step]))

    def _embed(self, space: VectorSpace, batch: Sequence[Artifact]) -> None:
        numbers = [self._store.chunk_numbers(one.path) for one in batch]
        chunks = self._store.chunks([number for some in numbers for number in some])
        rows = space.rows(list(map(_words, chunks)))
        size, start = row_size(space.width), 0
        for one, some in zip(batch, numbers, strict=True):
            end = start + len(some) * size
            self._writing.replace_vectors(one.path, rows[start:end])
            start = end


def update_vectors(
    store: Store,
    writing: StoreWriter,
    embedder: Embedder | None,
    artifacts: Sequence[Artifact],
    changed: Iterable[str],
    progress: Progress,
) -> None:
    """Make those that are missing; without a model there are none."""
    if embedder is None:
        _without_vectors(store, writing, artifacts)
        return
    vectors = VectorUpdate(store, writing, embedder)
    todo = vectors.plan(artifacts, changed)
    if todo:
        count = sum(one.chunk_count for one in todo)
        with progress.counted("Making vectors", count) as counted:
            vectors.make(todo, counted)
        progress.end(f"Made {count} vectors")


def _without_vectors(store: Store, writing: StoreWriter, artifacts: Iterable[Artifact]) -> None:
    """Leave none: some would be of texts that have changed."""
    if store.kept(SPACE_KEY):
        writing.keep(SPACE_KEY, b"")
        for one in artifacts:
            if one.chunk_count:
                writing.replace_vectors(one.path, b"")


def _words(chunk: Chunk) -> str:
    title = chunk.piece.title
    return f"{title}\n{chunk.text}" if title else chunk.text


def _batches(artifacts: Iterable[Artifact]) -> Iterator[list[Artifact]]:
    """The files, so many at once that their pieces make one batch."""
    batch: list[Artifact] = []
    size = 0
    for one in artifacts:
        batch.append(one)
        size += one.chunk_count
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


_GRAPH = "graph"


def save_changed(store: Store, writing: StoreWriter, name: str, data: bytes) -> None:
    """Keep something under a name, where that isn't what is kept there."""
    if store.kept(name) != data:
        writing.keep(name, data)


def save_graph(store: Store, writing: StoreWriter, graph: KnowledgeGraph) -> None:
    """Replace the graph where it has changed."""
    from blake3 import blake3
    from msgspec import msgpack

    digest = blake3(msgpack.encode(graph)).digest()
    if store.kept(_GRAPH) != digest:
        writing.replace_graph(graph.nodes, graph.edges)
        writing.keep(_GRAPH, digest)


INGEST_PATIENCE = 10.0
"""Seconds that a run waits for another one."""

_HOW = "2"
"""Tells what was read in this way from what another version has read."""
LOCAL_PROFILE = "local"
"""What runs are called that people begin."""
_FILES, _TIMES = "files", "times"
"""What is kept from run to run."""


class IngestOptions(Struct, frozen=True, kw_only=True):
    """How a project is taken in, beside what the configuration says."""

    profile: str = ""
    """What the run is called; where it is empty, the configuration says."""
    otherwise: str = LOCAL_PROFILE
    """What it is called where that doesn't say either."""
    dry_run: bool = False
    full: bool = False
    """Whether to read everything again."""
    dummy: bool = False
    """Whether to make vectors that mean nothing."""
    patience: float = INGEST_PATIENCE
    run_id: str = ""
    """What the run is known by; made up where it is empty."""


class IngestOutcome(Struct, frozen=True, kw_only=True):
    """What has come of it."""

    run: IngestRun
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    vectors: str = ""
    """The model that has made them; empty where there are none."""


def ingest_project(
    project: Project,
    store: Store | None,
    wanted: IngestRule,
    wishes: IngestOptions = IngestOptions(),  # noqa: B008 - frozen
    *,
    catalogue: Callable[[], Catalogue] | None = None,
    own: Sequence[str] = (),
) -> IngestOutcome:
    """Bring the store up to date with the project, all or nothing; without a store, only look.

    `catalogue` is where the trace comes from, if it is known already; `own` are files that are no part of the project.
    """
    taking = _Taking(project, wanted, wishes, catalogue, own)
    if store is None or wishes.dry_run:
        return taking.look(store)
    try:
        with _written(store, project, wishes.patience) as writing:
            return taking.write(store, writing)
    except StoreBusyError:
        raise
    except BaseException as error:
        ##= man/spec/knowledge.md#ingest-runs
        ##% A run that fails or is killed MUST leave the index unchanged, and a failure MUST be recorded with its
        ##% reason.
        with suppress(Exception), store.writing() as writing:
            writing.put_run(taking.failed(error))
        raise


@contextmanager
def _written(store: Store, project: Project, patience: float) -> Iterator[StoreWriter]:
    """A change of the store, once nobody else makes one."""
    ##= man/spec/knowledge.md#ingest-runs
    ##% A second run at the same time MUST say so, wait up to 10 seconds, and then fail.
    with ExitStack() as stack:
        try:
            writing = stack.enter_context(store.writing())
        except StoreBusyError:
            project.progress.begin("Waiting for another run to end")
            writing = stack.enter_context(store.writing(patience))
        yield writing


class _Taking:
    """One run."""

    def __init__(
        self,
        project: Project,
        wanted: IngestRule,
        wishes: IngestOptions,
        catalogue: Callable[[], Catalogue] | None,
        own: Sequence[str],
    ) -> None:
        self._project = project
        self._wanted = wanted
        self._wishes = wishes
        self._catalogue = catalogue
        self._own = own
        self._problems: list[Problem] = []
        self._clock = time.perf_counter()
        run_id, profile = wishes.run_id or uuid4().hex, wishes.profile or wanted.profile or wishes.otherwise
        self._run = IngestRun(run_id=run_id, profile=profile, started_at=time.time(), dry_run=wishes.dry_run)
        self._finds_symbols = wants_symbols(wanted.symbols)
        self._embedder: Embedder | None = None

    def look(self, store: Store | None) -> IngestOutcome:
        """What would change."""
        ##= man/spec/knowledge.md#ingest-runs
        ##% With `--dry-run`, `duvet ingest` MUST show what would change and change nothing.
        files, times = self._update(store, None, None)[:2]
        return self._outcome(files, times)

    def write(self, store: Store, writing: StoreWriter) -> IngestOutcome:
        """Change it."""
        self._embedder = find_embedder(self._wanted.semantic, self._wishes.dummy)
        ##= man/spec/knowledge.md#ingest-runs
        ##% Readers MUST see the last completed run, and MUST NOT wait for one in progress.
        trace = self._trace()
        files, times, subsystems = self._update(store, writing, trace)
        update_vectors(
            *(store, writing, self._embedder, list(files.artifacts.values())),
            *((*files.added, *files.changed), self._project.progress),
        )
        graph = build_graph(files.artifacts, files.known, subsystems, trace)
        save_graph(store, writing, graph)
        save_changed(store, writing, _FILES, IngestMemo(self._how, files.known).encoded())
        save_changed(store, writing, _TIMES, times.encoded())
        outcome = self._outcome(files, times)
        writing.put_run(outcome.run)
        facts = gather_facts(outcome.run, files.artifacts, graph.nodes, graph.edges, self._wanted)
        save_reports(writing, facts, time.time())
        return outcome

    def failed(self, error: BaseException) -> IngestRun:
        """The run, which came to nothing."""
        return replace(self._run, success=False, error=describe_failure(error), duration_seconds=self._elapsed)

    @property
    def _how(self) -> str:
        """What was read in another way is read again."""
        return f"{_HOW} {self._finds_symbols} {self._wanted.max_file_bytes}"

    @property
    def _elapsed(self) -> float:
        return round(time.perf_counter() - self._clock, 3)

    def _update(
        self, store: Store | None, writing: StoreWriter | None, trace: Catalogue | None
    ) -> tuple[FileChanges, CommitTimes, SubsystemIndex]:
        project, progress = self._project, self._project.progress
        before, memo, known_times = self._earlier(store)
        progress.begin("Looking for files")
        found = find_ingest_files(project, self._wanted, self._own)
        self._problems += found.problems
        catalogue = read_subsystem_catalogue(project.tree)
        subsystems = SubsystemIndex(catalogue, find_roots(project.tree, found.paths), found.paths, trace)
        times = find_commit_times(project, known_times)
        if times.fault:
            self._problems.append(make_warning(f"without times of commits, those of the files count: {times.fault}"))
        progress.end(f"Found {len(found.paths)} files")
        reader = IngestReader(project, self._wanted.max_file_bytes, finds_symbols=self._finds_symbols)
        updating = FileUpdater(before, memo, reader, subsystems, times, writing)
        with progress.counted("Reading files", len(found.paths)) as counted:
            files = updating.update(found.paths, counted)
        self._problems += (*files.problems, *subsystems.unknown())
        progress.end(f"Read {len(files.added) + len(files.changed)} files that are new or have changed")
        return files, times, subsystems

    def _earlier(self, store: Store | None) -> tuple[dict[str, Artifact], IngestMemo, CommitTimes]:
        """What is known already."""
        if store is None:
            return {}, IngestMemo(self._how), CommitTimes()
        memo = IngestMemo(self._how) if self._wishes.full else decode_memo(store.kept(_FILES), self._how)
        return dict(store.artifacts()), memo, decode_times(store.kept(_TIMES))

    def _trace(self) -> Catalogue | None:
        """The trace; none where there is no project with a configuration, or it can't be read."""
        try:
            if self._project.config is None:
                return None
            return self._catalogue() if self._catalogue else self._project.catalogue
        except DuvetError as error:
            ##= man/spec/knowledge.md#ingest-runs
            ##% `duvet ingest` MUST continue with a warning when git fails or the trace cannot be read.
            self._problems += make_warnings(error)
            return None

    def _outcome(self, files: FileChanges, times: CommitTimes) -> IngestOutcome:
        artifacts = files.artifacts.values()
        run = replace(
            self._run,
            duration_seconds=self._elapsed,
            artifact_counts=dict(sorted(Counter(one.kind.value for one in artifacts).items())),
            chunk_count=sum(one.chunk_count for one in artifacts),
            repo_head=times.head,
            changed=len(files.added) + len(files.changed),
            removed=files.removed,
            warnings=tuple(map(format_problem_line, self._problems)),
        )
        return IngestOutcome(
            run=run,
            added=tuple(files.added),
            changed=tuple(files.changed),
            problems=tuple(self._problems),
            vectors=self._embedder.name if self._embedder else "",
        )


_PROFILE = re.compile(r"[A-Za-z0-9._-]{1,64}")


def require_profile(name: str) -> str:
    """The same; QueryError where no run can be called so."""
    if not _PROFILE.fullmatch(name):
        hint = "take up to 64 letters, digits, `.`, `-` and `_`"
        raise QueryError(f"{quote_text(shorten_text(name))} can't be the name of a profile", hint=hint)
    return name
