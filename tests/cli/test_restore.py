"""`duvet restore`, of what `duvet backup` has kept."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.keeping import KEPT, backups, duvet, project
from tests.cli.made import make
from tests.cli.running import Run, environment, runner
from tests.unit.knowledge.stored import STORE
from tests.unit.tools.made import FILES

__all__ = ["duvet", "project"]  # fixtures, which tests ask for by name


def test_there_and_back(duvet: Run, project: Path) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `duvet restore` MUST restore the feedback, replace the index in one step even while servers use it, and first
    ##% save what it replaces unless `--force` is given.
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


def test_from_standard_input(duvet: Run, duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `duvet backup -o -` MUST write the archive to standard output, and `duvet restore -` MUST read it from standard
    ##% input.
    assert duvet("backup", "-o", "a.tgz").code == 0
    (project / STORE).unlink()
    for data, code in ((b"no archive", 1), ((project / "a.tgz").read_bytes(), 0)):
        done = subprocess.run(
            [duvet_command, "restore", "-"],
            cwd=project,
            env=environment(),
            input=data,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, (project / STORE).exists()) == (code, code == 0), done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such names and shells")
def test_names_of_standard_input(duvet: Run, duvet_command: str, project: Path) -> None:
    def shell(words: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", words.format(f"{duvet_command} restore")],
            cwd=project,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    assert duvet("backup", "-o", "a.tgz").code == 0
    for words in ("cat a.tgz | {} /dev/stdin", "{} /dev/fd/0 < a.tgz"):
        code, err = shell(words)
        assert code == 0 and err.startswith("restored what was known at 2"), err
    code, err = shell("{} - <&-")
    assert code == 1 and err.startswith("error: standard input is closed"), err


def test_in_a_folder_of_a_project(duvet: Run, duvet_command: str, project: Path) -> None:
    assert duvet("backup", "-o", "my own.tgz").code == 0
    inside = runner(duvet_command, project / "src")
    done = inside("backup")
    assert (done.code, done.out) == (1, "") and "`duvet -C .. backup`" in done.err, done.err
    assert inside("restore", "nonexist").code == 1
    assert not (project / "src/.duvet").exists()
    done = inside("restore", "../my own.tgz")
    warning, _, after = done.err.partition("restored what was known")
    assert (done.code, bool(after)) == (0, True) and "though the one in .. holds it" in warning
    assert "`duvet -C .. restore 'my own.tgz'` puts it back there" in warning
    shutil.rmtree(project / "src/.duvet")
    assert "`duvet -C .. restore --force src/a.tgz` puts" in inside("restore", "--force", "a.tgz").err
    assert duvet("-C", "src", "restore", "-").err.partition("`")[2].startswith("duvet -C .. restore -` puts")
    assert inside("-C", "..", "restore", "my own.tgz").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes and disks")
def test_a_full_disk(duvet: Run, project: Path, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#storage
    ##= type=test
    ##% duvet MUST name the file and the remedy when the index is damaged or not an index, or when the disk is full.
    assert duvet("backup", "-o", str(tmp_path / "a.tgz")).code == 0
    kept = project / KEPT
    size = (project / STORE).stat().st_size
    shutil.rmtree(kept)
    kept.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={2 * size + (1 << 20)}", "tmpfs", str(kept)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk of its own")
    try:
        assert duvet("restore", str(tmp_path / "a.tgz")).code == 0
        filler = kept / "filler"
        for left in (1 << 18, 1 << 14, 0):
            filler.write_bytes(bytes(max(shutil.disk_usage(kept).free + _size(filler) - left, 0)))
            for words in (("restore", str(tmp_path / "a.tgz")), ("backup",), ("ingest", "--full")):
                done = duvet(*words)
                assert done.code == 1, (left, words, done.err)
                assert "room" in done.err or "No space left" in done.err, (left, words, done.err)
                assert "a.tgz" not in done.err and "disk is well" not in done.err, (left, words, done.err)
    finally:
        subprocess.run(["umount", str(kept)], check=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


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


def test_another_configuration(duvet: Run, project: Path) -> None:
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
