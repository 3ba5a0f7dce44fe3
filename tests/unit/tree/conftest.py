"""A checkout with symlinks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.sample_project import make
from tests.histories import history

FILES = {
    "top.md": "top",
    "sub/a.rs": "a",
    "sub/src/b.rs": "b",
    "sub/src/d/c.rs": "c",
    "sub/src/-x 'y\n\té.rs": "odd",
    "sub/crlf.rs": "one\r\ntwo\r\n",
    "sub/lfs.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
}
LINKS = {
    "sub/link": "src",
    "sub/up": "../top.md",
    "sub/deep": "link/d/../b.rs",
    "sub/loop": "loop",
    "sub/gone": "nothing",
    "sub/out": "../../beside.md",
    "sub/whole": "/",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "r"
    make(folder, FILES)
    for name, target in LINKS.items():
        (folder / name).symlink_to(target)
    (tmp_path / "beside.md").write_text("beside")
    return history(folder, {}) / "sub"
