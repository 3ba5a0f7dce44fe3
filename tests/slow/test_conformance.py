import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.conftest import CONFORMANCE, SHARED

Record = Callable[[str, object], None]


def run_cases(runner: Path, duvet: str, *arguments: str) -> int:
    done = subprocess.run(
        [sys.executable, str(runner), "--duvet", duvet, *arguments], capture_output=True, text=True, check=False
    )
    counts = re.search(r"(\d+) passed, (\d+) failed\n$", done.stdout)
    assert counts, done.stdout + done.stderr
    assert counts[1] != "0" and counts[2] == "0", done.stdout
    return int(counts[1])


def copy_with_links(source: Path, target: Path) -> Path:
    """Copy a folder, and turn files that stand for symlinks back into symlinks."""
    shutil.copytree(source, target, symlinks=True)
    for file in [file for file in target.rglob("*") if file.is_file() and 0 < file.stat().st_size < 200]:
        path = file.read_text(encoding="utf-8", errors="replace")
        if path.startswith("../") and "\n" not in path and (file.parent / path).exists():
            file.unlink()
            file.symlink_to(path)
    return target


@pytest.mark.parametrize("area", sorted(folder.name for folder in SHARED.glob("probes/open/*")) or ["all"])
def test_probes_pass(area: str, shared: Path, duvet_command: str, record_property: Record, tmp_path: Path) -> None:
    # The runner adds `--upstream` to `duvet init`, which writes our own schema without it.
    folder = copy_with_links(shared / "probes" / "open" / area, tmp_path / area)
    record_property(CONFORMANCE, ("probes", run_cases(shared / "probes" / "run.py", duvet_command, str(folder))))


@pytest.mark.parametrize(
    ("words", "noun"),
    [
        ("probes/run.py probes/query", "probes of duvet query"),
        ("probes/run.py golden", "golden projects"),
        ("tools/oracle.py rfc", "RFCs"),
        ("tools/oracle.py markdown", "Markdown files"),
    ],
)
def test_conformance_sets_pass(
    words: str, noun: str, shared: Path, duvet_command: str, record_property: Record
) -> None:
    program, folder = words.split()
    kind = [folder] if "oracle" in program else []
    record_property(CONFORMANCE, (noun, run_cases(shared / program, duvet_command, *kind, str(shared / folder))))


def test_intended_differences_are_the_only_ones(shared: Path, duvet_command: str, tmp_path: Path) -> None:
    # Cases in which duvet means to differ, and what it does there; `tests/cli/test_defects.py` has the defects.
    folder = shared / "probes" / "departures"
    assert [case.name for case in folder.iterdir()] == ["config-path-no-upward-search"]
    shutil.copytree(folder / "config-path-no-upward-search" / "project", tmp_path / "project")
    done = run(duvet_command, tmp_path / "project" / "sub", "report")
    assert (done.code, done.out) == (0, "") and re.findall(r"Scanned \d+ sources", done.err) == ["Scanned 1 sources"]
