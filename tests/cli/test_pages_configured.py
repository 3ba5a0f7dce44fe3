"""Which files are pages, as configurations say"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.noting import duvet, folder
from tests.cli.running import Run
from tests.unit.knowledge.pages.made import CONFIG

__all__ = ["duvet", "folder"]  # fixtures, which tests ask for by name


def test_the_configuration_of_the_service(duvet: Run, folder: Path) -> None:
    make(folder, {"duvet.config.toml": "[[pages]]\npattern = 'notes/*.md'\n", "notes/one.md": "[[two]]"})
    assert duvet("-q", "pages").out.split("\t")[0] == "one"
    assert "there is no page `two`" in duvet("validate").err
    make(folder, {".duvet/config.toml": CONFIG + "[[pages]]\npattern = 'docs/*.md'\n"})
    done = duvet("mcp", "--check")
    assert done.code == 1 and "this stands in `.duvet/config.toml:6:3`, too" in done.err


def test_the_report_follows_the_configuration_of_the_service(duvet: Run, folder: Path) -> None:
    duvet("report", "--html", "page.html")
    assert 'id="pages/kettle"' in (folder / "page.html").read_text()
    make(folder, {"duvet.config.toml": "[[pages]]\npattern = 'notes/*.md'\n", "notes/one.md": "# One\n"})
    duvet("report", "--html", "page.html")
    page = (folder / "page.html").read_text()
    assert 'id="pages/one"' in page and 'id="pages/kettle"' not in page
    make(folder, {"notes/one.md": "# Other\n"})
    duvet("report", "--html", "page.html")
    assert "<h4>Other</h4>" in (folder / "page.html").read_text()


UNSET = """\
providers:
  model:
    type: openai
    apiKey: $DUVET_TEST_UNSET
pages:
  - pattern: notes/**/*.md
"""


def test_a_variable_that_is_not_set_changes_no_pages(duvet: Run, folder: Path) -> None:
    ##= man/spec/service.md#configuration
    ##= type=test
    ##% duvet MUST use the tables `pages`, `ingest` and `store` even when other tables are wrong.
    make(
        folder, {"duvet.config.yaml": f"{UNSET}nonsense: 1\n", "notes/one.md": "---\ncreated: 2026-05-01\n---\n# One\n"}
    )
    assert duvet("pages") == (0, "one\t2026-05-01\t\tnotes/one.md\tOne\n", "1 page\n")
    assert duvet("validate") == (0, "", "checked 3 annotations in 2 files: no problems\n")
    duvet("report", "--html", "page.html")
    page = (folder / "page.html").read_text()
    assert 'id="pages/one"' in page and 'id="pages/kettle"' not in page


FAULTS = {
    "pages: [{patern: x}]\n": "duvet.config.yaml:1:10",
    "pages: [\n": "duvet.config.yaml:2:1",
    f"$schema: x\n{UNSET}twice: 1\ntwice: 2\n": "duvet.config.yaml:9:1",
}


@pytest.mark.parametrize("text", FAULTS)
@pytest.mark.parametrize("args", [("pages",), ("pages", "check"), ("validate",), ("report", "--html", "page.html")])
def test_pages_that_nobody_can_tell(text: str, args: tuple[str, ...], duvet: Run, folder: Path) -> None:
    ##= man/spec/pages.md#files
    ##= type=test
    ##% Pages MUST be the Markdown files that the configuration names or, by default, those in `docs` that are not
    ##% specifications.
    make(folder, {"duvet.config.yaml": text})
    for more in ((), ("--no-cache",)):
        done = duvet(*more, *args)
        assert (done.code, done.out) == (1, "") and f" --> {FAULTS[text]}\n" in done.err
    assert not (folder / "page.html").exists()


def test_pages_that_stand_in_both_files(duvet: Run, folder: Path) -> None:
    make(folder, {"duvet.config.toml": "[[pages]]\npattern = 'notes/*.md'\n"})
    make(folder, {".duvet/config.toml": CONFIG + "[[pages]]\npattern = 'docs/*.md'\n"})
    done = duvet("pages")
    assert (done.code, done.out) == (1, "") and "this stands in `.duvet/config.toml:6:3`, too" in done.err
