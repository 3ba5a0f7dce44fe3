import json
import re
import shutil
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, play, runner
from tests.cli.sample_project import CONFIG, HALF, SOURCE, make
from tests.cli.watch_process import Watch
from tests.edits import save_by_rename
from tests.histories import commit, git, history
from tests.unit.queries.query_projects import CONFIG as TEA_CONFIG, FILES

PAGE = ".duvet/reports/report.html"


def test_the_page_follows_the_commit_and_the_code_below_a_comment(kettle: Path, duvet: Run) -> None:
    def reported() -> str:
        assert duvet("report").code == 0
        kept = (kettle / PAGE).read_text()
        assert duvet("--no-cache", "report").code == 0
        assert (kettle / PAGE).read_text() == kept
        return kept

    history(kettle, {".gitignore": ".duvet/reports/\n.duvet/cache/\n"})
    first = git(kettle, "rev-parse", "HEAD")[:12]
    assert first in reported()
    assert "nothing has changed" in (duvet("report"), duvet("report"))[1].err
    second = commit(kettle)[:12]
    assert "nothing has changed" not in duvet("report").err
    page = reported()
    assert second in page and first not in page
    git(kettle, "pack-refs", "--all", "--prune")
    assert reported() == page
    git(kettle, "checkout", "--quiet", "--detach", first)
    page = reported()
    assert first in page and "<pre>fn boil() {}</pre>" in page
    (kettle / "src/a.rs").write_text(SOURCE.replace("fn boil()", "fn cook()"))
    assert "<pre>fn cook() {}</pre>" in reported()


def test_the_page_follows_the_committed_snapshot(kettle: Path, duvet: Run) -> None:
    (kettle / "src/a.rs").write_text(HALF)
    duvet("report")
    history(kettle, {})
    (kettle / "src/a.rs").write_text(SOURCE)
    duvet("report")
    gained = (kettle / PAGE).read_text()
    assert "implementation, test" in gained
    commit(kettle)
    duvet("report")
    same = (kettle / PAGE).read_bytes()
    assert b"implementation, test" not in same
    duvet("--no-cache", "report")
    assert (kettle / PAGE).read_bytes() == same


EMBEDDED = """\
'$schema' = "duvet-cli/config/v1"
[[source]]
pattern = "src/**/*.rs"
[[specification]]
source = "spec.md"
[report.html]
title = "Kettle </title> & Co"
logo = "ACME"
embed-json = true
"""
EXPIRED = """\
[[not-applicable]]
target = "spec.md#pouring"
reason = "There is no spout"
expiry = 2020-01-31
"""
RESULT = re.compile(r'<script type="?application/json"? id="?result"?>(.*?)</script>', re.DOTALL)


def embedded(page: Path) -> list[object]:
    return [json.loads(found) for found in RESULT.findall(page.read_text())]


def test_the_report_in_the_page(kettle: Path, duvet: Run) -> None:
    ##= man/spec/page.md#data
    ##% With `embed-json`, the HTML report MUST contain the JSON report, unless there are errors other than failures of
    ##% gates.
    (kettle / ".duvet/config.toml").write_text(EMBEDDED)
    text = "It MUST say </script><!-- & \u2028."
    (kettle / "spec.md").write_text(f"# Kettle\n\n## Heating\n\n{text}\n")
    (kettle / "src/a.rs").write_text(f"//= spec.md#heating\n//# {text}\n")
    assert duvet("report", "--json", "report.json").code == 0
    page = kettle / PAGE
    assert embedded(page) == [json.loads((kettle / "report.json").read_text())]
    assert "<title>Kettle &lt;/title&gt; &amp; Co</title>" in page.read_text()
    assert "ACME" in page.read_text()
    (kettle / ".duvet/config.toml").write_text(EMBEDDED + EXPIRED)
    assert duvet("report").code == 1
    assert embedded(page) == []
    assert "There is no spout" in page.read_text()
    (kettle / ".duvet/config.toml").write_text(EMBEDDED.replace("embed-json = true\n", ""))
    assert duvet("report").code == 0
    assert embedded(page) == []


PAGES = TEA_CONFIG.replace("enabled = false", "embed-json = true\n[report.snapshot]\nenabled = true")
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


@pytest.mark.parametrize("is_committed", [False, True])
def test_the_same_page_elsewhere(tmp_path: Path, duvet_command: str, is_committed: bool) -> None:
    ##= man/spec/page.md#data
    ##% Until a `[[not-applicable]]` entry expires, the same inputs MUST produce the same report, whatever the folder,
    ##% the locale, the time zone and the time.
    wait = "//= tea.md#serving\n//# Everybody SHOULD wait.\nfn wait() {}\n"
    here = make(tmp_path / "here/kettle", {**FILES, ".duvet/config.toml": PAGES, "src/é.rs": wait})
    there = tmp_path / "there/deeper/kettle"
    if is_committed:
        history(here, {".gitignore": ".duvet/cache/\n.duvet/reports/\n"})
        assert runner(duvet_command, here)("report").code in (0, 1)
        commit(here)
        (here / "src/é.rs").write_text("//= tea.md#serving\n//# A biscuit MAY be offered.\nfn offer() {}\n")
    shutil.copytree(here, there)
    pages = []
    for folder, environ in ((here, {"PYTHONHASHSEED": "1"}), (there, ELSEWHERE)):
        for options in (("--no-cache", "report"), ("report",)):
            runner(duvet_command, folder)(*options, environ=environ)
            pages.append((folder / PAGE).read_bytes())
    assert pages[0].count(b"biscuit") > 1
    assert len(set(pages)) == 1


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{tmp_path}/shown"\n')
    script.chmod(0o755)
    return script


def list_opened(browser: Path) -> list[str]:
    path = browser.with_name("shown")
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.replace(browser.parent.as_uri(), "<test>") for line in lines]


OPEN, NO_BROWSER = "$ BROWSER=../browser duvet -q report --open", "PATH=${PATH%%:*} duvet -q report --open"
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "opened": (
        *("-q report", "$ ls ..", "$ BROWSER=../browser duvet report --open", f"{OPEN} --no-cache"),
        # Another file, and a run that fails.
        *(f"{OPEN} --html 'a page#1.html'", {"src/a.rs": "//= spec.md#heating\n//# It is cold.\n"}, OPEN),
        "$ cat ../shown",
    ),
    "not opened": (
        *({".duvet/config.toml": CONFIG + "[report.html]\nenabled = false\n"}, OPEN, f"{OPEN} --html - >out"),
        *({".duvet/config.toml": CONFIG}, f"$ BROWSER=/no/browser {NO_BROWSER}"),
        *(f'$ BROWSER="/no/browser \'of mine %s" {NO_BROWSER}', f"$ rm {PAGE}; mkdir {PAGE}", OPEN, "$ ls .."),
    ),
    "standard output": (
        "$ duvet report --html page.html 2>err; duvet report --html - 2>>err | cmp - page.html; grep cover err",
        f"$ cmp page.html {PAGE}; duvet -q report --html - | cmp - page.html",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.usefixtures("browser")
def test_opened_pages(name: str, kettle: Path, duvet: Run, gold: Snapshot) -> None:
    told = play(duvet, kettle, *SCENARIOS[name]).replace(kettle.parent.as_uri(), "file://<above>")
    gold.assert_match(told, f"{name.replace(' ', '_')}.txt")


@pytest.mark.parametrize(
    ("path", "first", "then"), [("src/a.rs", SOURCE, ""), (".duvet/config.toml", "[", CONFIG)], ids=["right", "wrong"]
)
def test_the_html_report_is_opened_once_while_it_follows_changes(
    path: str, first: str, then: str, kettle: Path, browser: Path, watch: Watch
) -> None:
    make(kettle, {path: first})
    watched = watch("report", "--watch", "--open", BROWSER=str(browser))
    watched.until()
    assert list_opened(browser) == ([] if first == "[" else [f"<test>/kettle/{PAGE}"])
    save_by_rename(path, then)(kettle)
    watched.until()
    watched.interrupted()
    assert list_opened(browser) == [f"<test>/kettle/{PAGE}"]
