"""The name of a build."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PRINT = "from duvet.cache.build import build; print(build().hex())"


def name_of(package: Path) -> str:
    """The name of the build in a folder, in a process of its own."""
    return subprocess.run([sys.executable, "-c", PRINT], cwd=package, check=True, capture_output=True, text=True).stdout


def test_a_module_that_changes_makes_another_build(tmp_path: Path) -> None:
    ##= man/spec/cache.md#keeping
    ##= type=test
    ##% What another build of duvet has kept MUST NOT be used.
    import shutil

    import duvet

    copy = tmp_path / "duvet"
    shutil.copytree(Path(duvet.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    first = name_of(tmp_path)
    assert name_of(tmp_path) == first
    (copy / "specs" / "slug.py").write_text("'another'\n")
    assert name_of(tmp_path) != first
