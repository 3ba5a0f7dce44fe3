"""A project with two subsystems as it was taken in, and stores that hold it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import json
from msgspec.structs import replace

from duvet.config.settings import IngestRule
from duvet.knowledge.reports import ProjectFacts, gather_facts, save_reports
from duvet.store.location import open_store
from duvet.store.records import (
    Artifact,
    FileKind,
    GraphEdge,
    GraphNode,
    IngestedFile,
    IngestRun,
    NodeLabel,
    Relation,
    RemovedFile,
    Symbol,
    TextPiece,
)

DAY = 86_400
NOW = 1_800_000_000.0
NEW, OLD = NOW - 2 * DAY, NOW - 100 * DAY
ID = "3b42c44e11223344556677889900aabbccddeeff00112233445566778899aabb"
BOIL, POUR = "spec#heating/3b42c44e1122", "spec#pouring/3b42c4990000"
STORE = ".duvet/knowledge/store.db"


def artifact(path: str, kind: FileKind, subsystem: str = "", time: float | None = NEW, **more: object) -> Artifact:
    return replace(
        Artifact(path=path, kind=kind, subsystem=subsystem, git_timestamp=time, digest=f"d-{path}", git_commit="c1"),
        **more,
    )


ARTIFACTS = (
    artifact("README.md", FileKind.DOC, time=OLD, chunk_count=1),
    artifact("docs/kettle.md", FileKind.DOC, "Kettle", OLD, chunk_count=1),
    artifact("docs/tea.md", FileKind.DOC, "Tea", None, chunk_count=1),
    artifact("src/kettle/boil.py", FileKind.CODE, "Kettle", OLD, criticality="high", chunk_count=2),
    artifact("src/kettle/empty.py", FileKind.CODE, "Kettle", skipped="empty"),
    artifact("src/odd::name:1.py", FileKind.CODE, "", NEW, chunk_count=1),
    artifact("src/tea/leaf 100%.py", FileKind.CODE, "Tea", NEW, chunk_count=1),
    artifact("tests/test_kettle.py", FileKind.TEST, "Kettle", OLD, chunk_count=1),
)
TEXT = "def boil() -> None:\n    heat()\n"
_OF_KIND = {FileKind.CODE: Relation.BELONGS_TO, FileKind.DOC: Relation.DESCRIBES, FileKind.TEST: Relation.VALIDATES}

KETTLE = GraphNode(
    label=NodeLabel.SUBSYSTEM, key="Kettle", properties={"description": "Heats water.", "criticality": "high"}
)
TEA = GraphNode(label=NodeLabel.SUBSYSTEM, key="Tea")
SPEC = GraphNode(
    label=NodeLabel.SPECIFICATION,
    key="spec",
    name="The Kettle",
    properties={"url": "docs/spec.md", "path": "docs/spec.md"},
)
HEATING = GraphNode(label=NodeLabel.SECTION, key="spec#heating", name="Heating")
POURING = GraphNode(label=NodeLabel.SECTION, key="spec#pouring", name="Pouring")


def requirement(key: str, text: str, status: str) -> GraphNode:
    section, _, digits = key.partition("#")[2].partition("/")
    return GraphNode(
        label=NodeLabel.REQUIREMENT,
        key=key,
        name=text[:80],
        properties={
            "text": text,
            "level": "MUST",
            "status": status,
            "target": f"docs/spec.md#{section}",
            "full_path": f"/specifications/spec/sections/{section}/requirements/{digits}",
            "line": 3,
        },
    )


MUST_BOIL = requirement(
    BOIL, "The kettle MUST boil. " + "It does so at a hundred degrees. " * 3 + "Steam MUST rise.", "done"
)
MUST_POUR = requirement(POUR, "The kettle MUST pour.", "not started")


def _nodes() -> list[GraphNode]:
    files = [GraphNode(label=one.label, key=one.path) for one in ARTIFACTS]
    return [KETTLE, TEA, SPEC, HEATING, POURING, MUST_BOIL, MUST_POUR, *files]


def _edges() -> list[GraphEdge]:
    known = {one.key: one.id for one in NODES}
    owned = [
        GraphEdge(source=known[one.path], relation=_OF_KIND[one.kind], target=f"Subsystem:{one.subsystem}")
        for one in ARTIFACTS
        if one.subsystem
    ]
    cites = [
        GraphEdge(
            source=known[path],
            relation=Relation.CITES,
            target=MUST_BOIL.id,
            properties={"kinds": [kind], "lines": [1]},
        )
        for path, kind in (("src/kettle/boil.py", "implementation"), ("tests/test_kettle.py", "test"))
    ]
    parts = [
        GraphEdge(source=child.id, relation=Relation.PART_OF, target=parent.id)
        for child, parent in ((MUST_BOIL, HEATING), (MUST_POUR, POURING), (HEATING, SPEC), (POURING, SPEC))
    ]
    return [*owned, *cites, *parts, GraphEdge(source=TEA.id, relation=Relation.DEPENDS_ON, target=KETTLE.id)]


NODES = _nodes()
EDGES = _edges()
RUN = IngestRun(
    run_id="r1",
    profile="local",
    started_at=NOW - 60,
    duration_seconds=1.5,
    artifact_counts={"code": 4, "doc": 3, "test": 1},
    chunk_count=7,
    repo_head="c1",
    changed=8,
    removed=(
        RemovedFile(path="docs/gone.md", kind=FileKind.DOC, subsystem="Tea", digest="d-gone"),
        RemovedFile(path="a.py", kind=FileKind.CODE, digest="d-a", status="renamed", renamed_to="src/kettle/boil.py"),
    ),
)


def facts(rule: IngestRule = IngestRule()) -> ProjectFacts:  # noqa: B008 - frozen
    """What reports are made of, before it is stored."""
    return gather_facts(RUN, {one.path: one for one in ARTIFACTS}, NODES, EDGES, rule)


def plain(value: object) -> Any:
    """As JSON has it."""
    return json.decode(json.encode(value))


def taken(one: Artifact) -> IngestedFile:
    """A file with its pieces, each a line or the whole."""
    pieces = [
        TextPiece(start=0, end=20, line_start=1, line_end=1, title=one.path),
        TextPiece(start=20, end=len(TEXT), line_start=2, line_end=2),
    ]
    symbol = Symbol(name="boil", qualified_name="boil", kind="function", language="python", line_start=1, line_end=2)
    return IngestedFile(
        artifact=one,
        text=TEXT if one.chunk_count else "",
        pieces=tuple(pieces[: one.chunk_count]),
        symbols=(symbol,) if one.kind is FileKind.CODE and one.chunk_count else (),
    )


def fill(folder: Path, runs: Sequence[IngestRun] = (RUN,)) -> Path:
    """Take the project in, once for each run; the folder."""
    path = folder / STORE
    path.parent.mkdir(parents=True, exist_ok=True)
    store = open_store(str(path), create=True)
    try:
        for number, run in enumerate(runs):
            with store.writing() as writing:
                for one in ARTIFACTS:
                    writing.put(taken(one))
                writing.replace_graph(NODES, EDGES)
                writing.put_run(run)
                save_reports(writing, replace(facts(), run=run), NOW + number)
    finally:
        store.close()
    return folder
