import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from msgspec import json

from duvet.config.service_tables import StoreSection
from duvet.errors import DuvetError
from duvet.knowledge.ingest.process import IngestRequest, IngestSource, run_ingest_process
from duvet.store.database import StoreDamagedError
from duvet.store.location import IngestOptions, KnowledgeSettings
from duvet.store.records import IngestRun
from tests.cli.command import environment
from tests.unit.knowledge.ingest.ingest_projects import LEDGER, PLAIN, last, written
from tests.unit.knowledge.stored_project import STORE

PROGRAM = "from duvet.knowledge.ingest.process import main; main()"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "ledger", LEDGER)


def request(root: str, path: str = STORE) -> IngestRequest:
    rules = KnowledgeSettings(root, PLAIN, StoreSection(path=path))
    return IngestRequest(source=IngestSource(), rules=rules, options=IngestOptions(run_id="r"))


def ingest(folder: Path, environ: Mapping[str, str]) -> IngestRun:
    async def ignore(done: float, step: str) -> None:
        pass

    return anyio.run(run_ingest_process, request(str(folder)), environ, ignore)


def a_git_that(folder: Path, script: str) -> dict[str, str]:
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_the_process_gets_no_secrets_and_no_modules_from_the_project(folder: Path) -> None:
    for name in ("duvet", "json", "sqlite3"):
        (folder / f"{name}.py").write_text("raise SystemExit('imported from the project')\n")
    seen = folder.parent / "seen"
    environ = a_git_that(folder.parent / "bin", f"cat /proc/$PPID/environ > {seen}; exit 1")
    names = "DUVET_ADMIN_TOKEN OPENAI_API_KEY my_password SSH_PRIVATE_KEY GPG_PASSPHRASE GITHUB_PAT SIGNING_KEY"
    secrets = {**dict.fromkeys(names.split(), "s3cret"), "DATABASE_URL": "postgres://tea:s3cret@db.example/tea"}
    plain = {"LANG": "C.UTF-8", "TEA_PATH": "x", "TEA_URL": "https://tea@example.org:80/a:b@c"}
    run = ingest(folder, {**environ, **secrets, **plain})
    assert (run.success, run.changed) == (True, 10)
    assert "s3cret" not in seen.read_text()
    assert {f"{name}={value}" for name, value in plain.items()} <= set(seen.read_text().split("\0"))


def test_errors_keep_their_type_and_a_killed_process_is_one(folder: Path) -> None:
    environ = a_git_that(folder.parent / "bin", "kill -9 $PPID")
    with pytest.raises(DuvetError, match="the ingest process was killed by signal 9"):
        ingest(folder, environ)
    for file in (folder / STORE).parent.iterdir():
        file.unlink()
    (folder / STORE).write_bytes(b"no store" * 999)
    with pytest.raises(StoreDamagedError, match="the index is damaged") as caught:
        ingest(folder, {"PATH": os.environ["PATH"]})
    assert caught.value.path == str(folder / STORE)


def test_a_process_that_nobody_listens_to_records_a_cancelled_run(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin and process.stdout
        process.stdout.close()
        process.stdin.write(json.encode(request("")) + b"\n")
        process.stdin.flush()
        assert process.wait(30) == 0
    run = last(folder)
    assert (run.run_id, run.success, run.error) == ("r", False, "CancelledError")


def test_a_process_without_a_request_ends(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, env=environment(), input=b"", check=True)
    assert done.returncode == 0 and not (folder / STORE).exists()
