"""Keeps what has changed, and nothing else: of most runs everything is the same."""

from __future__ import annotations

from duvet.knowledge.ingest.graphing import Graph
from duvet.store.protocol import Store, Writing

_GRAPH = "graph"


def keep_changed(store: Store, writing: Writing, name: str, data: bytes) -> None:
    """Keep something under a name, where that isn't what is kept there."""
    if store.kept(name) != data:
        writing.keep(name, data)


def keep_graph(store: Store, writing: Writing, graph: Graph) -> None:
    """Replace the graph where it has changed."""
    from blake3 import blake3
    from msgspec import msgpack

    digest = blake3(msgpack.encode(graph)).digest()
    if store.kept(_GRAPH) != digest:
        writing.replace_graph(graph.nodes, graph.edges)
        writing.keep(_GRAPH, digest)
