"""The graph of a project: files, subsystems, and what holds them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from duvet.knowledge.ingest.linking import Links
from duvet.knowledge.ingest.remembered import Remembered
from duvet.knowledge.ingest.subsystems import Subsystems
from duvet.knowledge.ingest.tracing import Traced, node_id
from duvet.queries.catalogue import Catalogue
from duvet.store.records import Artifact, Edge, Kind, Label, Node, Relation

_RELATIONS = {Kind.DOC: Relation.DESCRIBES, Kind.TEST: Relation.VALIDATES}
"""How files hang together with their subsystems, where it isn't by belonging to them."""


class Graph(Struct, frozen=True):
    """All nodes and edges."""

    nodes: list[Node]
    edges: list[Edge]


def graph_of(
    artifacts: Mapping[str, Artifact],
    known: Mapping[str, Remembered],
    subsystems: Subsystems,
    catalogue: Catalogue | None,
) -> Graph:
    """The graph of these files, and of the trace where there is one."""
    traced = Traced(catalogue, artifacts) if catalogue else None
    nodes = [*_subsystems(artifacts, subsystems), *(_file(one, known.get(path)) for path, one in artifacts.items())]
    edges = [*_belonging(artifacts), *_dependencies(subsystems), *Links(artifacts, known, traced).edges()]
    if traced:
        nodes += traced.nodes()
        edges += traced.edges()
    return Graph(nodes, edges)


def _subsystems(artifacts: Mapping[str, Artifact], subsystems: Subsystems) -> Iterator[Node]:
    used = dict.fromkeys(one.subsystem for one in artifacts.values() if one.subsystem)
    listed = [one.name for one in subsystems.catalogue.values()]
    needed = [subsystems.named(name) or name for one in subsystems.catalogue.values() for name in one.dependencies]
    for name in sorted({*used, *listed, *needed}):
        yield Node(label=Label.SUBSYSTEM, key=name, properties=_about(name, subsystems))


def _about(name: str, subsystems: Subsystems) -> dict[str, Any]:
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


def _file(artifact: Artifact, known: Remembered | None) -> Node:
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
    return Node(label=artifact.label, key=artifact.path, name=known.title if known else "", properties=kept)


def _belonging(artifacts: Mapping[str, Artifact]) -> Iterator[Edge]:
    for one in artifacts.values():
        if one.subsystem:
            relation = _RELATIONS.get(one.kind, Relation.BELONGS_TO)
            yield Edge(source=node_id(one), relation=relation, target=f"{Label.SUBSYSTEM}:{one.subsystem}")


def _dependencies(subsystems: Subsystems) -> Iterator[Edge]:
    for one in subsystems.catalogue.values():
        for name in one.dependencies:
            target = f"{Label.SUBSYSTEM}:{subsystems.named(name) or name}"
            yield Edge(source=f"{Label.SUBSYSTEM}:{one.name}", relation=Relation.DEPENDS_ON, target=target)
