import json
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pytest_snapshot.plugin import Snapshot

from duvet.store.sqlite import Store
from tests.cli.command import NOBODY, environment, play, run, runner
from tests.cli.indexed_project import STORE, WITHOUT_VECTORS, list_indexed_files
from tests.unit.knowledge.ingest.ingest_projects import LEDGER, asked, written
from tests.unit.knowledge.stored_project import ask_store


def without_times(text: str) -> str:
    text = re.sub(r"\d+\.\d\d s", "N s", text)
    return re.sub(r"run \w+(?= of profile)|(?<=run )[\w-]+", "RUN", text)


def test_output_of_runs(ledger: Path, duvet_command: str, gold: Snapshot) -> None:
    # Vectors are off, so there is no advice to install the extra.
    duvet = runner(duvet_command, ledger)
    told = play(duvet, ledger, "-v ingest --profile nightly", "-q ingest")
    (ledger / "tool.sh").rename(ledger / "tools.sh")
    (ledger / "docs/spec.md").unlink()
    written(ledger, {"src/app/mail/send.py": "def other(): ...\n"})
    told += play(duvet, ledger, "ingest --dry-run", "-q ingest --dry-run")
    said = duvet("-q", "ingest", "--dry-run", "--format", "json")
    assert json.loads(said.out)["changed_files"] == ["src/app/mail/send.py"]
    written(ledger, {"duvet.config.yaml": "ingest: {symbol: true}\n"})
    told += play(duvet, ledger, "ingest --profile 'a b'", "ingest")
    gold.assert_match(without_times(told), "runs.txt")


def test_an_empty_folder(tmp_path: Path, duvet_command: str) -> None:
    assert run(duvet_command, tmp_path, "ingest", "--dry-run").out == "would index 0 files in 0 chunks\n"


WITHOUT = """
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name.startswith("tree_sitter") else found(name, *more)
sys.modules["numpy"] = None
from duvet.cli import run_command_line
sys.exit(run_command_line(sys.argv[1:]))
"""


def without_extras(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, *words]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


def test_without_the_extra_for_symbols(ledger: Path) -> None:
    for symbols, is_named in (("auto", True), ("false", False)):
        written(ledger, {"duvet.config.yaml": f"ingest: {{semantic: false, symbols: {symbols}}}\n"})
        done = without_extras(ledger, "ingest")
        assert (done.returncode, "pip install 'duvet-cli[symbols]'" in done.stderr) == (0, is_named), done.stderr


def test_stand_ins_need_no_extra(ledger: Path) -> None:
    (ledger / "duvet.config.yaml").unlink()
    done = without_extras(ledger, "-v", "ingest", "--dummy-embeddings")
    assert done.returncode == 0 and "Computed 7 vectors" in done.stderr, done.stderr
    done = without_extras(ledger, "call", "--pack", "knowledge", "km-search", "--query", "balance")
    assert done.returncode == 0, done.stderr
    metadata = json.loads(done.stdout)["metadata"]
    warning = "the index has dummy vectors, which carry no meaning"
    assert (metadata["scoring_mode"], metadata["warnings"]) == ("hybrid", [warning])


def test_ingest_prints_json(ledger: Path, duvet_command: str) -> None:
    done = run(duvet_command, ledger, "-q", "ingest", "--format", "json", "--dry-run")
    found = json.loads(done.out)
    assert done.err == "" and not (ledger / STORE).exists()
    keys = """added_files artifact_counts changed changed_files chunk_count dry_run duration_seconds error profile
        removed repo_head run_id started_at success warnings"""
    assert sorted(found) == keys.split()
    assert found["added_files"] == sorted({**LEDGER, **WITHOUT_VECTORS}) and found["dry_run"] is True


def test_a_folder_of_a_project(ledger: Path, duvet_command: str) -> None:
    inner = ledger / "src/app"
    assert run(duvet_command, inner, "-q", "ingest").code == 0
    assert (ledger / STORE).exists() and not (inner / ".duvet").exists()
    assert run(duvet_command, inner, "call", "--pack", "knowledge", "km-search", "--query", "x").code == 0


def test_a_file_that_may_not_be_read(public: Path, duvet_command: str) -> None:
    written(public, {"secret.md": "x", **WITHOUT_VECTORS})
    (public / "secret.md").chmod(0)
    done = run(duvet_command, public, "-q", "ingest", "--format", "json", before=NOBODY)
    assert done.code == 0
    assert json.loads(done.out)["warnings"] == ["secret.md: Permission denied (os error 13)"]
    assert asked(public, lambda store: store.artifacts()["secret.md"].skipped) == "unreadable"


def overwrite_parts(data: bytes) -> bytes:
    chance = random.Random(1)
    return b"".join(
        data[at : at + 100] + chance.randbytes(800) + data[at + 900 : at + 4096] for at in range(0, len(data), 4096)
    )


DAMAGES: tuple[Callable[[bytes], bytes], ...] = (
    overwrite_parts,
    lambda data: data[: len(data) // 2],
    lambda data: b"no database at all\n" * 100,
)


def test_a_store_that_is_damaged_is_replaced(ledger: Path, duvet_command: str) -> None:
    assert run(duvet_command, ledger, "ingest").code == 0
    before = list_indexed_files(ledger)
    for place, damages in ((STORE, DAMAGES), ("kept/all.db", DAMAGES[::2])):
        if place != STORE:
            written(ledger, {"duvet.config.yaml": f"ingest: {{semantic: false}}\nstore: {{path: {place}}}\n"})
            assert run(duvet_command, ledger, "ingest").code == 0
        for damage in damages:
            file = ledger / place
            written(ledger, {place: damage(file.read_bytes())})
            told = run(duvet_command, ledger, "ingest")
            assert (told.code, "Traceback" in told.err) == (1, False)
            assert "the index is damaged" in told.err and file.name in told.err
            # duvet replaces a file elsewhere only if it is a database.
            is_ours = place == STORE or damage is overwrite_parts
            assert ("run `duvet ingest --full` to rebuild it" in told.err) is is_ours
            assert run(duvet_command, ledger, "ingest", "--full", "--dry-run").code == (0 if is_ours else 1)
            done = run(duvet_command, ledger, "ingest", "--full")
            assert (done.code, "replacing" in done.err) == ((0, True) if is_ours else (1, False))
            if is_ours:
                assert ask_store(str(file), lambda store: list(store.artifacts())) == before


def test_damage_that_no_reader_notices_is_replaced(ledger: Path, duvet_command: str) -> None:
    assert run(duvet_command, ledger, "ingest").code == 0
    with closing(sqlite3.connect(ledger / STORE)) as database, database:
        database.execute("UPDATE text SET data = zeroblob(10)")
    done = run(duvet_command, ledger, "ingest", "--full")
    assert (done.code, "replacing the damaged index" in done.err) == (0, True)
    ask_store(str(ledger / STORE), Store.check)
    assert sorted(os.listdir((ledger / STORE).parent)) == [".gitignore", "store.db"]


def test_a_dry_run_does_not_mind_a_store_of_an_older_duvet(ledger: Path, duvet_command: str) -> None:
    run(duvet_command, ledger, "ingest")
    with closing(sqlite3.connect(ledger / STORE)) as database:
        database.execute("PRAGMA user_version=1")
    before = (ledger / STORE).read_bytes()
    done = run(duvet_command, ledger, "ingest", "--dry-run")
    assert done.code == 0 and "8 new, 0 changed, 0 removed" in done.err
    assert (ledger / STORE).read_bytes() == before
    with closing(sqlite3.connect(ledger / STORE)) as database:
        database.execute("PRAGMA user_version=99")
    assert run(duvet_command, ledger, "ingest", "--dry-run").code == 1
