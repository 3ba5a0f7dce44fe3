"""An ingest run: reads changed files, links them in the graph, and updates the index in one transaction."""

from __future__ import annotations

import posixpath
import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import chain
from typing import Any, TypeVar
from uuid import uuid4

from blake3 import blake3
from msgspec import DecodeError, Struct, convert, field, msgpack, structs

from duvet import errors, model, text
from duvet.config.service_tables import IngestRule
from duvet.knowledge import git_dates, reports
from duvet.knowledge.ingest import files as ingest_files
from duvet.knowledge.ingest.chunks import FileRecord, IngestReader, wants_symbols
from duvet.knowledge.ingest.subsystems import CatalogueSubsystem, SubsystemIndex, find_roots, read_subsystem_catalogue
from duvet.knowledge.pages.front_matter import normalise_slug
from duvet.knowledge.pages.links import PageLink
from duvet.knowledge.pages.page import LinkResolver, LinkTargets, PageReferenceFinder
from duvet.progress import CountedStep, Progress
from duvet.project.project import Project
from duvet.queries.embeddings import DummyEmbedder, Embedder, find_chunk_embedder, row_size
from duvet.store import location, records as stored
from duvet.store.database import StoreBusyError
from duvet.store.sqlite import Store, StoreWriter
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue

_MAX_NAME = 80
_PAGE_ENDINGS = (".md", ".markdown")
_FOLDER_PAGES = ("README.md", "index.md")  # The files that a link to a folder leads to.
_SUBSYSTEM_RELATIONS = {stored.FileKind.DOC: stored.Relation.DESCRIBES, stored.FileKind.TEST: stored.Relation.VALIDATES}


def build_graph(
    artifacts: Mapping[str, stored.Artifact],
    records: Mapping[str, FileRecord],
    subsystems: SubsystemIndex,
    catalogue: Catalogue | None,
) -> tuple[list[stored.GraphNode], list[stored.GraphEdge]]:
    trace = _TraceGraph(catalogue, artifacts) if catalogue else None
    nodes: list[stored.GraphNode] = []
    edges: list[stored.GraphEdge] = []
    entries = {entry.name: entry for entry in subsystems.catalogue.values()}
    used = (artifact.subsystem for artifact in artifacts.values() if artifact.subsystem)
    needed = {
        name: [subsystems.find_spelling(other) or other for other in entry.dependencies]
        for name, entry in entries.items()
    }
    for name in sorted({*used, *entries, *chain.from_iterable(needed.values())}):
        properties = structs.asdict(entries.get(name, CatalogueSubsystem(name)))
        shown = ("description", "criticality", "owner", "domain", "tags", "paths")
        properties = {key: properties[key] for key in shown if properties[key]}
        nodes.append(stored.GraphNode(label=stored.NodeLabel.SUBSYSTEM, key=name, properties=properties))
    for path, artifact in artifacts.items():
        properties = {
            "path": path,
            "artifact_type": artifact.kind.value,
            "subsystem": artifact.subsystem,
            "namespace": artifact.namespace,
            "tags": artifact.tags,
            "git_timestamp": artifact.git_timestamp,
            "chunk_count": artifact.chunk_count,
        }
        properties = {key: value for key, value in properties.items() if value not in ("", (), None)}
        title = records[path].title if path in records else ""
        nodes.append(stored.GraphNode(label=artifact.label, key=path, name=title, properties=properties))
        if artifact.subsystem:
            relation = _SUBSYSTEM_RELATIONS.get(artifact.kind, stored.Relation.BELONGS_TO)
            target = f"{stored.NodeLabel.SUBSYSTEM}:{artifact.subsystem}"
            edges.append(stored.GraphEdge(source=_make_file_id(artifact), relation=relation, target=target))
    for name, others in needed.items():
        source = f"{stored.NodeLabel.SUBSYSTEM}:{name}"
        targets = (f"{stored.NodeLabel.SUBSYSTEM}:{other}" for other in others)
        edges += (
            stored.GraphEdge(source=source, relation=stored.Relation.DEPENDS_ON, target=target) for target in targets
        )
    edges += _link_files(artifacts, records, trace)
    if trace:
        nodes += trace.nodes()
        edges += trace.edges()
    return nodes, edges


def _make_file_id(artifact: stored.Artifact) -> str:
    return f"{artifact.label}:{artifact.path}"


class _TraceGraph:
    def __init__(self, catalogue: Catalogue, artifacts: Mapping[str, stored.Artifact]) -> None:
        self.catalogue = catalogue
        self._artifacts = artifacts
        self._sections = [
            f"{catalogue.specifications[card.specification].id}#{card.section}" for card in catalogue.requirements
        ]
        self.ids = [
            f"{stored.NodeLabel.REQUIREMENT}:{section}/{card.id[:SHORT_ID_DIGITS]}"
            for card, section in zip(catalogue.requirements, self._sections, strict=True)
        ]
        """The node ids of the requirements, in the order of the catalogue."""

    def nodes(self) -> Iterator[stored.GraphNode]:
        catalogue = self.catalogue
        for card in catalogue.specifications:
            properties: dict[str, Any] = {"url": card.url, "path": card.path}
            yield stored.GraphNode(
                label=stored.NodeLabel.SPECIFICATION, key=card.id, name=card.name, properties=properties
            )
            for section in card.sections:
                yield stored.GraphNode(
                    label=stored.NodeLabel.SECTION, key=f"{card.id}#{section.id}", name=section.title
                )
        seen: set[str] = set()
        for id, requirement in zip(self.ids, catalogue.requirements, strict=True):
            # A section may contain the same text twice.
            if id in seen:
                continue
            seen.add(id)
            properties = {
                **({"name": requirement.name} if requirement.name else {}),
                "text": requirement.text,
                "level": requirement.level.name if requirement.level else None,
                "status": requirement.state.words,
                "target": catalogue.target_of(requirement),
                "full_path": catalogue.full_path_of(requirement),
                "line": requirement.line,
            }
            name = text.shorten_text(f"{requirement.name} {requirement.text}".lstrip(), _MAX_NAME)
            yield stored.GraphNode(
                label=stored.NodeLabel.REQUIREMENT, key=id.partition(":")[2], name=name, properties=properties
            )

    def edges(self) -> Iterator[stored.GraphEdge]:
        for card in self.catalogue.specifications:
            source = f"{stored.NodeLabel.SPECIFICATION}:{card.id}"
            if file := self._artifacts.get(card.path):
                yield stored.GraphEdge(source=source, relation=stored.Relation.WRITTEN_IN, target=_make_file_id(file))
            for section in card.sections:
                key = f"{stored.NodeLabel.SECTION}:{card.id}#{section.id}"
                yield stored.GraphEdge(source=key, relation=stored.Relation.PART_OF, target=source)
        for id, section_key in dict(zip(self.ids, self._sections, strict=True)).items():
            yield stored.GraphEdge(
                source=id, relation=stored.Relation.PART_OF, target=f"{stored.NodeLabel.SECTION}:{section_key}"
            )
        found: dict[tuple[str, str], tuple[set[model.Kind], set[int]]] = {}
        for citation in self.catalogue.citations:
            artifact = self._artifacts.get(citation.path)
            if artifact is None:
                continue
            for index in citation.requirements:
                kinds, lines = found.setdefault((_make_file_id(artifact), self.ids[index]), (set(), set()))
                kinds.add(citation.kind)
                lines.add(citation.line)
        for (source, target), (kinds, lines) in found.items():
            names = ("implementation" if kind is model.Kind.CITATION else kind.name.lower() for kind in kinds)
            properties = {"kinds": sorted(names), "lines": sorted(lines)}
            yield stored.GraphEdge(source=source, relation=stored.Relation.CITES, target=target, properties=properties)


def _link_files(
    artifacts: Mapping[str, stored.Artifact], records: Mapping[str, FileRecord], trace: _TraceGraph | None
) -> Iterator[stored.GraphEdge]:
    references = PageReferenceFinder(trace.catalogue) if trace else None
    pages = {path: one for path, one in records.items() if one.slug or path.lower().endswith(_PAGE_ENDINGS)}
    slugs = {normalise_slug(one.slug): path for path, one in reversed(pages.items()) if one.slug}
    aliases = tuple((alias, path) for path, one in pages.items() for alias in one.aliases)
    resolver = LinkResolver(LinkTargets(dict.fromkeys(pages, ""), slugs=slugs, aliases=aliases))
    for path, record in records.items():
        targets: dict[str, None] = {}
        for written in record.links:
            start = "" if written.startswith("/") else posixpath.dirname(path)
            target = posixpath.normpath(posixpath.join(start, written.lstrip("/")))
            files = (target, *(posixpath.join(target, name) for name in _FOLDER_PAGES))
            if file := next((file for file in files if file in artifacts), None):
                targets[_make_file_id(artifacts[file])] = None
        for written in record.pages:
            ##= man/spec/knowledge.md#files
            ##% `duvet ingest` MUST resolve `[[links]]` to Markdown files and requirements by the same rules as for
            ##% pages.
            link = PageLink(written)
            if page := resolver.resolve(path, link):
                targets[_make_file_id(artifacts[page])] = None
            elif trace and references and (found := references.find(link.target, link.heading or "")):
                targets |= {trace.ids[index]: None for index in found.indexes}
                if found.specification is not None and not found.indexes:
                    id = trace.catalogue.specifications[found.specification].id
                    is_whole = found.section is None
                    whole = (
                        f"{stored.NodeLabel.SPECIFICATION}:{id}"
                        if is_whole
                        else f"{stored.NodeLabel.SECTION}:{id}#{found.section}"
                    )
                    targets[whole] = None
        source = _make_file_id(artifacts[path])
        for target in targets:
            if target != source:
                yield stored.GraphEdge(source=source, relation=stored.Relation.LINKS_TO, target=target)


SPACE_SIZE_KEY = "space-size"  # Key of the number of chunks to which the vector space was fitted.
_SENTENCES_KEY = "sentences"  # Key of the vectors that take long to compute, by the digests of their texts.
_FILES_KEY, _TIMES_KEY, _GRAPH_KEY = "files", "times", "graph"
_READER_VERSION = "4"  # After a change of this number, the next run reads all files again.

Value = TypeVar("Value")
_SAMPLE = 10_000  # Maximum number of chunks to which a vector space is fitted.
_BATCH = 512
_TOLERANCE = 5  # The space is fitted again when the number of chunks has changed by more than this fraction (1/n).


class IngestOutcome(Struct, frozen=True, kw_only=True):
    run: stored.IngestRun
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    problems: tuple[model.Problem, ...] = ()
    vectors: str = ""  # The model of the vectors; empty without vectors.


def ingest_project(
    project: Project,
    store: Store | None,
    rule: IngestRule,
    options: location.IngestOptions = location.IngestOptions(),  # noqa: B008 - frozen
    *,
    catalogue: Callable[[], Catalogue] | None = None,  # Replaces tracing the project.
    own: Sequence[str] = (),  # duvet's own files, which are skipped.
) -> IngestOutcome:
    """Without a store, or in a dry run, only return what would change."""
    record = stored.IngestRun(
        run_id=options.run_id or uuid4().hex,
        profile=options.profile or rule.profile or options.default_profile,
        started_at=time.time(),
        dry_run=options.dry_run,
    )
    reader = IngestReader(project, rule.max_file_bytes, wants_symbols(rule.symbols))
    run = _Run(project, rule, options, catalogue, own, record, reader)
    if store is None or options.dry_run:
        ##= man/spec/knowledge.md#ingest-runs
        ##% With `--dry-run`, `duvet ingest` MUST list the changes to the index without making them.
        return run.make_outcome(run.update_files(store, None, None))
    try:
        ##= man/spec/knowledge.md#ingest-runs
        ##% If another ingest run is active, `duvet ingest` MUST wait for it to end, but fail after 10 seconds.
        with ExitStack() as stack:
            try:
                writing = stack.enter_context(store.writing())
            except StoreBusyError:
                project.progress.begin("Waiting for another ingest run to finish")
                writing = stack.enter_context(store.writing(options.patience))
            return run.write(store, writing)
    except StoreBusyError:
        raise
    except BaseException as error:
        failed = structs.replace(
            run.record, success=False, error=ingest_files.describe_failure(error), duration_seconds=run.elapsed
        )
        with suppress(Exception), store.writing() as writing:
            writing.put_run(failed)
        raise


class _Run(Struct):
    project: Project
    rule: IngestRule
    options: location.IngestOptions
    catalogue: Callable[[], Catalogue] | None
    own: Sequence[str]
    record: stored.IngestRun
    reader: IngestReader
    problems: list[model.Problem] = []
    clock: float = field(default_factory=time.perf_counter)
    embedder: Embedder | None = None

    def write(self, store: Store, writing: StoreWriter) -> IngestOutcome:
        trace = None
        try:
            if self.project.config is not None:
                trace = self.catalogue() if self.catalogue else self.project.catalogue
        except errors.DuvetError as error:
            self.problems += ingest_files.make_warnings(error)
        files = self.update_files(store, writing, trace)
        artifacts = list(files.artifacts.values())
        count = sum(artifact.chunk_count for artifact in artifacts)
        self.embedder = DummyEmbedder() if self.options.dummy else find_chunk_embedder(self.rule, count)
        if self.embedder is None:
            # Without a model, duvet can't update the vectors of changed texts.
            if store.kept(stored.SPACE_KEY):
                writing.keep(stored.SPACE_KEY, b"")
                for artifact in artifacts:
                    if artifact.chunk_count:
                        writing.replace_vectors(artifact.path, b"")
        else:
            changed = frozenset((*files.added, *files.changed))
            _update_vectors(store, writing, self.embedder, artifacts, changed, self.project.progress)
        graph = build_graph(files.artifacts, files.records, files.subsystems, trace)
        digest = blake3(msgpack.encode(graph)).digest()
        if store.kept(_GRAPH_KEY) != digest:
            writing.replace_graph(*graph)
        kept = {
            _GRAPH_KEY: digest,
            _FILES_KEY: _pack((self.reader_version, files.records)),
            _TIMES_KEY: _pack(git_dates.CommitTimes(files.times.head, files.times.changes)),
        }
        for key, data in kept.items():
            if store.kept(key) != data:
                writing.keep(key, data)
        outcome = self.make_outcome(files)
        writing.put_run(outcome.run)
        facts = structs.replace(reports.load_facts(store, self.rule), run=outcome.run)
        reports.save_reports(writing, facts, time.time())
        return outcome

    @property
    def reader_version(self) -> str:
        return f"{_READER_VERSION} {self.reader.finds_symbols} {self.reader.max_bytes}"

    @property
    def elapsed(self) -> float:
        return round(time.perf_counter() - self.clock, 3)

    def update_files(self, store: Store | None, writing: StoreWriter | None, trace: Catalogue | None) -> FileChanges:
        project, progress = self.project, self.project.progress
        before = dict(store.artifacts()) if store else {}
        memo = store.kept(_FILES_KEY) if store and not self.options.full else None
        version, records = _unpack(memo, tuple[str, dict[str, FileRecord]]) or ("", {})
        earlier_times = _unpack(store.kept(_TIMES_KEY), git_dates.CommitTimes) if store else None
        progress.begin("Finding files")
        paths, problems = ingest_files.find_ingest_files(project, self.rule, self.own)
        self.problems += problems
        catalogue = read_subsystem_catalogue(project.tree)
        subsystems = SubsystemIndex(catalogue, find_roots(project.tree, paths), paths, trace)
        times = git_dates.find_commit_times(project, earlier_times or git_dates.CommitTimes())
        if times.fault:
            self.problems.append(
                ingest_files.make_warning(f"using file times because commit times are unavailable: {times.fault}")
            )
        progress.end(f"Found {text.format_count(len(paths), 'file')}")
        known = records if version == self.reader_version else {}
        files = FileChanges(before, known, self.reader, subsystems, times, writing)
        with progress.counted("Reading files", len(paths)) as counted:
            files.update(paths, counted)
        self.problems += (*files.problems, *subsystems.find_unknown())
        progress.end(f"Read {text.format_count(len(files.added) + len(files.changed), 'new or changed file')}")
        return files

    def make_outcome(self, files: FileChanges) -> IngestOutcome:
        artifacts = files.artifacts.values()
        run = structs.replace(
            self.record,
            duration_seconds=self.elapsed,
            artifact_counts=dict(sorted(Counter(artifact.kind.value for artifact in artifacts).items())),
            chunk_count=sum(artifact.chunk_count for artifact in artifacts),
            repo_head=files.times.head,
            changed=len(files.added) + len(files.changed),
            removed=tuple(files.removed),
            warnings=tuple(map(ingest_files.format_problem_line, self.problems)),
        )
        return IngestOutcome(
            run=run,
            added=tuple(files.added),
            changed=tuple(files.changed),
            problems=tuple(self.problems),
            vectors=self.embedder.name if self.embedder else "",
        )


def _pack(value: object) -> bytes:
    return zlib.compress(msgpack.encode(value), 1)


def _unpack(data: bytes | None, type: type[Value]) -> Value | None:
    if data:
        with suppress(DecodeError, zlib.error):
            return msgpack.decode(zlib.decompress(data), type=type)
    return None


class FileChanges(Struct):
    before: Mapping[str, stored.Artifact]
    known: Mapping[str, FileRecord]  # The records of the last run.
    reader: IngestReader
    subsystems: SubsystemIndex
    times: git_dates.CommitTimes
    writing: StoreWriter | None
    artifacts: dict[str, stored.Artifact] = field(default_factory=dict)
    records: dict[str, FileRecord] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[stored.RemovedFile] = field(default_factory=list)
    problems: list[model.Problem] = field(default_factory=list)

    def update(self, paths: Iterable[str], counted: CountedStep) -> None:
        for path in paths:
            self._update_file(path)
            counted.advance()
        gone = [artifact for path, artifact in self.before.items() if path not in self.artifacts]
        heirs: dict[str, list[str]] = {}
        for artifact in map(self.artifacts.__getitem__, self.added):
            # All empty files have the same digest.
            if artifact.digest and artifact.skipped != "empty":
                heirs.setdefault(artifact.digest, []).append(artifact.path)
        for artifact in gone:
            others = heirs.get(artifact.digest)
            heir = others.pop(0) if others else ""
            status = "renamed" if heir else "deleted"
            removed = convert(artifact, stored.RemovedFile, from_attributes=True)
            self.removed.append(structs.replace(removed, status=status, renamed_to=heir))
            if self.writing:
                self.writing.remove(artifact.path)

    def _update_file(self, path: str) -> None:
        before, record = self.before.get(path), self.known.get(path)
        if before and record:
            modified = self.reader.find_unchanged_time(path, record.seen)
            if modified is not None:
                self._keep(before, record, modified)
                return
        kind = ingest_files.detect_kind(path)
        content = self.reader.read(path, kind, before.digest if before and record else "")
        if content is None:
            # The file was deleted since its folder was read.
            return
        if before and record and content.digest and content.digest == before.digest:
            self._keep(before, structs.replace(record, seen=content.record.seen), content.modified)
            return
        bare = stored.Artifact(
            path=path,
            kind=kind,
            namespace=ingest_files.detect_namespace(path),
            digest=content.digest,
            chunk_count=len(content.pieces),
            skipped=content.skipped,
        )
        artifact = self.artifacts[path] = self._describe(bare, content.record, content.modified)
        self.records[path] = content.record
        self.problems += content.problems
        (self.changed if path in self.before else self.added).append(path)
        if self.writing:
            self.writing.put(
                stored.IngestedFile(
                    artifact=artifact, text=content.text, pieces=content.pieces, symbols=content.symbols
                )
            )

    def _keep(self, before: stored.Artifact, record: FileRecord, modified: float | None) -> None:
        artifact = self.artifacts[before.path] = self._describe(before, record, modified)
        self.records[before.path] = record
        if artifact != before and self.writing:
            self.writing.touch(artifact)

    def _describe(self, artifact: stored.Artifact, record: FileRecord, modified: float | None) -> stored.Artifact:
        # The subsystem and the last commit can change even if the file doesn't.
        found = self.subsystems.find_membership(artifact.path, artifact.kind, record.subsystem, record.imports)
        commit = self.times.find_last_commit(artifact.path)
        return structs.replace(
            artifact,
            subsystem=found.name,
            criticality=found.criticality,
            tags=tuple(dict.fromkeys((*record.tags, *found.tags))),
            git_commit=commit.commit if commit else "",
            git_timestamp=commit.time if commit else modified,
        )


def _update_vectors(
    store: Store,
    writing: StoreWriter,
    embedder: Embedder,
    artifacts: Iterable[stored.Artifact],
    changed: Collection[str],
    progress: Progress,
) -> None:
    todo = [artifact for artifact in artifacts if artifact.chunk_count]
    total = sum(artifact.chunk_count for artifact in todo)
    data, size = store.kept(stored.SPACE_KEY), int.from_bytes(store.kept(SPACE_SIZE_KEY) or b"")
    space = embedder.space(data) if data and abs(total - size) * _TOLERANCE <= size else None
    if space is not None:
        todo = [artifact for artifact in todo if artifact.path in changed]
    if not todo:
        return
    count = sum(artifact.chunk_count for artifact in todo)
    known = embedder.sentences
    if known is not None:
        known.update(_unpack(store.kept(_SENTENCES_KEY), dict[bytes, bytes]) or {})
    with progress.counted("Computing vectors", count) as counted:
        if space is None:
            space = embedder.fitted(list(_sample_texts(store, todo, total)))
            writing.keep(stored.SPACE_KEY, space.data)
            writing.keep(SPACE_SIZE_KEY, total.to_bytes(8))
        for batch in _make_batches(todo):
            numbers = [store.chunk_numbers(artifact.path) for artifact in batch]
            rows = space.rows(list(map(_make_text, store.chunks([*chain.from_iterable(numbers)]))))
            start, done = 0, sum(artifact.chunk_count for artifact in batch)
            for artifact, some in zip(batch, numbers, strict=True):
                end = start + len(some) * row_size(space.width)
                writing.replace_vectors(artifact.path, rows[start:end])
                start = end
            counted.advance(done)
    if known is not None:
        writing.keep(_SENTENCES_KEY, _pack(dict([*known.items()][-2 * total :])))
    progress.end(f"Computed {text.format_count(count, 'vector')}")


def _sample_texts(store: Store, artifacts: Sequence[stored.Artifact], total: int) -> Iterator[str]:
    # Every nth text, so that the same files always produce the same vector space.
    step = max(1, -(-total // _SAMPLE))
    first = 0
    for artifact in artifacts:
        start = -first % step
        first += artifact.chunk_count
        if start < artifact.chunk_count:
            yield from map(_make_text, store.chunks(store.chunk_numbers(artifact.path)[start::step]))


def _make_text(chunk: stored.Chunk) -> str:
    title = chunk.piece.title
    return f"{title}\n{chunk.text}" if title else chunk.text


def _make_batches(artifacts: Iterable[stored.Artifact]) -> Iterator[list[stored.Artifact]]:
    batch: list[stored.Artifact] = []
    size = 0
    for artifact in artifacts:
        batch.append(artifact)
        size += artifact.chunk_count
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
