import os
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import IngestRule
from duvet.errors import DuvetError
from duvet.knowledge.ingest.run import SPACE_SIZE_KEY, ingest_project
from duvet.progress import Progress
from duvet.project.project import Project
from duvet.store.database import StoreBusyError
from duvet.store.location import IngestOptions
from duvet.store.records import SPACE_KEY, Artifact, FileKind, IngestRun, NodeLabel, Relation, RemovedFile
from duvet.store.sqlite import Store
from duvet.trace.catalogue import Catalogue
from duvet.tree.files import MemoryTree
from tests.histories import commit, git, history
from tests.unit.knowledge.ingest import ingest_projects
from tests.unit.knowledge.ingest.ingest_projects import (
    LEDGER,
    PLAIN,
    asked,
    find_chunk_ids,
    ingest_files,
    last,
    written,
)
from tests.unit.knowledge.stored_project import format_json
from tests.unit.store.store_files import read_whole_store


def artifacts(folder: Path) -> dict[str, Artifact]:
    return asked(folder, lambda store: {**store.artifacts()})


def count_vectors(store: Store) -> int:
    return sum(len(one.numbers) for one in store.segments() if one.rows)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    folder = written(tmp_path, LEDGER)
    ingest_files(folder)
    return folder


def test_a_run_is_recorded(tmp_path: Path) -> None:
    folder = history(tmp_path, LEDGER)
    outcome = ingest_files(folder, wishes=IngestOptions(profile="nightly"))
    assert outcome.run == last(folder)
    assert replace(outcome.run, run_id="", started_at=0.0, duration_seconds=0.0) == IngestRun(
        run_id="",
        profile="nightly",
        started_at=0.0,
        artifact_counts={"code": 3, "config": 1, "doc": 2, "test": 1},
        chunk_count=7,
        repo_head=git(folder, "rev-parse", "HEAD"),
        changed=7,
    )
    assert set(outcome.added) == LEDGER.keys() and outcome.changed == () and outcome.problems == ()
    assert find_chunk_ids(folder, "echo") == ["tool.sh::0"]
    tree = MemoryTree({path: text.encode() for path, text in LEDGER.items()})
    with closing(ingest_projects.opened(tmp_path / "memory")) as store:
        outcome = ingest_project(Project(tree=tree), store, PLAIN)
        assert outcome.run.chunk_count == 7 and outcome.run.repo_head == ""
        assert ingest_project(Project(tree=tree), store, PLAIN).run.changed == 0


def test_only_changed_files_are_indexed_again(ledger: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% `duvet ingest` MUST process only files whose content has changed, unless `--full` is given or the configuration
    ##% of `duvet ingest` has changed.
    revision, before = asked(ledger, lambda store: store.revision), artifacts(ledger)
    written(ledger, {"tool.sh": "echo other\n", "docs/new.md": "# New\n"}, when=1)
    second = ingest_files(ledger)
    assert (second.added, second.changed, second.run.removed) == (("docs/new.md",), ("tool.sh",), ())
    assert asked(ledger, lambda store: store.revision) != revision
    after = artifacts(ledger)
    assert [path for path in after if after[path] != before.get(path)] == ["docs/new.md", "tool.sh"]
    assert ingest_files(ledger).run.changed == 0
    assert ingest_files(ledger, wishes=IngestOptions(full=True)).run.changed == len(LEDGER) + 1
    assert ingest_files(ledger, replace(PLAIN, symbols=False)).run.changed == len(LEDGER) + 1


def test_removed_and_renamed_files_are_forgotten_and_reported(ledger: Path) -> None:
    ingest_files(written(ledger, {"empty.txt": ""}))
    before = artifacts(ledger)
    (ledger / "tool.sh").unlink()
    (ledger / "src/app/mail/send.py").rename(ledger / "src/app/mail/post.py")
    (ledger / "empty.txt").rename(ledger / "also.txt")
    send, renamed = "src/app/mail/send.py", {"status": "renamed", "renamed_to": "src/app/mail/post.py"}
    assert ingest_files(ledger).run.removed == (
        RemovedFile(path="empty.txt", kind=FileKind.DOC, digest=before["empty.txt"].digest),
        RemovedFile(path=send, kind=FileKind.CODE, subsystem="mail", digest=before[send].digest, **renamed),
        RemovedFile(path="tool.sh", kind=FileKind.CODE, digest=before["tool.sh"].digest),
    )
    assert find_chunk_ids(ledger, "echo") == [] and find_chunk_ids(ledger, "send") == ["src/app/mail/post.py::0"]
    assert ingest_files(ledger).run.removed == ()


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% With `--dry-run`, `duvet ingest` MUST list the changes to the index without making them.
    folder = written(tmp_path, LEDGER)
    dry = IngestOptions(dry_run=True)
    outcome = ingest_project(ingest_projects.project(folder), None, PLAIN, dry)
    assert set(outcome.added) == LEDGER.keys() and outcome.run.dry_run and outcome.run.chunk_count == 7
    assert not (folder / ".duvet/knowledge").exists()
    ingest_files(folder)
    (folder / "tool.sh").unlink()
    before = asked(folder, read_whole_store)
    assert [one.path for one in ingest_files(folder, wishes=dry).run.removed] == ["tool.sh"]
    assert asked(folder, read_whole_store) == before


def test_dates_are_from_git(tmp_path: Path) -> None:
    folder = history(tmp_path, {"a.md": "1", "b.md": "1"})
    ingest_files(folder)
    first = git(folder, "rev-parse", "HEAD")
    written(folder, {"b.md": "2", "c.md": "3"}, when=1_780_000_000)
    ingest_files(folder)
    dates = {path: (one.git_commit, one.git_timestamp) for path, one in artifacts(folder).items()}
    assert dates == {"a.md": (first, 1767268800.0), **dict.fromkeys(("b.md", "c.md"), ("", 1_780_000_000.0))}
    second = commit(folder)
    assert ingest_files(folder).run.changed == 0
    assert [one.git_commit for one in artifacts(folder).values()] == [first, second, second]


def test_dates_are_those_of_the_files_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(folder: Path, *faults: str) -> None:
        warnings = tuple(f"using file times because commit times are unavailable: {fault}" for fault in faults)
        assert ingest_files(written(folder, {"a.md": "1"})).run.warnings == warnings
        assert artifacts(folder)["a.md"].git_timestamp == ingest_projects.LONG_AGO

    plain, bare, broken, repository = (tmp_path / name for name in ("plain", "bare", "broken", "repository"))
    for folder in (bare, broken):
        folder.mkdir()
        git(folder, "init", "--quiet")
    (broken / ".git/HEAD").write_text("garbage")
    history(repository, {"b.md": "2"})
    for folder in (plain, bare):
        check(folder)
    check(broken, f"{broken}: not a git repository (or any of the parent directories): .git")
    monkeypatch.setenv("PATH", str(tmp_path))
    for folder in (bare, repository):
        check(folder, "git was not found")
    check(plain)


@pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 there")
def test_names_that_are_not_utf_8_are_skipped_with_a_warning(tmp_path: Path) -> None:
    folder = history(tmp_path, {"a.md": "1"})
    for name in (b"\xff.md", b"\xfe/b.md"):
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    commit(folder)
    for _ in range(2):
        run = ingest_files(folder).run
        assert run.artifact_counts == {"doc": 1}
        names = ("\\xfe/b.md", "\\xff.md")
        assert run.warnings == tuple(f"{name}: not indexed, because the path is not UTF-8" for name in names)


def test_a_changed_catalogue_updates_files_that_are_not_read_again(ledger: Path) -> None:
    written(ledger, {"subsystems.yaml": "Tools: {paths: tool.sh, tags: [t], criticality: low}\nLEDGER: {}\n"})
    assert ingest_files(ledger).run.changed == 1
    tool = artifacts(ledger)["tool.sh"]
    assert (tool.subsystem, tool.criticality, tool.tags) == ("Tools", "low", ("t",))
    assert artifacts(ledger)["docs/ledger/design.md"].subsystem == "LEDGER"


def test_vectors_are_computed_again_for_another_model(tmp_path: Path) -> None:
    folder = written(tmp_path, {f"docs/{number}.md": f"# Part {number}\n" for number in range(20)})

    def ingest(rule: IngestRule, dummy: bool = False) -> tuple[bytes | None, int]:
        ingest_files(folder, rule, IngestOptions(dummy=dummy))
        return asked(folder, lambda store: (store.kept(SPACE_KEY), count_vectors(store)))

    (dummies, count), (space, again) = ingest(IngestRule(), dummy=True), ingest(IngestRule())
    assert dummies and space and dummies != space and count == again == 20
    assert ingest(PLAIN) == (b"", 0)


def test_vectors_are_computed_again_when_a_fifth_has_changed(tmp_path: Path) -> None:
    fitted, spaces = [], []
    for total in (20, 24, 16, 25, 20, 19):
        for number in range(25):
            (tmp_path / f"docs/{number}.md").unlink(missing_ok=True)
        written(tmp_path, {f"docs/{number}.md": f"# Part {number}\n" for number in range(total)})
        ingest_files(tmp_path, IngestRule())
        fitted.append(asked(tmp_path, lambda store: (count_vectors(store), store.kept(SPACE_SIZE_KEY) or b"")))
        spaces.append(asked(tmp_path, lambda store: store.kept(SPACE_KEY)))
    sizes = [(count, int.from_bytes(size)) for count, size in fitted]
    assert sizes == [(20, 20), (24, 20), (16, 20), (25, 25), (20, 25), (19, 19)]
    assert spaces[0] == spaces[1] == spaces[2] != spaces[3] == spaces[4] != spaces[5]


def test_a_trace_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    config = {".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\nsource = 1\n"}
    outcome = ingest_files(written(tmp_path, {**LEDGER, **config}))
    assert outcome.run.success and outcome.run.chunk_count == 7
    assert [words.partition(":")[0] for words in outcome.run.warnings] == [".duvet/config.toml"]


def test_a_failed_run_changes_nothing_and_is_recorded(ledger: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% An ingest run that fails, is cancelled or is killed MUST leave the index unchanged.
    def check(error: BaseException, reason: str) -> None:
        def catalogue() -> Catalogue:
            raise error

        with pytest.raises(type(error)):
            ingest_files(ledger, catalogue=catalogue)
        assert (last(ledger).success, last(ledger).error) == (False, reason)
        assert artifacts(ledger) == before and find_chunk_ids(ledger, "other") == []

    before = artifacts(ledger)
    written(ledger, {"tool.sh": "echo other\n"})
    check(ValueError("a \udcff"), "ValueError: a \\xff")
    check(KeyboardInterrupt(), "KeyboardInterrupt")
    written(ledger, {"subsystems.yaml": "a: 1\n"})
    with pytest.raises(DuvetError, match="invalid type"):
        ingest_files(ledger)
    assert not last(ledger).success and last(ledger).error.startswith("subsystems.yaml:1: ")
    assert artifacts(ledger) == before and find_chunk_ids(ledger, "other") == []


def test_readers_see_the_last_run_during_another_one(ledger: Path) -> None:
    written(ledger, {"tool.sh": "echo other\n"})
    before = asked(ledger, read_whole_store)
    sees_it: dict[str, bool] = {}

    class Asking(Progress):
        def end(self, outcome: str) -> None:
            sees_it[outcome] = asked(ledger, read_whole_store) == before

    project = Project(str(ledger), environ={}, progress=Asking())
    with closing(ingest_projects.opened(ledger)) as store:
        ingest_project(project, store, IngestRule(), IngestOptions(dummy=True))
    assert {"Read 1 new or changed file", "Computed 7 vectors"} <= sees_it.keys()
    assert all(sees_it.values())
    assert find_chunk_ids(ledger, "other") == ["tool.sh::0"]


def test_a_second_run_waits_with_a_time_limit(ledger: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% If another ingest run is active, `duvet ingest` MUST wait for it to end, but fail after 10 seconds.
    steps: list[str] = []

    class Waiting(Progress):
        def begin(self, step: str) -> None:
            steps.append(step)

    assert IngestOptions().patience == 10
    waiting = Project(str(ledger), environ={}, progress=Waiting())
    opened = partial(ingest_projects.opened, ledger)
    with closing(opened()) as store, closing(opened()) as other, store.writing(), pytest.raises(StoreBusyError):
        ingest_project(waiting, other, PLAIN, IngestOptions(patience=0.1))
    assert steps == ["Waiting for another ingest run to finish"]
    assert ingest_files(ledger).run.success


CATALOGUE = "ledger:\n  description: Books\n  criticality: high\n  dependencies: [mail, Outside]\n"


def list_edges(store: Store) -> list[str]:
    nodes = (node for label in NodeLabel if label is not NodeLabel.CHUNK for node in store.nodes(label))
    found = (edge for node in nodes for edge, _ in store.edges(node.id, out=True, limit=1000))
    shown = [edge for edge in found if edge.relation is not Relation.HAS_CHUNK]
    fields = [[f"{key}={value}" for key, value in edge.properties.items()] for edge in shown]
    return sorted(
        " ".join((edge.source, edge.relation, edge.target, *more)) for edge, more in zip(shown, fields, strict=True)
    )


def test_the_nodes_and_edges_of_a_project(tmp_path: Path, snapshot: Snapshot) -> None:
    folder = written(tmp_path, {**LEDGER, "subsystems.yaml": CATALOGUE})
    balance = ingest_projects.project(folder).catalogue.ids[0]
    design = f"{LEDGER['docs/ledger/design.md']}\n[[Ledger]] [[Ledger#Ledger]]\n".replace("REQUIREMENT", balance[:12])
    ingest_files(written(folder, {"docs/ledger/design.md": design}))
    with closing(ingest_projects.opened(folder)) as store:
        nodes = [node for label in NodeLabel if label is not NodeLabel.CHUNK for node in store.nodes(label)]
        snapshot.assert_match(format_json({"nodes": nodes, "edges": list_edges(store)}), "knowledge/graph.json")


def test_links_by_path_and_slug(tmp_path: Path, snapshot: Snapshot) -> None:
    ##= man/spec/knowledge.md#files
    ##% `duvet ingest` MUST resolve `[[links]]` to Markdown files and requirements by the same rules as for pages.
    pages = {
        "docs/a.md": "[up](../README.md) [folder](.) [abs](/docs/b.md) [no](no.md) [out](../../x.md) [web](http://x/a.md) [notes](../notes)",
        "docs/z.md": "---\nslug: named\n---\n",
        "notes/index.md": "x",
        "docs/b.md": "---\nslug: named\n---\n[[named]] [[deep/c]] [[nothing]] [[c|label]] [[docs/a#part]] [[#here]]",
        "docs/deep/c.md": "---\nalias: Sea\n---\n[[named]]",
        "docs/other/c.md": "[[B]] | [[./d\\|label]] |",
        "docs/other/d.markdown": "[[c]] [[readme]] [[tool.sh]]",
        "notes/e.md": "[[sea]] [[d]]",
        "docs/README.md": "x",
        "README.md": "x",
        "tool.sh": "x",
    }
    ingest_files(written(tmp_path, pages))
    links = "\n".join(one.replace("DesignDoc:", "") for one in asked(tmp_path, list_edges))
    snapshot.assert_match(links + "\n", "knowledge/links.txt")
