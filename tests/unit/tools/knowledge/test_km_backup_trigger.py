"""`km-backup-trigger`"""

from __future__ import annotations

import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from duvet.config.settings import StoreSection
from duvet.knowledge.restore import restore_backup
from tests.unit.knowledge.stored import CLOCK, STAMP
from tests.unit.tools.knowledge.made import Asking
from tests.unit.tools.knowledge.upkept import refused

TOOL = "km-backup-trigger"
QUESTIONS: dict[str, dict[str, Any]] = {
    "km-search": {"query": "boil the kettle", "limit": 25},
    "km-graph-node": {"node_id": "Code:src/kettle/boil.py", "relationships": "all"},
    "km-graph-subsystem": {"name": "Kettle", "depth": 5},
    "km-graph-search": {"term": "kettle"},
    "km-coverage-summary": {"history": 5},
    "km-lifecycle-report": {"history": 5},
    "km-ingest-status": {"history": 5},
}


def answers(known: Asking) -> dict[str, Any]:
    found = {tool: known.value(tool, **given) for tool, given in QUESTIONS.items()}
    del found["km-search"]["metadata"]["request_id"]
    for one in found["km-search"]["results"]:
        # These depend on the clock.
        one["scoring"]["signals"].pop("freshness_days")
    return found


def test_where_it_goes(known: Asking) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `km-backup-trigger` MUST write only to a new `.tgz` or `.tar.gz` file in the project or in the configured
    ##% folder.
    name = f"km-backup-{STAMP}.tgz"
    for destination, archive in (
        (None, f".duvet/knowledge/backups/{name}"),
        ("kept", f"kept/{name}"),
        ("kept/", f"kept/km-backup-{STAMP}-2.tgz"),
        ("kept/my.tgz", "kept/my.tgz"),
        ("my.tar.gz", "my.tar.gz"),
    ):
        found = known.value(TOOL, destination=destination)
        assert found == {"status": "ok", "archive": archive, "size": (known.folder / archive).stat().st_size}
    before = (known.folder / "my.tar.gz").read_bytes()
    assert refused(known, TOOL, destination="my.tar.gz") == ("invalid_request", '"my.tar.gz" is there already')
    assert (known.folder / "my.tar.gz").read_bytes() == before


def test_git_ignores_it_whatever_it_is_called(known: Asking) -> None:
    subprocess.run(["git", "init", "--quiet", str(known.folder)], check=True)
    known.value(TOOL, destination=".duvet/knowledge/backups/mine.tgz")
    told = ["git", "-C", str(known.folder), "status", "--short", "--untracked-files=all", ".duvet/knowledge"]
    assert subprocess.run(told, capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.parametrize(
    "destination", ["..", "../x.tgz", "/tmp", "/x.tgz", "out", "out/x.tgz", "a\0b", "docs/../../x"]
)
def test_where_it_does_not_go(known: Asking, tmp_path: Path, destination: str) -> None:
    (known.folder / "out").symlink_to(tmp_path.parent)
    before = sorted(tmp_path.parent.iterdir())
    code, message = refused(known, TOOL, destination=destination)
    assert code == "invalid_request" and message.endswith("is outside of the project")
    assert sorted(tmp_path.parent.iterdir()) == before


@pytest.mark.parametrize(
    "destination",
    [
        ".git/refs/heads",
        ".git/x.tgz",
        "link",
        "link/x.tgz",
        ".duvet",
        "docs/con/x.tgz",
        "a:b",
        "x /y",
        "notes.md/x.tgz",
        "docs/../x.tgz",
    ],
)
def test_where_no_file_goes_that_is_handed_in(known: Asking, destination: str) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `km-backup-trigger` MUST write only to a new `.tgz` or `.tar.gz` file in the project or in the configured
    ##% folder.
    (known.folder / ".git/refs/heads").mkdir(parents=True)
    (known.folder / "link").symlink_to(".git")
    (known.folder / "notes.md").touch()
    before = sorted(known.folder.rglob("*"))
    code, message = refused(known, TOOL, destination=destination)
    assert code == "invalid_request" and message.startswith("nothing can be stored as")
    assert sorted(known.folder.rglob("*")) == before
    assert known.value(TOOL, destination=".duvet/knowledge/backups/mine.tgz")["status"] == "ok"


def test_a_backup_is_no_part_of_the_project(known: Asking) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `duvet ingest` MUST skip what git ignores, links, and what duvet itself has made, including backups.
    before = known.value("km-ingest-trigger")["run"]["artifact_counts"]
    known.value(TOOL, destination="kept")
    assert known.value("km-ingest-trigger")["run"]["artifact_counts"] == before


def test_a_configured_folder(known: Asking, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("backups")
    known.turn_to(store=StoreSection(backups=str(elsewhere)))
    archive = str(elsewhere / f"km-backup-{STAMP}.tgz")
    assert known.value(TOOL)["archive"] == archive
    assert known.value(TOOL, destination=str(elsewhere / "more"))["archive"].startswith(str(elsewhere / "more"))
    assert refused(known, TOOL, destination=str(elsewhere.parent))[0] == "invalid_request"


def test_a_folder_of_backups_that_is_a_link(known: Asking, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (known.file.parent / "backups").symlink_to(elsewhere)
    assert refused(known, TOOL) == ("invalid_request", '"backups" is outside of the project')
    assert list(elsewhere.iterdir()) == []


def test_a_file_of_another_kind(known: Asking) -> None:
    (known.folder / "notes.md").touch()
    assert refused(known, TOOL, destination="notes.md")[0] == "invalid_request"


@pytest.mark.parametrize(
    "destination",
    ["docs/kettle.md", "new.zip", ".duvet/knowledge/backups/a.tgz/", f".duvet/knowledge/backups/{'a' * 300}"],
)
def test_what_a_backup_can_not_be_called(known: Asking, destination: str) -> None:
    (known.folder / "docs").mkdir(exist_ok=True)
    (known.folder / "docs/kettle.md").touch()
    known.value(TOOL, destination=".duvet/knowledge/backups/a.tgz")
    code, _, hint = known.refusal(TOOL, destination=destination)
    assert code == "invalid_request" and ".tgz or .tar.gz" in hint


def test_what_a_file_or_a_folder_is_called(known: Asking) -> None:
    (known.folder / "ok.md").touch()
    (known.folder / "q.tgz").mkdir()
    for destination, message in (("ok.md/", "ok.md: this is a file"), ("q.tgz", "q.tgz: this is a folder")):
        code, told = refused(known, TOOL, destination=destination)
        assert code == "invalid_request" and told.startswith(message), told


def test_nothing_to_back_up(kept: Asking) -> None:
    assert refused(kept, TOOL) == ("upstream_error", "nothing was taken in of this project yet")
    assert not kept.file.parent.exists()


def test_what_is_restored_answers_the_same(known: Asking) -> None:
    before = answers(known)
    archive = known.value(TOOL)["archive"]
    known.value("km-ingest-trigger", use_dummy_embeddings=True)
    assert answers_differ(known, before)
    restore_backup(known.upkeep.places, str(known.folder / archive), CLOCK)
    assert answers(known) == before
    known.file.unlink()
    restore_backup(known.upkeep.places, str(known.folder / archive), datetime.now(CLOCK.tzinfo))
    assert answers(known) == before


def answers_differ(known: Asking, before: dict[str, Any]) -> bool:
    return bool(known.value("km-ingest-status", **QUESTIONS["km-ingest-status"]) != before["km-ingest-status"])
