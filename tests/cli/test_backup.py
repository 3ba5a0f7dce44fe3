import json
import os
import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.knowledge.feedback import append_record
from tests.cli.command import Run, play, runner, shell
from tests.cli.damage import small_disk
from tests.cli.sample_project import make
from tests.unit.knowledge.stored_project import STORE, fill, places, vote
from tests.unit.tools.tool_calls import FILES

KEPT = ".duvet/knowledge"
VOTE = "$ duvet call {} --pack knowledge km-feedback-submit --request-id r --chunk-id a::0 --vote 1 >/dev/null"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    config = json.dumps({"ingest": {"semantic": False}, "toolPacks": {"knowledge": {}}})
    return fill(make(tmp_path / "pot", {**FILES, "duvet.config.json": config}))


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    return runner(duvet_command, project)


def configured(store: str, **more: object) -> dict[str, str]:
    config = {"ingest": {"semantic": False}, "toolPacks": {"knowledge": {}}, "store": {"path": store, **more}}
    return {"duvet.config.json": json.dumps(config)}


STORED, LIST = "$ duvet call km-ingest-status | grep -c '\"r1\"'", "$ find . -name '*.tgz' | sort"
TEAM = "--service-config conf/team.json"
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "destinations": (
        *("-q backup --output a.tgz", "backup --output ../b.tar.gz", "backup -o kept/", "backup -o a.tgz", LIST),
        *("$ duvet backup --output - >../c.tgz", "restore ../c.tgz"),
        *(configured(".duvet/knowledge/store.db", backups="../elsewhere"), "backup", "$ ls ../elsewhere"),
    ),
    "names": (
        *("backup -o new.zip", "backup -o new.tar", "backup -o duvet.config.json", "$ ls"),
        *("backup -o v1.2/", "backup -o v1.2", "-q backup -o /dev/null", "$ mkdir q.tgz", "backup -o q.tgz"),
        *("backup -o q.tgz/", "backup -o duvet.config.json/", f"{LIST} | cut -d- -f1-2"),
    ),
    # Backups are not part of the project.
    "store elsewhere": (
        *(configured("var/s.db"), "-q ingest", "-q backup", VOTE.format("-q"), "$ ls -A var", "ingest --dry-run"),
    ),
    "restored": (
        *(STORED, "backup -o a.tgz", "-q ingest", STORED, "restore a.tgz", STORED),
        *(f"$ duvet restore --force {KEPT}/backups/*.tgz", STORED, f"$ ls {KEPT}/backups"),
        *(f"$ yes no store | head -c 8000 >{STORE}", "call km-ingest-status", "-q restore a.tgz", STORED),
        f"""$ grep -Eo '"(tool|outcome)": ?"[^"]*"' {KEPT}/audit.jsonl""",
    ),
    "inside": (
        *("$ cd src && duvet backup", "$ cd src && duvet backup -o 'my own.tgz'", "$ cd src && duvet restore nonexist"),
        *("$ cd src && duvet restore 'my own.tgz'", "$ ls -A src"),
    ),
    "feedback only": (
        *(VOTE.format("-q"), f"$ rm {STORE}", "backup -o a.tgz", f"$ rm {KEPT}/feedback.jsonl", "restore a.tgz"),
    ),
    "failing": (
        *("restore src/main.rs", "restore nowhere.tgz", "restore .", "restore", "backup -o a.tgz"),
        *({f"../empty/{name}": text for name, text in FILES.items()}, "-C ../empty backup", "$ ls -a ../empty"),
        *("-C ../empty restore ../pot/a.tgz", f"$ cd ../empty; {STORED[2:]}"),
    ),
    "another configuration": (
        *({"conf/team.json": configured("var/s.db")["duvet.config.json"]}, f"backup {TEAM}", f"-q ingest {TEAM}"),
        *(VOTE.format(TEAM), f"-q backup {TEAM}", f"feedback {TEAM}", "feedback", f"feedback export {TEAM}"),
        *("$ rm var/s.db", f"$ duvet restore {TEAM} var/backups/*", "$ ls var"),
        "backup --service-config nowhere.json",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_backups(name: str, duvet: Run, project: Path, gold: Snapshot) -> None:
    told = play(duvet, project, *SCENARIOS[name]).replace(str(project.parent), "<above>")
    varying = r"(?<=km-backup-)[-\dT]+(?=\.tgz)|\d[\d,]*(?= bytes)|\d{4}-\S+\+00:00|\d+\.\d\d(?= s)"
    gold.assert_match(re.sub(varying, "…", told), f"{name.replace(' ', '_')}.txt")


def test_the_default_destination(duvet: Run, project: Path) -> None:
    done = duvet("backup")
    (archive,) = project.rglob("*.tgz")
    assert done == (0, "", f"{archive.relative_to(project)}: {archive.stat().st_size:,} bytes\n")


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
