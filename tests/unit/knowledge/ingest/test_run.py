"""Ingest runs: what they record, change, keep and report."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from duvet.config.settings import IngestRule
from duvet.errors import DuvetError
from duvet.knowledge.ingest.run import SPACE_SIZE_KEY, ingest_project
from duvet.knowledge.settings import IngestOptions
from duvet.progress import Progress
from duvet.project.project import Project
from duvet.store.database import StoreBusyError
from duvet.store.records import SPACE_KEY, Artifact, FileKind, IngestRun, RemovedFile
from duvet.trace.catalogue import Catalogue
from duvet.tree.files import MemoryTree
from tests.histories import commit, git, history
from tests.unit.knowledge.ingest.made import LEDGER, LONG_AGO, PLAIN, found, last, opened, project, taken, written


def artifacts(folder: Path) -> dict[str, Artifact]:
    with closing(opened(folder)) as store:
        return {**store.artifacts()}


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """An indexed project."""
    folder = written(tmp_path, LEDGER)
    taken(folder)
    return folder


def test_a_run_is_recorded(tmp_path: Path) -> None:
    folder = history(tmp_path, LEDGER)
    outcome = taken(folder, wishes=IngestOptions(profile="nightly"))
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
    assert found(folder, "echo") == ["tool.sh::0"]
    tree = MemoryTree({path: text.encode() for path, text in LEDGER.items()})
    with closing(opened(tmp_path / "memory")) as store:
        outcome = ingest_project(Project(tree=tree), store, PLAIN)
        assert outcome.run.chunk_count == 7 and outcome.run.repo_head == ""
        assert ingest_project(Project(tree=tree), store, PLAIN).run.changed == 0


def test_only_changed_files_are_indexed_again(ledger: Path) -> None:
    with closing(opened(ledger)) as store:
        revision = store.revision
    before = artifacts(ledger)
    written(ledger, {"tool.sh": "echo other\n", "docs/new.md": "# New\n"}, when=1)
    second = taken(ledger)
    assert (second.added, second.changed, second.run.removed) == (("docs/new.md",), ("tool.sh",), ())
    with closing(opened(ledger)) as store:
        assert store.revision != revision
    after = artifacts(ledger)
    assert [path for path in after if after[path] != before.get(path)] == ["docs/new.md", "tool.sh"]
    assert taken(ledger).run.changed == 0
    assert taken(ledger, wishes=IngestOptions(full=True)).run.changed == len(LEDGER) + 1
    assert taken(ledger, replace(PLAIN, symbols=False)).run.changed == len(LEDGER) + 1


def test_removed_and_renamed_files_are_forgotten_and_reported(ledger: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% `duvet ingest` MUST forget deleted files, and report them as removed or renamed.
    before = artifacts(ledger)
    (ledger / "tool.sh").unlink()
    (ledger / "src/app/mail/send.py").rename(ledger / "src/app/mail/post.py")
    assert taken(ledger).run.removed == (
        RemovedFile(
            path="src/app/mail/send.py",
            kind=FileKind.CODE,
            subsystem="mail",
            digest=before["src/app/mail/send.py"].digest,
            status="renamed",
            renamed_to="src/app/mail/post.py",
        ),
        RemovedFile(path="tool.sh", kind=FileKind.CODE, digest=before["tool.sh"].digest),
    )
    assert found(ledger, "echo") == [] and found(ledger, "send") == ["src/app/mail/post.py::0"]
    assert taken(ledger).run.removed == ()


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% With `--dry-run`, `duvet ingest` MUST show what would change and change nothing.
    folder = written(tmp_path, LEDGER)
    dry = IngestOptions(dry_run=True)
    outcome = ingest_project(project(folder), None, PLAIN, dry)
    assert set(outcome.added) == LEDGER.keys() and outcome.run.dry_run and outcome.run.chunk_count == 7
    assert not (folder / ".duvet/knowledge").exists()
    taken(folder)
    (folder / "tool.sh").unlink()
    with closing(opened(folder)) as store:
        revision = store.revision
    assert [one.path for one in taken(folder, wishes=dry).run.removed] == ["tool.sh"]
    with closing(opened(folder)) as store:
        assert store.revision == revision and "tool.sh" in store.artifacts() and len(store.runs()) == 1


def test_dates_are_from_git(tmp_path: Path) -> None:
    folder = history(tmp_path, {"a.md": "1", "b.md": "1"})
    taken(folder)
    first = git(folder, "rev-parse", "HEAD")
    written(folder, {"b.md": "2", "c.md": "3"}, when=1_780_000_000)
    taken(folder)
    assert {path: (one.git_commit, one.git_timestamp) for path, one in artifacts(folder).items()} == {
        "a.md": (first, 1767268800.0),
        "b.md": ("", 1_780_000_000.0),
        "c.md": ("", 1_780_000_000.0),
    }
    second = commit(folder)
    assert taken(folder).run.changed == 0
    assert [one.git_commit for one in artifacts(folder).values()] == [first, second, second]


def test_dates_are_those_of_the_files_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% `duvet ingest` MUST continue with a warning when git fails or the trace cannot be read.
    def check(folder: Path, *faults: str) -> None:
        warnings = tuple(f"without times of commits, those of the files count: {fault}" for fault in faults)
        assert taken(written(folder, {"a.md": "1"})).run.warnings == warnings
        assert artifacts(folder)["a.md"].git_timestamp == LONG_AGO

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
        run = taken(folder).run
        assert run.artifact_counts == {"doc": 1}
        names = ("\\xfe/b.md", "\\xff.md")
        assert run.warnings == tuple(f"{name}: the name of this file is not UTF-8" for name in names)


def test_a_changed_catalogue_updates_files_that_are_not_read_again(ledger: Path) -> None:
    written(ledger, {"subsystems.yaml": "Tools: {paths: tool.sh, tags: [t], criticality: low}\nLEDGER: {}\n"})
    assert taken(ledger).run.changed == 1
    tool = artifacts(ledger)["tool.sh"]
    assert (tool.subsystem, tool.criticality, tool.tags) == ("Tools", "low", ("t",))
    assert artifacts(ledger)["docs/ledger/design.md"].subsystem == "LEDGER"


def test_vectors_are_computed_again_for_another_model(tmp_path: Path) -> None:
    folder = written(tmp_path, {f"docs/{number}.md": f"# Part {number}\n" for number in range(20)})

    def ingest(rule: IngestRule, dummy: bool = False, **files: str) -> tuple[bytes | None, int]:
        written(folder, {f"docs/{name}.md": text for name, text in files.items()})
        taken(folder, rule, IngestOptions(dummy=dummy))
        with closing(opened(folder)) as store:
            return store.kept(SPACE_KEY), sum(len(one.numbers) for one in store.segments() if one.rows)

    def numbered(name: str, title: str, count: int) -> dict[str, Any]:
        return {f"{name}{number}": f"# {title} {number}\n" for number in range(count)}

    first, count = ingest(IngestRule(), dummy=True)
    assert first and count == 20
    second, count = ingest(IngestRule(), **numbered("more", "More", 4))
    assert second != first and count == 24
    assert ingest(IngestRule(), last="# Last of all\n") == (second, 25)
    third, count = ingest(IngestRule(), **numbered("many", "Many words", 10))
    assert third not in (first, second) and count == 35
    assert ingest(PLAIN) == (b"", 0)


def test_vectors_are_computed_again_when_a_fifth_has_changed(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% `duvet ingest` MUST process only files whose bytes have changed, and compute all vectors again when the model or
    ##% more than a fifth of the chunks has changed.
    fitted = []
    for total in (20, 24, 16, 25, 20, 19):
        for number in range(25):
            (tmp_path / f"docs/{number}.md").unlink(missing_ok=True)
        written(tmp_path, {f"docs/{number}.md": f"# Part {number}\n" for number in range(total)})
        taken(tmp_path, IngestRule(), IngestOptions(dummy=True))
        with closing(opened(tmp_path)) as store:
            fitted.append((store.chunk_total(), int.from_bytes(store.kept(SPACE_SIZE_KEY) or b"")))
    assert fitted == [(20, 20), (24, 20), (16, 20), (25, 25), (20, 25), (19, 19)]


def test_a_trace_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    config = {".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\nsource = 1\n"}
    outcome = taken(written(tmp_path, {**LEDGER, **config}))
    assert outcome.run.success and outcome.run.chunk_count == 7
    assert [words.partition(":")[0] for words in outcome.run.warnings] == [".duvet/config.toml"]


def test_a_failed_run_changes_nothing_and_is_recorded(ledger: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% A run that fails or is killed MUST leave the index unchanged, and a failure MUST be recorded with its reason.
    def check(error: BaseException, reason: str) -> None:
        def catalogue() -> Catalogue:
            raise error

        with pytest.raises(type(error)):
            taken(ledger, catalogue=catalogue)
        assert (last(ledger).success, last(ledger).error) == (False, reason)
        assert artifacts(ledger) == before and found(ledger, "other") == []

    before = artifacts(ledger)
    written(ledger, {"tool.sh": "echo other\n"})
    check(ValueError("a \udcff"), "ValueError: a \\xff")
    check(KeyboardInterrupt(), "KeyboardInterrupt")
    written(ledger, {"subsystems.yaml": "a: 1\n"})
    with pytest.raises(DuvetError, match="invalid type"):
        taken(ledger)
    assert not last(ledger).success and last(ledger).error.startswith("subsystems.yaml:1: ")
    assert artifacts(ledger) == before and found(ledger, "other") == []


def test_readers_see_the_last_run_during_another_one(ledger: Path) -> None:
    written(ledger, {"tool.sh": "echo other\n"})
    asked: list[list[str]] = []

    class Asking(Progress):
        """Asks when the files are written."""

        def end(self, outcome: str) -> None:
            if outcome.startswith("Read "):
                asked.extend((found(ledger, "echo"), found(ledger, "other")))

    with closing(opened(ledger)) as store:
        ingest_project(Project(str(ledger), environ={}, progress=Asking()), store, PLAIN)
    assert asked == [["tool.sh::0"], []]
    assert found(ledger, "other") == ["tool.sh::0"]


def test_a_second_run_waits_with_a_time_limit(ledger: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##% A second run at the same time MUST say so, wait up to 10 seconds, and then fail.
    assert IngestOptions().patience == 10
    with closing(opened(ledger)) as store, store.writing(), pytest.raises(StoreBusyError):
        taken(ledger, wishes=IngestOptions(patience=0.1))
    assert taken(ledger).run.success
