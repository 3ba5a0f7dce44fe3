"""The page depends on nothing but what it is made from."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import runner
from tests.histories import commit, history
from tests.unit.queries.made import CONFIG, FILES

PAGE = ".duvet/reports/report.html"
PAGES = CONFIG.replace("enabled = false", "embed-json = true\n[report.snapshot]\nenabled = true")
"""A page with all that can be on it."""
ELSEWHERE = {
    "LANG": "de_DE.ISO-8859-1",
    "LC_ALL": "C",
    "TZ": "Pacific/Auckland",
    "PYTHONHASHSEED": "7",
    "HOME": "/nowhere",
    "COLUMNS": "40",
    "GIT_DIR": "/nowhere",
    "GITHUB_ACTIONS": "false",
}


@pytest.mark.skipif(sys.platform == "win32", reason="time zones and locales")
@pytest.mark.parametrize("is_committed", [False, True])
def test_the_same_page_elsewhere(tmp_path: Path, duvet_command: str, is_committed: bool) -> None:
    ##= man/spec/page.md#working-with-the-report
    ##% The same inputs MUST give the same report in every folder, language and time zone, and at any time.
    here = make(
        tmp_path / "here/kettle",
        {
            **FILES,
            ".duvet/config.toml": PAGES,
            "src/é.rs": "//= tea.md#serving\n//# Everybody SHOULD wait.\nfn wait() {}\n",
        },
    )
    there = tmp_path / "there/deeper/kettle"
    if is_committed:
        history(here, {".gitignore": ".duvet/cache/\n.duvet/reports/\n"})
        assert runner(duvet_command, here)("report").code in (0, 1)
        commit(here)
        (here / "src/é.rs").write_text("//= tea.md#serving\n//# A biscuit MAY be offered.\nfn offer() {}\n")
    shutil.copytree(here, there)
    pages = []
    for folder, environ in ((here, {"PYTHONHASHSEED": "1"}), (there, ELSEWHERE), (there, {})):
        for options in (("--no-cache", "report"), ("report",)):
            runner(duvet_command, folder)(*options, environ=environ)
            pages.append((folder / PAGE).read_bytes())
    assert pages[0].count(b"biscuit") > 1
    assert len(set(pages)) == 1
