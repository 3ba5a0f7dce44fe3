"""What reports are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from duvet.config.schema import IngestRule
from duvet.store.protocol import Store
from duvet.store.records import Artifact, Edge, Label, Node, Relation, Run

_LOOKED_AT = (Label.DESIGN_DOC, Label.SOURCE_FILE, Label.TEST_CASE)
"""What is expected to be connected with anything."""
_CONNECTING = (Relation.BELONGS_TO, Relation.DESCRIBES, Relation.VALIDATES, Relation.LINKS_TO, Relation.CITES)
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
    """Files that lead to nothing else."""
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
                connected.add(edge.source)
            if edge.relation is Relation.CITES:
                citing.setdefault(edge.target, set()).add(known[edge.source].key)
    return Facts(
        run=run,
        artifacts=artifacts,
        isolated=_in_order(node for node in known.values() if node.label in _LOOKED_AT and node.id not in connected),
        cited=_cited((known[id], files) for id, files in citing.items()),
        rule=rule,
    )


def facts_in(store: Store, rule: IngestRule, *, graph: bool = True) -> Facts:
    """What is stored; without the graph where nobody wants to know about that."""
    return Facts(
        run=next((run for run in store.runs(limit=_RUNS) if run.success), None),
        artifacts=store.artifacts(),
        isolated=_in_order(store.isolated(_LOOKED_AT, _CONNECTING)) if graph else (),
        cited=_cited(_citing(store)) if graph else (),
        rule=rule,
    )


def _citing(store: Store) -> Iterator[tuple[Node, set[str]]]:
    nodes = list(store.nodes(Label.REQUIREMENT))
    for start in range(0, len(nodes), _TOGETHER):
        some = nodes[start : start + _TOGETHER]
        around = store.neighbours([node.id for node in some])
        for node in some:
            found = around.get(node.id, ())
            files = {other.key for edge, other in found if edge.relation is Relation.CITES and edge.target == node.id}
            if files:
                yield node, files


def _cited(citing: Iterable[tuple[Node, set[str]]]) -> tuple[Cited, ...]:
    ordered = sorted(citing, key=lambda one: one[0].key)
    return tuple(Cited(node, tuple(sorted(files))) for node, files in ordered)


def _in_order(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=lambda node: (node.label, node.key)))
