"""The pages of notes that are measured, and the server that is asked about them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.notes import LINKS, make_pages, measured


@pytest.mark.skipif(sys.platform != "linux", reason="the clock of another process is one of Linux")
def test_a_server_is_asked_about_pages(duvet_command: str, tmp_path: Path) -> None:
    make_pages(tmp_path, 20)
    assert (tmp_path / "docs/page-3.md").read_text().count("[[page-") == LINKS
    figures = list(measured([duvet_command, "mcp", "--http", "0", "--rate", "0"], tmp_path, 1.0))
    assert [figure.name for figure in figures] == [
        "pages: start to the first answer, cu",
        "pages: start to the first search, cu",
        "pages: get_page, p50 in ms",
        "pages: get_connections, p50 in ms",
        "pages: search, p50 in ms",
        "pages: list_pages, p50 in ms",
        "pages: an answer after an edit, cu",
        "pages: memory, MB",
    ]
