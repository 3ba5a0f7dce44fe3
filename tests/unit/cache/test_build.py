"""The name of a build."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PRINT = "from duvet.tree.cache import compute_build_id; print(compute_build_id().hex())"


def output_of(program: str, folder: Path) -> str:
    """What a program prints in a process of its own."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def name_of(package: Path) -> str:
    """The name of the build in a folder."""
    return output_of(PRINT, package)


def test_a_module_that_changes_makes_another_build(tmp_path: Path) -> None:
    ##= man/spec/cache.md#storage
    ##= type=test
    ##% duvet MUST treat a cache that is damaged, or that another user or another build of duvet wrote, as absent.
    import shutil

    import duvet

    copy = tmp_path / "duvet"
    shutil.copytree(Path(duvet.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    names = {name_of(tmp_path)}
    assert {name_of(tmp_path)} == names
    for module in ("specs/slug.py", "templates/page/page.html.j2", "templates/page/layout.css"):
        (copy / module).write_text("'another'\n")
        names.add(name_of(tmp_path))
    assert len(names) == 4


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root can become another user")
def test_another_user_makes_another_build() -> None:
    # The other user may not be allowed to read what is imported later.
    step_down = PRINT.replace("print", "import blake3, os; os.setgroups([]); os.setgid(65534); os.setuid(65534); print")
    both = (PRINT, step_down)
    assert len({output_of(program, Path()) for program in both}) == 2
