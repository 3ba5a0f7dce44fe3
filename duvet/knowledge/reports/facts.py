"""What reports are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from duvet.config.schema import IngestRule
from duvet.store.protocol import Store
from duvet.store.records import Artifact, Edge, Label, Node, Relation, Run

_LOOKED_AT = (Label.DESIGN_DOC, Label.SOURCE_FILE, Label.TEST_CASE)
"""What is expected to be connected with anything."""
_CONNECTING = tuple(relation for relation in Relation if relation is not Relation.HAS_CHUNK)
_TOGETHER = 500
"""Nodes whose edges are asked for at once."""
_RUNS = 100
"""Runs that are looked at for one that has succeeded."""


class Cited(Struct, frozen=True):
    """A requirement, and the files that cite it."""

    requirement: Node
    files: tuple[str, ...]


class Facts(Struct, frozen=True, kw_only=True):
    """What is known of a project, as far as reports tell of it."""

    run: Run | None
    """The last one that has succeeded: what is known comes from it."""
    artifacts: Mapping[str, Artifact]
    isolated: Sequence[Node] = ()
    """Files with pieces that nothing is connected with."""
    cited: Sequence[Cited] = ()
    rule: IngestRule = IngestRule()


def facts_of(
    run: Run, artifacts: Mapping[str, Artifact], nodes: Iterable[Node], edges: Iterable[Edge], rule: IngestRule
) -> Facts:
    """The same from what is about to be stored."""
    known = {node.id: node for node in nodes}
    connected, citing = set[str](), dict[str, set[str]]()
    for edge in edges:
        if edge.source in known and edge.target in known:
            if edge.relation in _CONNECTING:
                connected |= {edge.source, edge.target}
            if edge.relation is Relation.CITES:
                citing.setdefault(edge.target, set()).add(known[edge.source].key)
    return Facts(
        run=run,
        artifacts=artifacts,
        isolated=_in_order(
            artifacts, (node for node in known.values() if node.label in _LOOKED_AT and node.id not in connected)
        ),
        cited=_cited((known[id], files) for id, files in citing.items()),
        rule=rule,
    )


def facts_in(store: Store, rule: IngestRule, *, graph: bool = True) -> Facts:
    """What is stored; without the graph where nobody wants to know about that."""
    artifacts = store.artifacts()
    return Facts(
        run=next((run for run in store.runs(limit=_RUNS) if run.success), None),
        artifacts=artifacts,
        isolated=_in_order(artifacts, _isolated(store)) if graph else (),
        cited=_cited(_citing(store)) if graph else (),
        rule=rule,
    )


def _isolated(store: Store) -> Iterator[Node]:
    # Most nodes lead to others: only those that don't are looked at from the other side.
    alone = list(store.isolated(_LOOKED_AT, _CONNECTING))
    return (node for node, edges in _with_edges(store, alone) if not edges)


def _citing(store: Store) -> Iterator[tuple[Node, set[str]]]:
    for node, edges in _with_edges(store, list(store.nodes(Label.REQUIREMENT))):
        files = {other.key for edge, other in edges if edge.relation is Relation.CITES and edge.target == node.id}
        if files:
            yield node, files


def _with_edges(store: Store, nodes: Sequence[Node]) -> Iterator[tuple[Node, Sequence[tuple[Edge, Node]]]]:
    for start in range(0, len(nodes), _TOGETHER):
        some = nodes[start : start + _TOGETHER]
        around = store.neighbours([node.id for node in some])
        yield from ((node, around.get(node.id, ())) for node in some)


def _cited(citing: Iterable[tuple[Node, set[str]]]) -> tuple[Cited, ...]:
    ordered = sorted(citing, key=lambda one: one[0].key)
    return tuple(Cited(node, tuple(sorted(files))) for node, files in ordered)


def _in_order(artifacts: Mapping[str, Artifact], nodes: Iterable[Node]) -> tuple[Node, ...]:
    # Of what is in the others nothing is known, and so nothing of what they have to do with anything.
    searched = (node for node in nodes if node.key in artifacts and artifacts[node.key].chunk_count)
    return tuple(sorted(searched, key=lambda node: (node.label, node.key)))
