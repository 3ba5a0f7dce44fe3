import json
import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.knowledge.feedback import append_record
from tests.cli.command import Run, play, refuses, runner, shell
from tests.cli.damage import small_disk
from tests.cli.sample_project import make
from tests.unit.knowledge.stored_project import STORE, fill, places, vote
from tests.unit.tools.tool_calls import FILES

KEPT = ".duvet/knowledge"
STATUS = ("call", "km-ingest-status")
VOTE = ("km-feedback-submit", "--request-id", "r", "--chunk-id", "a::0", "--vote", "1")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    config = json.dumps({"ingest": {"semantic": False}, "toolPacks": {"knowledge": {}}})
    return fill(make(tmp_path / "pot", {**FILES, "duvet.config.json": config}))


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    return runner(duvet_command, project)


def backups(project: Path) -> list[str]:
    return sorted(path.relative_to(project).as_posix() for path in project.rglob("*.tgz"))


def test_the_destination_of_a_backup(duvet: Run, project: Path, tmp_path: Path) -> None:
    assert duvet("-q", "backup", "--output", "a.tgz") == (0, "", "")
    assert duvet("backup", "--output", str(tmp_path / "b.tar.gz")).err.startswith("../b.tar.gz: ")
    assert duvet("backup", "-o", "kept/").code == 0
    assert len(list((project / "kept").glob("km-backup-*.tgz"))) == 1
    refuses(duvet, "backup -o a.tgz", 1, "the file already exists")
    with open(tmp_path / "c.tgz", "wb") as out:
        assert duvet("backup", "--output", "-", stdout=out).code == 0
    assert duvet("restore", str(tmp_path / "c.tgz")).code == 0
    make(project, {"duvet.config.json": json.dumps({"store": {"backups": str(tmp_path / "elsewhere")}})})
    assert duvet("backup").code == 0
    assert len(list((tmp_path / "elsewhere").iterdir())) == 1


def test_names_of_files_and_folders(duvet: Run, project: Path) -> None:
    for name in ("new.zip", "new.tar", "duvet.config.json"):
        refuses(duvet, f"backup -o {name}", 1, "a backup file name must end in .tgz or .tar.gz")
    assert not list(project.glob("new*"))
    assert duvet("backup", "-o", "v1.2/").code == duvet("backup", "-o", "v1.2").code == 0
    assert len(backups(project)) == 2
    assert duvet("-q", "backup", "-o", "/dev/null") == (0, "", "")
    (project / "q.tgz").mkdir()
    refuses(duvet, "backup -o q.tgz", 1, "the destination is a folder")
    assert "add / at the end" in duvet("backup", "-o", "q.tgz").err
    assert duvet("backup", "-o", "q.tgz/").code == 0
    assert len(list((project / "q.tgz").iterdir())) == 1
    refuses(duvet, "backup -o duvet.config.json/", 1, "the destination is a file, not a folder")


def test_standard_streams(duvet: Run, duvet_command: str, project: Path) -> None:
    for script, stream in (("duvet backup -o - >&-", "output"), ("duvet restore - <&-", "input")):
        done = shell(duvet_command, project, script)
        assert done.code == 1 and done.err.startswith(f"error: standard {stream} is closed"), done.err
    (project / KEPT / "feedback.jsonl").write_bytes(b'{"note": "%s"}\n' % os.urandom(1 << 20).hex().encode())
    for name in ("-", "/dev/stdout"):
        script = f"duvet backup -o {name} | head -c 5 | wc -c; echo ${{PIPESTATUS[0]}}"
        done = shell(duvet_command, project, script)
        assert (done.out.split(), done.err) == (["5", "0"], "")
    if os.path.exists("/dev/full"):
        done = shell(duvet_command, project, "duvet backup -o - > /dev/full")
        assert (done.code, KEPT in done.err) == (1, False)
        assert "can't write to standard output: no space left on the device" in done.err
    (project / KEPT / "feedback.jsonl").unlink()
    assert duvet("backup", "-o", "a.tgz").code == 0
    for script in ("cat a.tgz | duvet restore /dev/stdin", "duvet restore /dev/fd/0 < a.tgz"):
        done = shell(duvet_command, project, script)
        assert done.code == 0 and done.err.startswith("restored the index from the backup of 2"), done.err
    (project / STORE).unlink()
    for data, code in ((b"no archive", 1), ((project / "a.tgz").read_bytes(), 0)):
        assert (duvet("restore", "-", input=data).code, (project / STORE).exists()) == (code, code == 0)


def test_backups_are_not_part_of_the_project(duvet: Run, project: Path) -> None:
    make(project, {"duvet.config.json": json.dumps({"store": {"path": "var/s.db"}, "ingest": {"semantic": False}})})
    for words in (("ingest",), ("backup",), ("call", "--pack", "knowledge", *VOTE)):
        assert duvet(*words).code == 0
    kept = [".gitignore", "audit.jsonl", "backups", "feedback.jsonl", "s.db"]
    assert sorted(path.name for path in (project / "var").iterdir()) == kept
    again = json.loads(duvet("ingest", "--format", "json").out)
    assert (again["added_files"], again["changed_files"]) == ([], [])


def test_a_backup_is_restored(duvet: Run, project: Path) -> None:
    before = duvet(*STATUS).out
    done = duvet("backup")
    (archive,) = backups(project)
    assert done == (0, "", f"{archive}: {(project / archive).stat().st_size:,} bytes\n")
    assert duvet("-q", "ingest").code == 0
    assert duvet(*STATUS).out != before
    code, out, err = duvet("restore", archive)
    (other,) = {*backups(project)} - {archive}
    assert (code, out, err.endswith(f"\nbacked up the previous index to {other}\n")) == (0, "", True)
    assert err.startswith("restored the index from the backup of 2")
    assert duvet(*STATUS).out == before
    forced = duvet("restore", "--force", other)
    assert (forced.code, len(forced.err.splitlines()), len(backups(project))) == (0, 1, 2)
    assert duvet(*STATUS).out != before
    # A missing store, and a file that is not a store.
    (project / STORE).write_bytes(b"no store" * 999)
    assert duvet(*STATUS).code == 1
    assert duvet("-q", "restore", archive) == (0, "", "")
    assert duvet(*STATUS).out == before
    lines = [json.loads(line) for line in (project / KEPT / "audit.jsonl").read_text().splitlines()]
    deeds = ["duvet backup", *["duvet restore"] * 3]
    assert [(one["tool"], one["outcome"]) for one in lines] == [(deed, "success") for deed in deeds]


def test_in_a_folder_of_a_project(duvet_command: str, project: Path) -> None:
    inside = runner(duvet_command, project / "src")
    assert inside("backup").err.startswith("../.duvet/knowledge/backups/km-backup-")
    assert inside("backup", "-o", "my own.tgz").err.startswith("my own.tgz: ")
    assert inside("restore", "nonexist").code == 1
    assert "backed up the previous index to ../.duvet/knowledge/backups/km-" in inside("restore", "my own.tgz").err
    assert not (project / "src/.duvet").exists()


def test_a_full_disk(duvet: Run, project: Path, tmp_path: Path) -> None:
    archive = str(tmp_path / "a.tgz")
    assert duvet("backup", "-o", archive).code == 0
    size = (project / STORE).stat().st_size
    shutil.rmtree(project / KEPT)
    (project / KEPT).mkdir()
    with small_disk(project / KEPT, 2 * size + (1 << 20)):
        assert duvet("restore", archive).code == 0
        filler = project / KEPT / "filler"
        filler.touch()
        for left in (1 << 18, 1 << 14, 0):
            filler.write_bytes(bytes(max(shutil.disk_usage(filler.parent).free + filler.stat().st_size - left, 0)))
            for words in (("restore", archive), ("backup",), ("ingest", "--full")):
                done = duvet(*words)
                assert done.code == 1, (left, words, done.err)
                reasons = ("not enough disk space", "no space left")
                assert any(reason in done.err for reason in reasons), (left, words, done.err)
                assert "a.tgz" not in done.err and "disk is well" not in done.err, (left, words, done.err)


def test_a_backup_may_contain_feedback_only(duvet: Run, project: Path) -> None:
    assert duvet("call", *VOTE).code == 0
    (project / STORE).unlink()
    assert duvet("backup", "-o", "a.tgz").code == 0
    (project / KEPT / "feedback.jsonl").unlink()
    done = duvet("restore", "a.tgz")
    assert done.code == 0 and done.err.startswith("restored only feedback from the backup of 2")
    assert done.err.endswith("\nrestored 1 vote\n")


def test_failing_backups_and_restores(duvet: Run, duvet_command: str, project: Path, tmp_path: Path) -> None:
    empty = runner(duvet_command, make(tmp_path / "empty", FILES))
    refuses(empty, "backup", 1, "this project is not indexed yet")
    assert not (tmp_path / "empty" / KEPT).exists()
    for name, words in (
        ("src/main.rs", "not a duvet backup archive"),
        ("nowhere.tgz", "this path does not exist [DUV010]"),
        (".", "this path is a folder [DUV012]"),
    ):
        refuses(duvet, f"restore {name}", 1, words)
    assert duvet("restore").code == 2
    # Into a project without an index.
    assert duvet("backup", "-o", "a.tgz").code == 0
    assert empty("restore", str(project / "a.tgz")).code == 0
    assert empty("call", "--pack", "knowledge", "km-ingest-status").code == 0


def test_another_configuration(duvet: Run, project: Path) -> None:
    other = {"store": {"path": "var/s.db"}, "ingest": {"semantic": False}, "toolPacks": {"knowledge": {}}}
    make(project, {"conf/team.json": json.dumps(other)})
    config = ("--service-config", "conf/team.json")
    assert duvet("backup", *config).code == 1
    for words in (("ingest", *config), ("call", *config, *VOTE), ("backup", *config)):
        assert duvet(*words).code == 0
    (archive,) = (project / "var/backups").iterdir()
    assert (len(duvet("feedback", *config).out.splitlines()), duvet("feedback").out) == (1, "")
    assert len(duvet("feedback", "export", *config).out.splitlines()) == 1
    (project / "var/s.db").unlink()
    assert duvet("restore", *config, str(archive)).code == 0
    assert (project / "var/s.db").exists()
    assert duvet("backup", "--service-config", "nowhere.json").code == 1


def test_feedback_is_listed_and_exported(duvet_command: str, tmp_path: Path, gold: Snapshot) -> None:
    project = make(tmp_path / "votes", FILES)
    duvet, kept = runner(duvet_command, project), places(project)
    assert duvet("feedback") == (0, "", "no feedback yet\n")
    assert duvet("feedback", "export") == (0, "", "")
    assert duvet("feedback", "export", "--format", "json").out == "[]\n"
    assert not (project / KEPT).exists()

    append_record(kept, vote("a.md::0", 1.0, note='good, "very"\n=1+1'))
    append_record(kept, vote("b.md::1", -0.5))
    lines = ("feedback export", "feedback export --format json", "feedback export --format csv")
    told = play(duvet, project, *lines, "feedback export --format table")
    append_record(kept, replace(vote("first.md::0", 1.0), timestamp="2026-01-01T00:00:00+00:00"))
    told += play(duvet, project, "feedback", "feedback list --format table", "feedback export")
    gold.assert_match(told, "feedback.txt")
    assert len(json.loads(duvet("feedback", "list", "--format", "json").out)) == 3
