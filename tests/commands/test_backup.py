"""`duvet backup` and `duvet restore`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.commands.made import make
from tests.commands.running import Run, environment, runner
from tests.knowledge.stored import STORE, fill
from tests.tools.made import FILES

KEPT = ".duvet/knowledge"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    config = json.dumps({"ingest": {"semantic": False}, "toolPacks": {"knowledge": {}}})
    return fill(make(tmp_path / "pot", {**FILES, "duvet.config.json": config}))


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    return runner(duvet_command, project)


def backups(project: Path) -> list[str]:
    return sorted(path.relative_to(project).as_posix() for path in project.rglob("*.tgz"))


def test_there_and_back(duvet: Run, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% `duvet restore` MUST put a backup in the place of the store at once and as a whole, also while servers have it
    ##% open, and MUST keep what was there before as another backup, unless `--force` is given.
    before = duvet("call", "km-ingest-status").out
    done = duvet("backup")
    (archive,) = backups(project)
    assert (done.code, done.out, done.err) == (0, "", f"{archive}: {(project / archive).stat().st_size:,} bytes\n")
    assert duvet("-q", "ingest").code == 0
    assert duvet("call", "km-ingest-status").out != before
    done = duvet("restore", archive)
    (other,) = {*backups(project)} - {archive}
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("restored what was known at 2") and done.err.endswith(
        f"\nwhat was there is in {other}\n"
    )
    assert duvet("call", "km-ingest-status").out == before
    forced = duvet("restore", "--force", other)
    assert (forced.code, len(forced.err.splitlines()), len(backups(project))) == (0, 1, 2)
    assert duvet("call", "km-ingest-status").out != before
    # A store that is gone, or is none.
    (project / STORE).write_bytes(b"no store" * 999)
    assert duvet("call", "km-ingest-status").code == 1
    assert duvet("-q", "restore", archive) == (0, "", "")
    assert duvet("call", "km-ingest-status").out == before
    lines = [json.loads(line) for line in (project / KEPT / "audit.jsonl").read_text().splitlines()]
    assert [(one["tool"], one["outcome"]) for one in lines] == [
        ("duvet backup", "success"),
        *[("duvet restore", "success")] * 3,
    ]


def test_where_it_goes(duvet: Run, duvet_command: str, project: Path, tmp_path: Path) -> None:
    assert duvet("-q", "backup", "--output", "a.tgz") == (0, "", "")
    assert duvet("backup", "--output", str(tmp_path / "b.tar.gz")).err.startswith("../b.tar.gz: ")
    assert duvet("backup", "-o", "kept/").code == 0
    assert len(list((project / "kept").glob("km-backup-*.tgz"))) == 1
    taken = duvet("backup", "-o", "a.tgz")
    assert taken.code == 1 and "there is such a file already" in taken.err
    with open(tmp_path / "c.tgz", "wb") as out:
        done = subprocess.run(
            [duvet_command, "backup", "--output", "-"], cwd=project, env=environment(), stdout=out, check=True
        )
    assert done.returncode == 0
    assert duvet("restore", str(tmp_path / "c.tgz")).code == 0
    make(project, {"duvet.config.json": json.dumps({"store": {"backups": str(tmp_path / "elsewhere")}})})
    assert duvet("backup").code == 0
    assert len(list((tmp_path / "elsewhere").iterdir())) == 1


def test_feedback_alone(duvet: Run, project: Path) -> None:
    assert duvet("call", "km-feedback-submit", "--request-id", "r", "--chunk-id", "a::0").code == 0
    (project / STORE).unlink()
    assert duvet("backup", "-o", "a.tgz").code == 0
    (project / KEPT / "feedback.jsonl").unlink()
    done = duvet("restore", "a.tgz")
    assert done.code == 0 and done.err.startswith("restored nothing but feedback, of what was kept at 2")
    assert done.err.endswith("\nbrought back 1 vote\n")


def test_what_can_not_be_done(duvet: Run, duvet_command: str, project: Path, tmp_path: Path) -> None:
    empty = runner(duvet_command, make(tmp_path / "empty", FILES))
    done = empty("backup")
    assert (done.code, done.out) == (1, "") and "nothing of this project was taken in yet" in done.err
    assert not (tmp_path / "empty" / KEPT).exists()
    for name, words in (("src/main.rs", "it is no backup"), ("nowhere.tgz", "os error 2"), (".", "os error 21")):
        done = duvet("restore", name)
        assert (done.code, done.out) == (1, "") and words in done.err, done.err
    assert duvet("restore").code == 2
    # Into a project that nothing was taken in of.
    assert duvet("backup", "-o", "a.tgz").code == 0
    assert empty("restore", str(project / "a.tgz")).code == 0
    assert empty("call", "--pack", "knowledge", "km-ingest-status").code == 0


def test_what_is_kept_is_no_part_of_the_project(duvet: Run, project: Path) -> None:
    make(project, {"duvet.config.json": json.dumps({"store": {"path": "var/s.db"}, "ingest": {"semantic": False}})})
    assert duvet("ingest").code == 0
    give = (
        "call",
        "--pack",
        "knowledge",
        "km-feedback-submit",
        "--request-id",
        "r",
        "--chunk-id",
        "a::0",
        "--vote",
        "1",
    )
    for words in (("backup",), give):
        assert duvet(*words).code == 0
    assert sorted(path.name for path in (project / "var").iterdir()) == [
        ".gitignore",
        "audit.jsonl",
        "backups",
        "feedback.jsonl",
        "s.db",
    ]
    again = json.loads(duvet("ingest", "--format", "json").out)
    assert (again["added_files"], again["changed_files"]) == ([], [])


def test_another_configuration(duvet: Run, project: Path) -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% `duvet ingest`, `duvet backup`, `duvet restore` and `duvet feedback` MUST be about the store of the configuration that
    ##% `--config` names, as the other commands of the service are.
    other = {"store": {"path": "var/s.db"}, "ingest": {"semantic": False}, "toolPacks": {"knowledge": {}}}
    make(project, {"conf/team.json": json.dumps(other)})
    config = ("--config", "conf/team.json")
    assert duvet("backup", *config).code == 1
    assert duvet("ingest", *config).code == 0
    give = ("km-feedback-submit", "--request-id", "r", "--chunk-id", "a::0", "--vote", "1")
    assert duvet("call", *config, *give).code == 0
    assert duvet("backup", *config).code == 0
    (archive,) = (project / "var/backups").iterdir()
    assert (len(duvet("feedback", *config).out.splitlines()), duvet("feedback").out) == (1, "")
    assert len(duvet("feedback", "export", *config).out.splitlines()) == 1
    (project / "var/s.db").unlink()
    assert duvet("restore", *config, str(archive)).code == 0
    assert (project / "var/s.db").exists()
    assert duvet("backup", "--config", "nowhere.json").code == 1
