"""Builds the graph of files, subsystems, links and the trace."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from duvet import model, text
from duvet.knowledge.ingest.chunks import FileRecord
from duvet.knowledge.ingest.subsystems import SubsystemIndex
from duvet.knowledge.pages.page import PageReferenceFinder, normalise_slug
from duvet.store.records import Artifact, FileKind, GraphEdge, GraphNode, NodeLabel, Relation
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue

_MAX_NAME = 80
_FOLDER_PAGES = ("README.md", "index.md")  # The files that a link to a folder leads to.
_SUBSYSTEM_RELATIONS = {FileKind.DOC: Relation.DESCRIBES, FileKind.TEST: Relation.VALIDATES}


class KnowledgeGraph(Struct, frozen=True):
    nodes: list[GraphNode]
    edges: list[GraphEdge]


def build_graph(
    artifacts: Mapping[str, Artifact],
    records: Mapping[str, FileRecord],
    subsystems: SubsystemIndex,
    catalogue: Catalogue | None,
) -> KnowledgeGraph:
    trace = _TraceGraph(catalogue, artifacts) if catalogue else None
    nodes = [*_make_subsystem_nodes(artifacts, subsystems)]
    nodes += (_make_file_node(artifact, records.get(path)) for path, artifact in artifacts.items())
    edges = [*_make_subsystem_edges(artifacts, subsystems), *_LinkResolver(artifacts, records, trace).edges()]
    if trace:
        nodes += trace.nodes()
        edges += trace.edges()
    return KnowledgeGraph(nodes, edges)


def _make_file_id(artifact: Artifact) -> str:
    return f"{artifact.label}:{artifact.path}"


def _make_file_node(artifact: Artifact, record: FileRecord | None) -> GraphNode:
    properties = {
        "path": artifact.path,
        "artifact_type": artifact.kind.value,
        "subsystem": artifact.subsystem,
        "namespace": artifact.namespace,
        "tags": list(artifact.tags),
        "git_timestamp": artifact.git_timestamp,
        "chunk_count": artifact.chunk_count,
    }
    properties = {key: value for key, value in properties.items() if value not in ("", [], None)}
    name = record.title if record else ""
    return GraphNode(label=artifact.label, key=artifact.path, name=name, properties=properties)


def _make_subsystem_nodes(artifacts: Mapping[str, Artifact], subsystems: SubsystemIndex) -> Iterator[GraphNode]:
    entries = subsystems.catalogue.values()
    used = (artifact.subsystem for artifact in artifacts.values() if artifact.subsystem)
    needed = (subsystems.find_spelling(name) or name for entry in entries for name in entry.dependencies)
    for name in sorted({*used, *(entry.name for entry in entries), *needed}):
        properties: dict[str, Any] = {}
        if entry := subsystems.find_entry(name):
            properties = {
                "description": entry.description,
                "criticality": entry.criticality,
                "owner": entry.owner,
                "domain": entry.domain,
                "tags": list(entry.tags),
                "paths": list(entry.paths),
            }
        properties = {key: value for key, value in properties.items() if value}
        yield GraphNode(label=NodeLabel.SUBSYSTEM, key=name, properties=properties)


def _make_subsystem_edges(artifacts: Mapping[str, Artifact], subsystems: SubsystemIndex) -> Iterator[GraphEdge]:
    for artifact in artifacts.values():
        if artifact.subsystem:
            relation = _SUBSYSTEM_RELATIONS.get(artifact.kind, Relation.BELONGS_TO)
            target = f"{NodeLabel.SUBSYSTEM}:{artifact.subsystem}"
            yield GraphEdge(source=_make_file_id(artifact), relation=relation, target=target)
    for entry in subsystems.catalogue.values():
        for name in entry.dependencies:
            source = f"{NodeLabel.SUBSYSTEM}:{entry.name}"
            target = f"{NodeLabel.SUBSYSTEM}:{subsystems.find_spelling(name) or name}"
            yield GraphEdge(source=source, relation=Relation.DEPENDS_ON, target=target)


class _TraceGraph:
    def __init__(self, catalogue: Catalogue, artifacts: Mapping[str, Artifact]) -> None:
        self.catalogue = catalogue
        self._artifacts = artifacts
        self._sections = [f"{catalogue.specification_of(card).id}#{card.section}" for card in catalogue.requirements]
        self.ids = [
            f"{NodeLabel.REQUIREMENT}:{section}/{card.id[:SHORT_ID_DIGITS]}"
            for card, section in zip(catalogue.requirements, self._sections, strict=True)
        ]
        """The nodes of the requirements, in the order of the requirements."""

    def nodes(self) -> Iterator[GraphNode]:
        catalogue = self.catalogue
        for card in catalogue.specifications:
            properties: dict[str, Any] = {"url": card.url, "path": card.path}
            yield GraphNode(label=NodeLabel.SPECIFICATION, key=card.id, name=card.name, properties=properties)
            for section in card.sections:
                yield GraphNode(label=NodeLabel.SECTION, key=f"{card.id}#{section.id}", name=section.title)
        seen: set[str] = set()
        for requirement, id in zip(catalogue.requirements, self.ids, strict=True):
            # A section may contain the same text twice.
            if id in seen:
                continue
            seen.add(id)
            properties = {
                "name": requirement.name or None,
                "text": requirement.text,
                "level": requirement.level.name if requirement.level else None,
                "status": requirement.state.words,
                "target": catalogue.target_of(requirement),
                "full_path": catalogue.full_path_of(requirement),
                "line": requirement.line,
            }
            properties = {key: value for key, value in properties.items() if key != "name" or value}
            name = text.shorten_text(f"{requirement.name} {requirement.text}".lstrip(), _MAX_NAME)
            yield GraphNode(label=NodeLabel.REQUIREMENT, key=id.partition(":")[2], name=name, properties=properties)

    def edges(self) -> Iterator[GraphEdge]:
        for card in self.catalogue.specifications:
            source = f"{NodeLabel.SPECIFICATION}:{card.id}"
            if file := self._artifacts.get(card.path):
                yield GraphEdge(source=source, relation=Relation.WRITTEN_IN, target=_make_file_id(file))
            for section in card.sections:
                key = f"{NodeLabel.SECTION}:{card.id}#{section.id}"
                yield GraphEdge(source=key, relation=Relation.PART_OF, target=source)
        for id, section_key in dict(zip(self.ids, self._sections, strict=True)).items():
            yield GraphEdge(source=id, relation=Relation.PART_OF, target=f"{NodeLabel.SECTION}:{section_key}")
        yield from self._make_citation_edges()

    def _make_citation_edges(self) -> Iterator[GraphEdge]:
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
            yield GraphEdge(source=source, relation=Relation.CITES, target=target, properties=properties)


class _LinkResolver:
    def __init__(
        self, artifacts: Mapping[str, Artifact], records: Mapping[str, FileRecord], trace: _TraceGraph | None
    ) -> None:
        self._artifacts = artifacts
        self._records = records
        self._trace = trace
        self._references = PageReferenceFinder(trace.catalogue) if trace else None
        self._slugs: dict[str, str] = {}
        for path, record in records.items():
            if path in artifacts and (record.slug or path.endswith(".md")):
                stem = path.removesuffix(".md")
                self._slugs.setdefault(normalise_slug(record.slug or stem), path)
                while "/" in stem and not record.slug:
                    stem = stem.partition("/")[2]
                    self._slugs.setdefault(normalise_slug(stem), path)

    def edges(self) -> Iterator[GraphEdge]:
        for path, record in self._records.items():
            artifact = self._artifacts.get(path)
            if artifact is None or not (record.links or record.pages):
                continue
            source = _make_file_id(artifact)
            targets = dict.fromkeys((*self._resolve_links(path, record), *self._resolve_pages(record)))
            for target in targets:
                if target != source:
                    yield GraphEdge(source=source, relation=Relation.LINKS_TO, target=target)

    def _resolve_links(self, path: str, record: FileRecord) -> Iterator[str]:
        for link in record.links:
            start = "" if link.startswith("/") else posixpath.dirname(path)
            target = posixpath.normpath(posixpath.join(start, link.lstrip("/")))
            for candidate in (target, *(posixpath.join(target, name) for name in _FOLDER_PAGES)):
                if found := self._artifacts.get(candidate):
                    yield _make_file_id(found)
                    break

    def _resolve_pages(self, record: FileRecord) -> Iterator[str]:
        for written in record.pages:
            name, _, heading = written.partition("#")
            slug = normalise_slug(name)
            page = self._artifacts.get(self._slugs.get(slug, ""))
            if page is not None:
                yield _make_file_id(page)
            else:
                yield from self._resolve_in_trace(slug, heading.strip())

    def _resolve_in_trace(self, target: str, heading: str) -> Iterator[str]:
        found = self._references.find(target, heading) if self._references else None
        if found is None or self._trace is None:
            return
        yield from (self._trace.ids[index] for index in found.indexes)
        if found.specification is not None and not found.indexes:
            id = self._trace.catalogue.specifications[found.specification].id
            is_whole = found.section is None
            yield f"{NodeLabel.SPECIFICATION}:{id}" if is_whole else f"{NodeLabel.SECTION}:{id}#{found.section}"
