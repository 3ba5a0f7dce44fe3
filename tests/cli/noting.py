"""A project with pages, and `duvet` in it"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import Run, runner
from tests.unit.knowledge.pages.made import TRACE

NOTES = {
    "docs/kettle.md": "---\ncreated: 2026-05-02\ntags: [water, heat]\n---\n# Kettle\n\nIt boils. See [[cups]] and [[spec#brewing]].\n",
    "docs/cups.md": "---\ncreated: 2026-05-01\n---\n# Cups\n\nOf [[ketle]].\n",
}
DANGLING = """\
warning: there is no page `ketle` [DUV103]
 --> docs/cups.md:6:4
  |
6 | Of [[ketle]].
  |    ^^^^^^^^^
  = help: did you mean kettle?

1 warning
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "tea", {**TRACE, **NOTES})


@pytest.fixture
def duvet(duvet_command: str, folder: Path) -> Run:
    return runner(duvet_command, folder)
