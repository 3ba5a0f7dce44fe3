"""`duvet pages`, problems of pages in `duvet validate`, and which files are pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, failed, refuses
from tests.cli.sample_project import make
from tests.unit.knowledge.pages.page_projects import CONFIG, TRACE

PROJECT = {
    **TRACE,
    "docs/kettle.md": "---\ncreated: 2026-05-02\ntags: [water, heat]\n---\n# Kettle\n\nIt boils. See [[cups]] and [[spec#brewing]].\n",
    "docs/cups.md": "---\ncreated: 1969-07-20\n---\n# Cups\n\nOf [[ketle]].\n",
}
DANGLING = """\
warning: link to unknown page `ketle` [DUV103]
 --> docs/cups.md:6:4
  |
6 | Of [[ketle]].
  |    ^^^^^^^^^
  = help: did you mean kettle?

"""
WARNED = (0, "", f"{DANGLING}checked 1 annotation in 1 file: 1 warning\n")
FINE = (0, "", "checked 1 annotation in 1 file: no problems\n")
OTHER_PAGES = {"duvet.config.toml": "[[pages]]\npattern = 'notes/*.md'\n"}


def test_pages_are_listed(duvet: Run) -> None:
    plain = "kettle\t2026-05-02\twater, heat\tdocs/kettle.md\tKettle\ncups\t1969-07-20\t\tdocs/cups.md\tCups\n"
    assert duvet("pages") == duvet("pages", "list") == (0, plain, "2 pages\n")
    rows = [line.split("\t") for line in plain.splitlines()]
    keys = ("slug", "created", "tags", "path", "title")
    assert json.loads(duvet("-q", "pages", "--format", "json").out) == [
        dict(zip(keys, (slug, f"{day}T00:00:00Z", tags.split(", ") * (tags > ""), path, title), strict=True))
        for slug, day, tags, path, title in rows
    ]
    for format in ("table", "jsonl", "csv", "markdown"):
        done = duvet("-q", "pages", "--format", format)
        assert (done.code, done.err, done.out.count("docs/")) == (0, "", 2)


def test_a_page_is_shown(duvet: Run, folder: Path, gold: Snapshot) -> None:
    make(folder, {"docs/tea.md": "[[kettle]]", "docs/spec.md": "# Tea\n\n## Brewing\n\nTea MUST be hot.\n"})
    done = duvet("pages", "show", "kettle")
    assert (done.code, done.err) == (0, "")
    gold.assert_match(done.out, "kettle.txt")
    found = json.loads(duvet("pages", "show", "kettle", "--format", "json").out)
    assert (found["outlinks"], found["backlinks"]) == (["cups"], ["tea"])
    assert found["requirements"][0]["citations"] == [{"file_path": "src/tea.rs", "line_number": 1, "type": "citation"}]
    assert duvet("pages", "show", "kettle", "--format", "markdown").out.startswith("## Kettle\n\n- slug: kettle\n")
    assert duvet("pages", "show", "ketle") == failed("Page 'ketle' not found [DUV120]", hint="did you mean kettle?")
    make(folder, {"docs/x.md": "# \x1b[31mred\n\n\x1b]0;title\x07\n"})
    for args in ("pages", "pages show x", "pages show x --format markdown"):
        done = duvet(*args.split())
        assert done.code == 0 and "\x1b" not in done.out


def test_problems_of_pages(duvet: Run, folder: Path) -> None:
    ##= man/spec/pages.md#checks
    ##% `duvet pages check` MUST exit with 1 if it finds a broken link, a duplicate slug or an unreadable page.
    assert duvet("pages", "check") == (
        1,
        "",
        f"{DANGLING.removesuffix(chr(10))}checked 2 pages with 3 links: 1 problem\n",
    )
    make(folder, {"docs/cups.md": "# Cups\n"})
    assert duvet("pages", "check") == (0, "", "checked 2 pages with 2 links: no problems\n")
    make(folder, {"docs/other.md": "---\nslug: cups\n---\n"})
    (folder / "docs/image.md").write_bytes(b"\0\1")
    done = duvet("pages", "check", "--format", "json")
    assert done.code == 1
    assert [one["code"] for one in json.loads(done.out)["problems"]] == ["DUV100", "DUV104", "DUV100"]


def test_validate_checks_pages(duvet: Run, folder: Path) -> None:
    ##= man/spec/pages.md#checks
    ##% `duvet validate` MUST report the problems of pages.
    assert duvet("validate") == duvet("validate") == duvet("--no-cache", "validate") == WARNED
    assert duvet("validate", "--diff") == duvet("validate", "--fix") == WARNED
    assert duvet("validate", "--strict").code == 1
    assert duvet("validate", "src") == (0, "", "checked 1 annotation in 1 file: no problems\n")
    assert duvet("validate", "docs/cups.md") == (0, "", f"{DANGLING}checked 0 annotations in 0 files: 1 warning\n")
    make(folder, {"docs/ketle.md": "# New\n"})
    assert duvet("validate") == FINE
    (folder / "docs/ketle.md").unlink()
    assert duvet("validate") == WARNED


def test_validate_pages_elsewhere_and_from_standard_input(duvet: Run, folder: Path, tmp_path: Path) -> None:
    make(tmp_path, {"elsewhere/secret.md": "[[nowhere]]", "project/docs/d.md": "---\nslug: cups\n---\n"})
    (folder / "docs/link.md").symlink_to(tmp_path / "elsewhere/secret.md")
    for option in ((), ("--fix",), ("--diff",)):
        assert [duvet("validate", *option, f"docs/{name}.md").code for name in ("d", "cups", "kettle")] == [1, 1, 0]
    for option in ((), ("--diff",)):
        done = duvet("validate", *option, "--stdin-path", "docs/../docs/kettle.md", "-", input=b"x [[nowhere]]")
        assert (done.code, done.out) == (0, "")
        assert done.err == (
            "warning: link to unknown page `nowhere` [DUV103]\n --> docs/kettle.md:1:3\n  |\n1 | x [[nowhere]]\n"
            "  |   ^^^^^^^^^^^\n  = help: create the page, or remove the link\n\n"
            "checked 0 annotations in 0 files: 1 warning\n"
        )


def test_citations_in_a_page_are_fixed(duvet: Run, folder: Path) -> None:
    config = TRACE[".duvet/config.toml"] + "[[source]]\npattern = 'docs/*.rs.md'\n"
    text = "//= docs/spec.md#brewing\n//# Tea MUST be  hott.\n\n[[nowhere]]\n"
    make(folder, {".duvet/config.toml": config, "docs/a.rs.md": text})
    done = duvet("validate", "--unsafe-fixes", "docs/a.rs.md")
    assert (folder / "docs/a.rs.md").read_text() == text.replace(" hott", "hot")
    assert "--> docs/a.rs.md:4:1\n" in done.err


def test_the_configuration_of_the_service_says_which_files_are_pages(duvet: Run, folder: Path) -> None:
    def page() -> str:
        duvet("report", "--html", "page.html")
        return (folder / "page.html").read_text()

    assert 'id="pages/kettle"' in page()
    make(folder, {**OTHER_PAGES, "notes/one.md": "# One\n[[two]]"})
    assert 'id="pages/one"' in page() and 'id="pages/kettle"' not in page()
    make(folder, {"notes/one.md": "# Other\n[[two]]"})
    assert "<h4>Other</h4>" in page()
    assert duvet("-q", "pages").out.split("\t")[0] == "one"
    assert "link to unknown page `two`" in duvet("validate").err


UNSET = "providers: {model: {type: openai, apiKey: $DUVET_TEST_UNSET}}\npages: [{pattern: notes/**/*.md}]\n"


def test_a_variable_that_is_not_set_changes_no_pages(duvet: Run, folder: Path) -> None:
    make(folder, {"notes/one.md": "---\ncreated: 2026-05-01\n---\n# One\n"})
    make(folder, {"duvet.config.yaml": f"{UNSET}nonsense: 1\n"})
    assert duvet("pages") == (0, "one\t2026-05-01\t\tnotes/one.md\tOne\n", "1 page\n")
    assert duvet("validate") == FINE
    duvet("report", "--html", "page.html")
    page = (folder / "page.html").read_text()
    assert 'id="pages/one"' in page and 'id="pages/kettle"' not in page


@pytest.mark.parametrize(
    ("text", "place"),
    [("pages: [{patern: x}]\n", "1:10"), ("pages: [\n", "2:1"), (f"$schema: x\n{UNSET}twice: 1\ntwice: 2\n", "5:1")],
)
@pytest.mark.parametrize("args", ["pages", "pages check", "validate", "report --html page.html"])
def test_pages_that_nobody_can_tell(text: str, place: str, args: str, duvet: Run, folder: Path) -> None:
    make(folder, {"duvet.config.yaml": text})
    for more in ((), ("--no-cache",)):
        done = duvet(*more, *args.split())
        assert (done.code, done.out) == (1, "") and f" --> duvet.config.yaml:{place}\n" in done.err
    assert not (folder / "page.html").exists()


def test_pages_that_are_configured_in_both_files(duvet: Run, folder: Path) -> None:
    make(folder, {**OTHER_PAGES, ".duvet/config.toml": CONFIG + "[[pages]]\npattern = 'docs/*.md'\n"})
    for line in ("pages", "mcp --check"):
        refuses(duvet, line, 1, "this table is also in `.duvet/config.toml:6:3`")
