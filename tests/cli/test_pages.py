"""`duvet pages`"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.noting import DANGLING, duvet, folder
from tests.cli.running import Run, files

__all__ = ["duvet", "folder"]  # fixtures, which tests ask for by name


def test_the_list(duvet: Run) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `list_pages` and `duvet pages` MUST list all pages, the newest first.
    plain = "kettle\t2026-05-02\twater, heat\tdocs/kettle.md\tKettle\ncups\t2026-05-01\t\tdocs/cups.md\tCups\n"
    assert duvet("pages") == duvet("pages", "list") == (0, plain, "2 pages\n")
    rows = [
        {
            "slug": "kettle",
            "title": "Kettle",
            "path": "docs/kettle.md",
            "created": "2026-05-02T00:00:00Z",
            "tags": ["water", "heat"],
        },
        {
            "slug": "cups",
            "title": "Cups",
            "path": "docs/cups.md",
            "created": "2026-05-01T00:00:00Z",
            "tags": [],
        },
    ]
    assert json.loads(duvet("-q", "pages", "--format", "json").out) == rows
    for format in ("table", "jsonl", "csv", "markdown"):
        done = duvet("-q", "pages", "--format", format)
        assert (done.code, done.err, done.out.count("docs/")) == (0, "", 2)


SHOWN = """\
Kettle
  slug         kettle
  file         docs/kettle.md
  created      2026-05-02T00:00:00Z
  tags         water, heat
  links to     cups
  linked from  tea

  # Kettle

  It boils. See [[cups]] and [[spec#brewing]].

Requirements
  id            status       target             cited at      text
  38574ef4fa26  needs tests  docs/spec.md#brew  src/tea.rs:1  Tea MUST be hot.
"""


def test_a_page(duvet: Run, folder: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `get_page` and `duvet pages show` MUST show the requirements that a page names, and the code that cites them.
    make(folder, {"docs/tea.md": "[[kettle]]", "docs/spec.md": "# Tea\n\n## Brewing\n\nTea MUST be hot.\n"})
    done = duvet("pages", "show", "kettle")
    assert (done.code, done.err) == (0, "")
    assert done.out == SHOWN.replace("docs/spec.md#brew ", "docs/spec.md#brewing ").replace(
        "target             ", "target                "
    )
    found = json.loads(duvet("pages", "show", "kettle", "--format", "json").out)
    assert (found["outlinks"], found["backlinks"]) == (["cups"], ["tea"])
    assert found["requirements"][0]["citations"] == [{"file_path": "src/tea.rs", "line_number": 1, "type": "citation"}]
    assert duvet("pages", "show", "kettle", "--format", "markdown").out.startswith("## Kettle\n\n- slug: kettle\n")


def test_a_page_that_there_is_not(duvet: Run) -> None:
    done = duvet("pages", "show", "ketle")
    said = "error: Page 'ketle' not found\n  = help: did you mean kettle?\n\nencountered 1 errors\n"
    assert done == (1, "", said)


def test_what_drives_a_terminal(duvet: Run, folder: Path) -> None:
    make(folder, {"docs/x.md": "# \x1b[31mred\n\n\x1b]0;title\x07\n"})
    for args in (("pages",), ("pages", "show", "x"), ("pages", "show", "x", "--format", "markdown")):
        done = duvet(*args)
        assert done.code == 0 and "\x1b" not in done.out


def test_what_is_wrong(duvet: Run, folder: Path) -> None:
    ##= man/spec/pages.md#checks
    ##= type=test
    ##% `duvet validate` MUST report the problems of pages, and `duvet pages check` MUST exit with 1 for broken links,
    ##% duplicate slugs and unreadable pages.
    assert duvet("pages", "check") == (1, "", f"{DANGLING}checked 2 pages with 3 links: 1 problem\n")
    make(folder, {"docs/cups.md": "# Cups\n"})
    assert duvet("pages", "check") == (0, "", "checked 2 pages with 2 links: no problems\n")
    make(folder, {"docs/other.md": "---\nslug: cups\n---\n"})
    (folder / "docs/image.md").write_bytes(b"\0\1")
    done = duvet("pages", "check", "--format", "json")
    assert done.code == 1
    assert [one["code"] for one in json.loads(done.out)["problems"]] == ["DUV100", "DUV104", "DUV100"]


WRONG = [
    (("show",), "`show` takes the slug of a page"),
    (("list", "x"), "only `show` takes a slug"),
    (("show", "x", "--format", "csv"), "`show` writes text, json, markdown"),
    (("list", "--output", "x"), "--output goes with `check`"),
]


@pytest.mark.parametrize(("args", "said"), WRONG)
def test_wrong_usage(duvet: Run, args: tuple[str, ...], said: str) -> None:
    done = duvet("pages", *args)
    assert (done.code, done.out) == (2, "") and f"Error: {said}\n" in done.err


def test_nothing_is_written(duvet: Run, folder: Path) -> None:
    before = files(folder)
    for args in (("pages",), ("pages", "show", "kettle"), ("pages", "check")):
        duvet("--no-cache", *args)
    assert files(folder) == before
