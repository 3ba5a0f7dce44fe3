"""`duvet backup`: where it goes, and what is not taken along."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.keeping import KEPT, backups, duvet, project
from tests.cli.made import make
from tests.cli.running import Run, environment

__all__ = ["duvet", "project"]  # fixtures, which tests ask for by name


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


def test_names_of_files_and_folders(duvet: Run, project: Path) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `km-backup-trigger` MUST write only to a new `.tgz` or `.tar.gz` file in the project or in the configured
    ##% folder.
    for name in ("new.zip", "new.tar", "duvet.config.json"):
        done = duvet("backup", "-o", name)
        assert (done.code, done.out) == (1, "") and "a file ends in .tgz or .tar.gz" in done.err, done.err
    assert not list(project.glob("new*"))
    assert duvet("backup", "-o", "v1.2/").code == duvet("backup", "-o", "v1.2").code == 0
    assert len(backups(project)) == 2
    assert duvet("-q", "backup", "-o", "/dev/null") == (0, "", "")
    (project / "q.tgz").mkdir()
    done = duvet("backup", "-o", "q.tgz")
    assert done.code == 1 and "this is a folder" in done.err and "with / at its end" in done.err, done.err
    assert duvet("backup", "-o", "q.tgz/").code == 0
    assert len(list((project / "q.tgz").iterdir())) == 1
    done = duvet("backup", "-o", "duvet.config.json/")
    assert done.code == 1 and "this is a file, and no folder for backups" in done.err, done.err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such shells")
def test_standard_output_that_is_closed(duvet_command: str, project: Path) -> None:
    ##= man/spec/gateway.md#backups
    ##= type=test
    ##% `duvet backup -o -` MUST write the archive to standard output, and `duvet restore -` MUST read it from standard
    ##% input.
    done = subprocess.run(
        ["bash", "-c", f"{duvet_command} backup -o - >&-"],
        cwd=project,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and done.stderr.startswith("error: standard output is closed"), done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes and disks")
def test_who_reads_no_further(duvet: Run, duvet_command: str, project: Path) -> None:
    (project / KEPT / "feedback.jsonl").write_bytes(b'{"note": "%s"}\n' % os.urandom(1 << 20).hex().encode())
    command = f"{duvet_command} backup -o -"
    for name in ("-", "/dev/stdout"):
        done = subprocess.run(
            ["bash", "-c", f"{duvet_command} backup -o {name} | head -c 5 | wc -c; echo ${{PIPESTATUS[0]}}"],
            cwd=project,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert (done.stdout.split(), done.stderr) == (["5", "0"], "")
    if os.path.exists("/dev/full"):
        full = subprocess.run(
            ["bash", "-c", f"{command} > /dev/full"],
            cwd=project,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert full.returncode == 1
        assert "can't write to standard output: No space left on device" in full.stderr
        assert KEPT not in full.stderr


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
