"""`duvet ingest`: what it says and asks for"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.ingesting import STORE, WITHOUT_VECTORS, ledger
from tests.cli.running import environment, run
from tests.unit.knowledge.ingest.made import LEDGER, written

__all__ = ["ledger"]  # fixtures, which tests ask for by name


def test_what_is_said(ledger: Path, duvet_command: str) -> None:
    first = run(duvet_command, ledger, "ingest", "--profile", "nightly")
    assert first.code == 0 and first.out == ""
    lines = [line.strip() for line in first.err.splitlines()]
    assert lines[:4] == [
        "Looking for files",
        "Found 8 files",
        "Reading files",
        "Read 8 files that are new or have changed",
    ]
    assert lines[4] == "holds 8 files (3 code, 2 config, 2 doc, 1 test) in 8 pieces"
    assert lines[5].startswith("8 new, 0 changed, 0 removed; run ") and " of profile nightly, " in lines[5]
    # Nobody wants vectors here, and nobody is told to install what makes them.
    assert len(lines) == 6
    assert run(duvet_command, ledger, "-q", "ingest") == (0, "", "")


WITHOUT_SYMBOLS = """
import importlib.util, sys
there = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name.startswith("tree_sitter") else there(name, *more)
from duvet.__main__ import main
sys.argv = ["duvet", "ingest"]
main()
"""


@pytest.mark.parametrize(("symbols", "is_named"), [("auto", True), ("false", False)])
def test_without_the_extra_for_symbols(ledger: Path, symbols: str, is_named: bool) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% duvet MUST name the extra `symbols` or `semantic` when it is needed but not installed.
    written(ledger, {"duvet.config.yaml": f"ingest: {{semantic: false, symbols: {symbols}}}\n"})
    command = [sys.executable, "-c", WITHOUT_SYMBOLS]
    done = subprocess.run(command, cwd=ledger, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install 'duvet-cli[symbols]'" in done.stderr) == (0, is_named), done.stderr


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
from duvet.cli import run_command_line
sys.exit(run_command_line(sys.argv[1:]))
"""


def test_stand_ins_need_no_extra(ledger: Path) -> None:
    ##= man/spec/knowledge.md#vectors
    ##= type=test
    ##% duvet MUST compute vectors with what is installed, without the network.
    (ledger / "duvet.config.yaml").unlink()

    def without(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITHOUT_NUMPY, *words]
        return subprocess.run(command, cwd=ledger, env=environment(), capture_output=True, text=True, check=False)

    done = without("ingest", "--dummy-embeddings")
    assert done.returncode == 0 and "Made 7 vectors" in done.stderr, done.stderr
    done = without("call", "--pack", "knowledge", "km-search", "--query", "balance")
    assert done.returncode == 0, done.stderr
    metadata = json.loads(done.stdout)["metadata"]
    assert metadata["scoring_mode"] == "hybrid"
    assert metadata["warnings"] == ["the vectors are stand-ins that tell nothing of meaning"]


def test_json(ledger: Path, duvet_command: str) -> None:
    done = run(duvet_command, ledger, "-q", "ingest", "--format", "json", "--dry-run")
    found = json.loads(done.out)
    assert done.err == "" and not (ledger / STORE).exists()
    assert sorted(found) == [
        "added_files",
        "artifact_counts",
        "changed",
        "changed_files",
        "chunk_count",
        "dry_run",
        "duration_seconds",
        "error",
        "profile",
        "removed",
        "repo_head",
        "run_id",
        "started_at",
        "success",
        "warnings",
    ]
    assert found["added_files"] == sorted({**LEDGER, **WITHOUT_VECTORS}) and found["dry_run"] is True


def test_a_dry_run_lists_what_would_change(ledger: Path, duvet_command: str) -> None:
    run(duvet_command, ledger, "ingest")
    (ledger / "tool.sh").rename(ledger / "tools.sh")
    (ledger / "docs/spec.md").unlink()
    written(ledger, {"src/app/mail/send.py": "def other(): ...\n"})
    said = run(duvet_command, ledger, "-q", "ingest", "--dry-run", "--format", "json")
    assert json.loads(said.out)["changed_files"] == ["src/app/mail/send.py"]
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% With `--dry-run`, `duvet ingest` MUST show what would change and change nothing.
    told = run(duvet_command, ledger, "ingest", "--dry-run")
    assert run(duvet_command, ledger, "-q", "ingest", "--dry-run") == (0, told.out, "")
    assert re.fullmatch(r"1 new, 1 changed, 2 removed; \d+\.\d\d s", told.err.splitlines()[-1].strip())
    assert told.out.splitlines() == [
        "would add tools.sh",
        "would read again src/app/mail/send.py",
        "would forget docs/spec.md",
        "would forget tool.sh -> tools.sh",
        "would hold 7 files (3 code, 2 config, 1 doc, 1 test) in 7 pieces",
    ]


def test_mistakes(ledger: Path, duvet_command: str) -> None:
    assert "can't be the name of a profile" in run(duvet_command, ledger, "ingest", "--profile", "a b").err
    written(ledger, {"duvet.config.yaml": "ingest: {symbol: true}\n"})
    done = run(duvet_command, ledger, "ingest")
    assert done.code == 1 and "ingest.symbol: unknown field `symbol`" in done.err
    assert not (ledger / STORE).exists()


def test_a_folder_inside_of_a_project(ledger: Path, duvet_command: str) -> None:
    inner = ledger / "src/app"
    asked = run(duvet_command, inner, "call", "--pack", "knowledge", "km-search", "--query", "x")
    assert asked.code == 1 and "nothing was taken in" in asked.err and "`duvet -C ../.. call`" in asked.err
    first = run(duvet_command, inner, "ingest", "--dry-run")
    assert first.code == 0 and "warning: this folder is taken for a project of its own" in first.err
    assert "`duvet -C ../.. ingest`" in first.err
    (inner / ".duvet").mkdir()
    assert "-C" not in run(duvet_command, inner, "ingest", "--dry-run").err
    assert "-C" not in run(duvet_command, ledger, "ingest", "--dry-run").err
