import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from msgspec import json
from msgspec.structs import replace

from duvet.config.service_tables import IngestRule, StoreSection
from duvet.knowledge.backup import create_backup
from duvet.knowledge.feedback import Vote
from duvet.knowledge.reports import ProjectFacts, load_facts, save_reports
from duvet.store import records
from duvet.store.location import KnowledgeSettings, StorePaths, find_store_paths, open_store
from duvet.store.records import Artifact, FileKind, GraphEdge, GraphNode, IngestedFile, IngestRun, Relation, RemovedFile
from duvet.store.sqlite import Store, StoreWriter
from tests.unit.store.store_files import edge, node, read_whole_store, symbol

DAY = 86_400
NOW = 1_800_000_000.0
NEW, OLD = NOW - 2 * DAY, NOW - 100 * DAY
ID = "3b42c44e11223344556677889900aabbccddeeff00112233445566778899aabb"
BOIL, POUR = "spec#heating/3b42c44e1122", "spec#pouring/3b42c4990000"
STORE = ".duvet/knowledge/store.db"


def artifact(path: str, kind: FileKind, subsystem: str = "", time: float | None = NEW, **more: object) -> Artifact:
    one = Artifact(path=path, kind=kind, subsystem=subsystem, git_timestamp=time, digest=f"d-{path}", git_commit="c1")
    return replace(one, **more)


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
KETTLE = node("Subsystem:Kettle", description="Heats water.", criticality="high")
TEA = node("Subsystem:Tea")
SPEC = node("Specification:spec", "The Kettle", url="docs/spec.md", path="docs/spec.md")
HEATING = node("Section:spec#heating", "Heating")
POURING = node("Section:spec#pouring", "Pouring")


def requirement(key: str, text: str, status: str) -> GraphNode:
    section, _, digits = key.partition("#")[2].partition("/")
    full_path = f"/specifications/spec/sections/{section}/requirements/{digits}"
    more = {"level": "MUST", "status": status, "target": f"docs/spec.md#{section}", "full_path": full_path, "line": 3}
    return node(f"Requirement:{key}", text[:80], text=text, **more)


MUST_BOIL = requirement(BOIL, "The kettle MUST boil. " + "It does so at 100 degrees. " * 3 + "Steam MUST rise.", "done")
MUST_POUR = requirement(POUR, "The kettle MUST pour.", "uncited")
NODES = [
    *(KETTLE, TEA, SPEC, HEATING, POURING, MUST_BOIL, MUST_POUR),
    *(GraphNode(label=one.label, key=one.path) for one in ARTIFACTS),
]
EDGES = [
    *(
        edge(f"{one.label}:{one.path}", _OF_KIND[one.kind], f"Subsystem:{one.subsystem}")
        for one in ARTIFACTS
        if one.subsystem
    ),
    edge("SourceFile:src/kettle/boil.py", Relation.CITES, MUST_BOIL.id, kinds=["implementation"], lines=[1]),
    edge("TestCase:tests/test_kettle.py", Relation.CITES, MUST_BOIL.id, kinds=["test"], lines=[1]),
    *(
        edge(child.id, Relation.PART_OF, parent.id)
        for child, parent in ((MUST_BOIL, HEATING), (MUST_POUR, POURING), (HEATING, SPEC), (POURING, SPEC))
    ),
    edge(TEA.id, Relation.DEPENDS_ON, KETTLE.id),
]
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


def facts(
    rule: IngestRule = IngestRule(),  # noqa: B008 - frozen
    artifacts: Sequence[Artifact] = ARTIFACTS,
    nodes: Sequence[GraphNode] = NODES,
    edges: Sequence[GraphEdge] = EDGES,
    run: IngestRun = RUN,
) -> ProjectFacts:
    with TemporaryDirectory() as folder, closing(open_store(f"{folder}/store.db", create=True)) as store:
        with store.writing() as writing:
            _write(writing, artifacts, nodes, edges, run)
        return load_facts(store, rule)


def _write(
    writing: StoreWriter,
    artifacts: Sequence[Artifact],
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge],
    run: IngestRun,
) -> None:
    for one in artifacts:
        writing.put(make_ingested_file(one))
    writing.replace_graph(nodes, edges)
    writing.put_run(run)


def plain(value: object) -> Any:
    return json.decode(json.encode(value))


def format_json(value: object) -> str:
    return f"{json.format(json.encode(value)).decode()}\n"


def make_ingested_file(one: Artifact) -> IngestedFile:
    """Return the file with its text, chunks and symbols."""
    has_symbols = one.kind is FileKind.CODE and one.chunk_count > 0
    return IngestedFile(
        artifact=one,
        text=TEXT if one.chunk_count else "",
        pieces=(
            records.TextPiece(start=0, end=20, line_start=1, line_end=1, title=one.path),
            records.TextPiece(start=20, end=len(TEXT), line_start=2, line_end=2),
        )[: one.chunk_count],
        symbols=(symbol("boil", "function", 1, 2),) if has_symbols else (),
    )


def fill(folder: Path, runs: Sequence[IngestRun] = (RUN,)) -> Path:
    """Index the project once for each run, and return the folder."""
    path = folder / STORE
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(open_store(str(path), create=True)) as store:
        for number, run in enumerate(runs):
            with store.writing() as writing:
                _write(writing, ARTIFACTS, NODES, EDGES, run)
                save_reports(writing, replace(load_facts(store, IngestRule()), run=run), NOW + number)
    return folder


CLOCK = datetime.fromtimestamp(NOW, UTC)
STAMP = "20270115T080000"
"""The same in the name of a backup."""


def places(folder: Path, backups: str = "") -> StorePaths:
    return find_store_paths(KnowledgeSettings(str(folder), IngestRule(), StoreSection(backups=backups)))


def vote(chunk: str, given: float | None, request: str = "r", note: str | None = None) -> Vote:
    return Vote(request_id=request, chunk_id=chunk, vote=given, note=note, timestamp=CLOCK.isoformat())


Say = Callable[[object], None]


class Fork:
    """A function that runs in another process; it is passed a function that says a line to this one."""

    def __init__(self, work: Callable[[Say], object]) -> None:
        reading, writing = os.pipe()
        self._id = os.fork()
        if not self._id:
            # A lock that another thread holds stays locked here.
            signal.alarm(300)
            try:
                with os.fdopen(writing, "w") as said:
                    work(lambda line: print(line, file=said, flush=True))
            except BaseException:  # noqa: BLE001 - this process must never return to the tests
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
            os._exit(0)
        os.close(writing)
        self.lines = os.fdopen(reading)

    def __enter__(self) -> Self:
        return self

    def kill(self) -> None:
        os.kill(self._id, signal.SIGKILL)

    def __exit__(self, *error: object) -> None:
        if error[0]:
            self.kill()
        self.status = os.waitpid(self._id, 0)[1]
        self.lines.close()
        assert error[0] or self.status in (0, signal.SIGKILL)


def make_backup(paths: StorePaths) -> str:
    return create_backup(paths, paths.backups, CLOCK).path


def ask_store(path: str, question: Callable[[Store], Any] = read_whole_store) -> Any:
    with closing(open_store(path)) as store:
        return question(store)


def change_store(path: str, removed: str) -> None:
    with closing(open_store(path)) as store, store.writing() as writing:
        writing.remove(removed)
