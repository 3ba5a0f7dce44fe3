"""`duvet pages`, and what `duvet validate` says of pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.made import make
from tests.commands.running import Run, files, runner
from tests.knowledge.pages.made import CONFIG, TRACE

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


def test_the_list(duvet: Run) -> None:
    ##= man/spec/pages.md#command
    ##= type=test
    ##% `duvet pages` MUST list all pages, the newest first, and say how many there are.
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
    ##= man/spec/pages.md#command
    ##= type=test
    ##% `duvet pages show` MUST show a page with its text, its links in both directions, the requirements that it names and
    ##% the code that cites these.
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
    ##= man/spec/pages.md#command
    ##= type=test
    ##% `duvet pages check` MUST list links that lead nowhere, slugs that clash and pages that can't be read, and MUST exit
    ##% with 1 if there are any.
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


def test_validate(duvet: Run) -> None:
    ##= man/spec/pages.md#checks
    ##= type=test
    ##% `duvet validate` MUST list what is wrong with pages, too.
    expected = (0, "", f"{DANGLING}checked 3 annotations in 2 files: 1 warning\n")
    assert duvet("validate") == duvet("validate") == duvet("--no-cache", "validate") == expected
    assert duvet("validate", "--strict").code == 1
    assert duvet("validate", "src") == (0, "", "checked 1 annotation in 1 file: no problems\n")
    assert duvet("validate", "docs/cups.md") == (0, "", f"{DANGLING}checked 0 annotations in 0 files: 1 warning\n")


def test_an_edit_of_a_page_is_in_the_next_answer(duvet: Run, folder: Path) -> None:
    assert "1 warning" in duvet("validate").err
    make(folder, {"docs/ketle.md": "# New\n"})
    assert duvet("validate") == (0, "", "checked 3 annotations in 2 files: no problems\n")
    (folder / "docs/ketle.md").unlink()
    assert "1 warning" in duvet("validate").err


def test_the_configuration_of_the_service(duvet: Run, folder: Path) -> None:
    make(folder, {"duvet.config.toml": "[[pages]]\npattern = 'notes/*.md'\n", "notes/one.md": "[[two]]"})
    assert duvet("-q", "pages").out.split("\t")[0] == "one"
    assert "there is no page `two`" in duvet("validate").err
    make(folder, {".duvet/config.toml": CONFIG + "[[pages]]\npattern = 'docs/*.md'\n"})
    done = duvet("mcp", "--check")
    assert done.code == 1 and "this stands in `.duvet/config.toml:6:3`, too" in done.err


def test_nothing_is_written(duvet: Run, folder: Path) -> None:
    before = files(folder)
    for args in (("pages",), ("pages", "show", "kettle"), ("pages", "check")):
        duvet("--no-cache", *args)
    assert files(folder) == before


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
    ##= man/spec/pages.md#files
    ##= type=test
    ##% What is wrong with other tables of the configuration of the service, or a variable that is not set, MUST NOT keep
    ##% its table `pages` from being in force.
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
    ##% A configuration of the service that can't tell which files are pages MUST be an error that names it.
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


def test_validate_with_mending_and_with_standard_input(duvet: Run, folder: Path, tmp_path: Path) -> None:
    ##= man/spec/pages.md#checks
    ##= type=test
    ##% It MUST do so with `--fix` and `--diff` as well, and of a page that it is given on standard input.
    expected = (0, "", f"{DANGLING}checked 3 annotations in 2 files: 1 warning\n")
    assert duvet("validate", "--diff") == duvet("validate", "--fix") == expected
    make(tmp_path, {"elsewhere/secret.md": "[[nowhere]]", "tea/docs/d.md": "---\nslug: cups\n---\n"})
    given = tmp_path / "given"
    given.write_text("x [[nowhere]]")
    (folder / "docs/link.md").symlink_to(tmp_path / "elsewhere/secret.md")
    for option in ((), ("--fix",), ("--diff",)):
        assert [duvet("validate", *option, f"docs/{name}.md").code for name in ("d", "cups", "kettle")] == [1, 1, 0]
        if option == ("--fix",):
            continue
        with given.open("rb") as stream:
            done = duvet("validate", *option, "--stdin-path", "docs/../docs/kettle.md", "-", stdin=stream)
        assert (done.code, done.out) == (0, "")
        assert done.err == (
            "warning: there is no page `nowhere` [DUV103]\n --> docs/kettle.md:1:3\n  |\n1 | x [[nowhere]]\n"
            "  |   ^^^^^^^^^^^\n  = help: write the page, or take the link out\n\n1 warning\n"
            "checked 0 annotations in 0 files: 1 warning\n"
        )


def test_what_is_mended_in_a_page(duvet: Run, folder: Path) -> None:
    config = TRACE[".duvet/config.toml"] + "[[source]]\npattern = 'docs/*.rs.md'\n"
    text = "//= docs/spec.md#brewing\n//# Tea MUST be  hott.\n\n[[nowhere]]\n"
    make(folder, {".duvet/config.toml": config, "docs/a.rs.md": text})
    done = duvet("validate", "--fix", "docs/a.rs.md")
    assert (folder / "docs/a.rs.md").read_text() == text.replace(" hott", "hot")
    assert "--> docs/a.rs.md:4:1\n" in done.err
