"""A project is taken in, and again when it has changed."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.knowledge.ingest.run import ingest_project
from duvet.knowledge.settings import IngestOptions
from duvet.project.project import Project
from duvet.store.records import FileKind, IngestRun, RemovedFile
from duvet.tree.files import MemoryTree
from tests.histories import commit, git, history
from tests.unit.knowledge.ingest.made import LEDGER, LONG_AGO, PLAIN, found, last, opened, project, taken, written


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


def test_only_what_has_changed_is_taken_in_again(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% `duvet ingest` MUST process only files whose bytes have changed, and compute all vectors again when the model or
    ##% more than a fifth of the chunks has changed.
    folder = written(tmp_path, LEDGER)
    taken(folder)
    with closing(opened(folder)) as store:
        revision = store.revision
        before = store.artifacts()
    written(folder, {"tool.sh": "echo other\n", "docs/new.md": "# New\n"}, when=1)
    second = taken(folder)
    assert (second.added, second.changed, second.run.removed) == (("docs/new.md",), ("tool.sh",), ())
    with closing(opened(folder)) as store:
        assert store.revision != revision
        assert {path: one for path, one in store.artifacts().items() if path not in ("tool.sh", "docs/new.md")} == {
            path: one for path, one in before.items() if path != "tool.sh"
        }
    assert taken(folder).run.changed == 0
    assert taken(folder, wishes=IngestOptions(full=True)).run.changed == len(LEDGER) + 1
    assert taken(folder, replace(PLAIN, symbols=False)).run.changed == len(LEDGER) + 1


def test_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% `duvet ingest` MUST forget deleted files, and report them as removed or renamed.
    folder = written(tmp_path, LEDGER)
    taken(folder)
    with closing(opened(folder)) as store:
        digests = {path: one.digest for path, one in store.artifacts().items()}
    (folder / "tool.sh").unlink()
    (folder / "src/app/mail/send.py").rename(folder / "src/app/mail/post.py")
    outcome = taken(folder)
    assert outcome.run.removed == (
        RemovedFile(
            path="src/app/mail/send.py",
            kind=FileKind.CODE,
            subsystem="mail",
            digest=digests["src/app/mail/send.py"],
            status="renamed",
            renamed_to="src/app/mail/post.py",
        ),
        RemovedFile(path="tool.sh", kind=FileKind.CODE, digest=digests["tool.sh"]),
    )
    assert found(folder, "echo") == [] and found(folder, "send") == ["src/app/mail/post.py::0"]
    assert taken(folder).run.removed == ()


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
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


def test_times_follow_git(tmp_path: Path) -> None:
    folder = history(tmp_path, {"a.md": "1", "b.md": "1"})
    taken(folder)
    first = git(folder, "rev-parse", "HEAD")
    written(folder, {"b.md": "2", "c.md": "3"}, when=1_780_000_000)
    taken(folder)
    with closing(opened(folder)) as store:
        assert {path: (one.git_commit, one.git_timestamp) for path, one in store.artifacts().items()} == {
            "a.md": (first, 1767268800.0),
            "b.md": ("", 1_780_000_000.0),
            "c.md": ("", 1_780_000_000.0),
        }
    second = commit(folder)
    assert taken(folder).run.changed == 0
    with closing(opened(folder)) as store:
        assert [one.git_commit for one in store.artifacts().values()] == [first, second, second]


def test_files_tell_their_times_where_git_knows_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% The date of a file MUST be that of the last commit that changed it, or that of the file itself if git does not
    ##% know this content.
    plain, bare, repository = (tmp_path / name for name in ("plain", "bare", "repository"))
    bare.mkdir()
    git(bare, "init", "--quiet")
    for folder in (plain, bare, history(repository, {"b.md": "2"})):
        written(folder, {"a.md": "1"})
    monkeypatch.setenv("PATH", str(tmp_path))
    outcomes = [taken(folder) for folder in (plain, bare, repository)]
    for folder in (plain, bare, repository):
        with closing(opened(folder)) as store:
            assert store.artifacts()["a.md"].git_timestamp == LONG_AGO
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% `duvet ingest` MUST continue with a warning when git fails or the trace cannot be read.
    told = ("without times of commits, those of the files count: git was not found",)
    assert [one.run.warnings for one in outcomes] == [(), told, told]


@pytest.mark.skipif(sys.platform != "linux", reason="names are UTF-8 there")
def test_names_that_are_no_text_are_left_out_wherever_they_come_from(tmp_path: Path) -> None:
    folder = history(tmp_path, {"a.md": "1"})
    for name in (b"\xff.md", b"\xfe/b.md"):
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    commit(folder)
    for _ in range(2):
        outcome = taken(folder)
        assert outcome.run.artifact_counts == {"doc": 1}
        assert outcome.run.warnings == tuple(
            f"{name}: the name of this file is not UTF-8" for name in ("\\xfe/b.md", "\\xff.md")
        )


def test_subsystems_are_brought_up_to_date_without_reading_anything_again(tmp_path: Path) -> None:
    folder = written(tmp_path, LEDGER)
    taken(folder)
    written(folder, {"subsystems.yaml": "Tools: {paths: tool.sh, tags: [t], criticality: low}\nLEDGER: {}\n"})
    assert taken(folder).run.changed == 1
    with closing(opened(folder)) as store:
        tool = store.artifacts()["tool.sh"]
        assert (tool.subsystem, tool.criticality, tool.tags) == ("Tools", "low", ("t",))
        assert store.artifacts()["docs/ledger/design.md"].subsystem == "LEDGER"


def test_files_in_memory_are_taken_in(tmp_path: Path) -> None:
    tree = MemoryTree({path: text.encode() for path, text in LEDGER.items()})
    with closing(opened(tmp_path)) as store:
        outcome = ingest_project(Project(tree=tree), store, PLAIN)
        assert outcome.run.chunk_count == 7 and outcome.run.repo_head == ""
        assert ingest_project(Project(tree=tree), store, PLAIN).run.changed == 0
