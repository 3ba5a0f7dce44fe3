"""Builds the graph of files, subsystems, links and the trace."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from duvet.knowledge.ingest.chunks import FileRecord
from duvet.knowledge.ingest.subsystems import SubsystemIndex
from duvet.knowledge.pages.catalogue import PageReferenceFinder
from duvet.knowledge.pages.page import PageLink, normalise_slug
from duvet.model import Kind
from duvet.queries.records import format_level
from duvet.store.records import Artifact, FileKind, GraphEdge, GraphNode, NodeLabel, Relation
from duvet.text import shorten_text
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue, RequirementCard, SpecificationCard

_LONGEST_NAME = 80


class TraceGraph:
    """The trace as a part of the graph."""

    def __init__(self, catalogue: Catalogue, artifacts: Mapping[str, Artifact]) -> None:
        self.catalogue = catalogue
        self._artifacts = artifacts
        self.ids = [self._id(card) for card in catalogue.requirements]
        """The nodes of the requirements in their order."""

    def _id(self, card: RequirementCard) -> str:
        return f"{NodeLabel.REQUIREMENT}:{self._section(card)}/{card.id[:SHORT_ID_DIGITS]}"

    def _section(self, card: RequirementCard) -> str:
        return make_section_key(self.catalogue.specification_of(card), card.section)

    def nodes(self) -> Iterator[GraphNode]:
        """Specifications, their sections and their requirements, each once."""
        for one in self.catalogue.specifications:
            about = {"url": one.url, "path": one.path}
            yield GraphNode(label=NodeLabel.SPECIFICATION, key=one.id, name=one.name, properties=about)
            for section in one.sections:
                yield GraphNode(label=NodeLabel.SECTION, key=make_section_key(one, section.id), name=section.title)
        seen: set[str] = set()
        for card, id in zip(self.catalogue.requirements, self.ids, strict=True):
            # The same text may stand twice in a section.
            if id not in seen:
                seen.add(id)
                yield self._requirement(card, id)

    def _requirement(self, card: RequirementCard, id: str) -> GraphNode:
        return GraphNode(
            label=NodeLabel.REQUIREMENT,
            key=id.partition(":")[2],
            name=shorten_text(card.text, _LONGEST_NAME),
            properties={
                "text": card.text,
                "level": format_level(card.level),
                "status": card.status.words,
                "target": self.catalogue.target_of(card),
                "full_path": self.catalogue.full_path_of(card),
                "line": card.line,
            },
        )

    def edges(self) -> Iterator[GraphEdge]:
        """What is a part of what, what it is written in, and what cites it."""
        for one in self.catalogue.specifications:
            source = f"{NodeLabel.SPECIFICATION}:{one.id}"
            if one.path in self._artifacts:
                yield GraphEdge(
                    source=source, relation=Relation.WRITTEN_IN, target=make_node_id(self._artifacts[one.path])
                )
            for section in one.sections:
                key = f"{NodeLabel.SECTION}:{make_section_key(one, section.id)}"
                yield GraphEdge(source=key, relation=Relation.PART_OF, target=source)
        for id, card in dict(zip(self.ids, self.catalogue.requirements, strict=True)).items():
            section_id = f"{NodeLabel.SECTION}:{self._section(card)}"
            yield GraphEdge(source=id, relation=Relation.PART_OF, target=section_id)
        yield from self._citing()

    def _citing(self) -> Iterator[GraphEdge]:
        """One edge for each file and each requirement that it cites."""
        found: dict[tuple[str, str], tuple[set[Kind], set[int]]] = {}
        for citation in self.catalogue.citations:
            artifact = self._artifacts.get(citation.path)
            if artifact is None:
                continue
            for index in citation.requirements:
                kinds, lines = found.setdefault((make_node_id(artifact), self.ids[index]), (set(), set()))
                kinds.add(citation.kind)
                lines.add(citation.line)
        for (source, target), (kinds, lines) in found.items():
            about = {"kinds": sorted(map(_word, kinds)), "lines": sorted(lines)}
            yield GraphEdge(source=source, relation=Relation.CITES, target=target, properties=about)


def _word(kind: Kind) -> str:
    return "implementation" if kind is Kind.CITATION else kind.name.lower()


def make_section_key(specification: SpecificationCard, section: str) -> str:
    """What a section is known by."""
    return f"{specification.id}#{section}"


def make_node_id(artifact: Artifact) -> str:
    """What the node of a file is known by."""
    return f"{artifact.label}:{artifact.path}"


_INDEXES = ("README.md", "index.md")
"""What a link to a folder leads to."""


class LinkResolver:
    """Finds what is meant by what stands in a document."""

    def __init__(
        self, artifacts: Mapping[str, Artifact], known: Mapping[str, FileRecord], traced: TraceGraph | None
    ) -> None:
        self._artifacts = artifacts
        self._known = known
        self._traced = traced
        self._references = PageReferenceFinder(traced.catalogue) if traced else None
        self._slugs: dict[str, str] = {}
        for path, one in known.items():
            if path in artifacts and (one.slug or path.endswith(".md")):
                self._name(path, one.slug)

    def _name(self, path: str, slug: str) -> None:
        """What a page may be called: its path without its ending, from any folder on."""
        stem = path.removesuffix(".md")
        self._slugs.setdefault(normalise_slug(slug or stem), path)
        while "/" in stem and not slug:
            stem = stem.partition("/")[2]
            self._slugs.setdefault(normalise_slug(stem), path)

    def edges(self) -> Iterator[GraphEdge]:
        """An edge for each thing that a document links to."""
        for path, one in self._known.items():
            artifact = self._artifacts.get(path)
            if artifact is None or not (one.links or one.pages):
                continue
            source = make_node_id(artifact)
            targets = dict.fromkeys((*self._files(path, one), *self._pages(one)))
            ##= man/spec/knowledge.md#graph
            ##% The graph MUST contain each chunk as a node `Chunk:PATH::NUMBER`, and each link of a document as an
            ##% edge.
            for target in targets:
                if target != source:
                    yield GraphEdge(source=source, relation=Relation.LINKS_TO, target=target)

    def _files(self, path: str, one: FileRecord) -> Iterator[str]:
        for link in one.links:
            start = "" if link.startswith("/") else posixpath.dirname(path)
            target = posixpath.normpath(posixpath.join(start, link.lstrip("/")))
            for candidate in (target, *(posixpath.join(target, name) for name in _INDEXES)):
                if found := self._artifacts.get(candidate):
                    yield make_node_id(found)
                    break

    def _pages(self, one: FileRecord) -> Iterator[str]:
        for written in one.pages:
            name, _, heading = written.partition("#")
            page = self._artifacts.get(self._slugs.get(normalise_slug(name), ""))
            if page is not None:
                yield make_node_id(page)
            elif self._references is not None and self._traced is not None:
                yield from self._meant(
                    PageLink(normalise_slug(name), heading.strip(), 0, 0, 0), self._references, self._traced
                )

    @staticmethod
    def _meant(link: PageLink, references: PageReferenceFinder, traced: TraceGraph) -> Iterator[str]:
        found = references.find(link)
        if found is None:
            return
        yield from (traced.ids[index] for index in found.indexes)
        if found.specification is not None and not found.indexes:
            specification = traced.catalogue.specifications[found.specification]
            if found.section is None:
                yield f"{NodeLabel.SPECIFICATION}:{specification.id}"
            else:
                yield f"{NodeLabel.SECTION}:{make_section_key(specification, found.section)}"


_RELATIONS = {FileKind.DOC: Relation.DESCRIBES, FileKind.TEST: Relation.VALIDATES}
"""How files hang together with their subsystems, where it isn't by belonging to them."""


class KnowledgeGraph(Struct, frozen=True):
    """All nodes and edges."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


def build_graph(
    artifacts: Mapping[str, Artifact],
    known: Mapping[str, FileRecord],
    subsystems: SubsystemIndex,
    catalogue: Catalogue | None,
) -> KnowledgeGraph:
    """The graph of these files, and of the trace where there is one."""
    traced = TraceGraph(catalogue, artifacts) if catalogue else None
    nodes = [*_subsystems(artifacts, subsystems), *(_file(one, known.get(path)) for path, one in artifacts.items())]
    edges = [*_belonging(artifacts), *_dependencies(subsystems), *LinkResolver(artifacts, known, traced).edges()]
    if traced:
        nodes += traced.nodes()
        edges += traced.edges()
    return KnowledgeGraph(nodes, edges)


def _subsystems(artifacts: Mapping[str, Artifact], subsystems: SubsystemIndex) -> Iterator[GraphNode]:
    used = dict.fromkeys(one.subsystem for one in artifacts.values() if one.subsystem)
    listed = [one.name for one in subsystems.catalogue.values()]
    needed = [subsystems.named(name) or name for one in subsystems.catalogue.values() for name in one.dependencies]
    for name in sorted({*used, *listed, *needed}):
        yield GraphNode(label=NodeLabel.SUBSYSTEM, key=name, properties=_about(name, subsystems))


def _about(name: str, subsystems: SubsystemIndex) -> dict[str, Any]:
    one = subsystems.listed(name)
    if one is None:
        return {}
    about = {
        "description": one.description,
        "criticality": one.criticality,
        "owner": one.owner,
        "domain": one.domain,
        "tags": list(one.tags),
        "paths": list(one.paths),
    }
    return {key: value for key, value in about.items() if value}


def _file(artifact: Artifact, known: FileRecord | None) -> GraphNode:
    about = {
        "path": artifact.path,
        "artifact_type": artifact.kind.value,
        "subsystem": artifact.subsystem,
        "namespace": artifact.namespace,
        "tags": list(artifact.tags),
        "git_timestamp": artifact.git_timestamp,
        "chunk_count": artifact.chunk_count,
    }
    kept = {key: value for key, value in about.items() if value not in ("", [], None)}
    return GraphNode(label=artifact.label, key=artifact.path, name=known.title if known else "", properties=kept)


def _belonging(artifacts: Mapping[str, Artifact]) -> Iterator[GraphEdge]:
    for one in artifacts.values():
        if one.subsystem:
            relation = _RELATIONS.get(one.kind, Relation.BELONGS_TO)
            yield GraphEdge(
                source=make_node_id(one), relation=relation, target=f"{NodeLabel.SUBSYSTEM}:{one.subsystem}"
            )


def _dependencies(subsystems: SubsystemIndex) -> Iterator[GraphEdge]:
    for one in subsystems.catalogue.values():
        for name in one.dependencies:
            target = f"{NodeLabel.SUBSYSTEM}:{subsystems.named(name) or name}"
            yield GraphEdge(source=f"{NodeLabel.SUBSYSTEM}:{one.name}", relation=Relation.DEPENDS_ON, target=target)
