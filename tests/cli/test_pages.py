from collections.abc import Mapping
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, play
from tests.cli.sample_project import make
from tests.unit.knowledge.pages.page_projects import CONFIG, TRACE

PROJECT = {
    **TRACE,
    "docs/kettle.md": "---\ncreated: 2026-05-02\ntags: [water, heat]\n---\n# Kettle\n\nIt boils. See [[cups]] and [[spec#brewing]].\n",
    "docs/cups.md": "---\ncreated: 1969-07-20\n---\n# Cups\n\nOf [[ketle]].\n",
}
OTHER_PAGES = {"duvet.config.toml": "[[pages]]\npattern = 'notes/*.md'\n"}
UNSET = "providers: {model: {type: openai, apiKey: $DUVET_TEST_UNSET}}\npages: [{pattern: notes/**/*.md}]\n"
CITED = "[[source]]\npattern = 'docs/*.rs.md'\n"
WRONG = "//= docs/spec.md#brewing\n//# Tea MUST be  hott.\n\n[[nowhere]]\n"
HOSTILE = {"docs/x.md": "---\ncreated: 2026-01-01\n---\n# \x1b[31mred\n\n\x1b]0;title\x07\n"}
CONFIG_PATH = ".duvet/config.toml"
SCENARIOS: dict[str, tuple[str | Mapping[str, str], ...]] = {
    "lists": (
        *("pages", "pages list"),
        *(f"-q pages --format {format}" for format in ("table", "json", "jsonl", "csv", "markdown")),
    ),
    "page": (
        {
            "docs/tea.md": "---\ncreated: 2026-01-02\n---\n[[kettle]]",
            "docs/spec.md": "# Tea\n\n## Brewing\n\nTea MUST be hot.\n",
        },
        *("pages show kettle", "pages show kettle --format json", "pages show kettle --format markdown"),
        *("pages show ketle", HOSTILE, "pages", "pages show x", "pages show x --format markdown"),
    ),
    "problems": (
        *("pages check", {"docs/cups.md": "# Cups\n"}, "pages check"),
        *({"docs/other.md": "---\nslug: cups\n---\n", "docs/image.md": "\0\1"}, "pages check --format json"),
    ),
    "validate": (
        *("validate", "validate", "--no-cache validate", "validate --diff", "validate --fix", "validate --strict"),
        *("validate src", "validate docs/cups.md", {"docs/ketle.md": "# New\n"}, "validate"),
    ),
    "citations in a page": (
        {CONFIG_PATH: TRACE[CONFIG_PATH] + CITED, "docs/a.rs.md": WRONG},
        *("validate --unsafe-fixes docs/a.rs.md", "cat docs/a.rs.md"),
    ),
    # A variable that is not set changes no pages.
    "unset variable": (
        {"notes/one.md": "---\ncreated: 2026-05-01\n---\n# One\n", "duvet.config.yaml": f"{UNSET}nonsense: 1\n"},
        *("pages", "validate"),
    ),
    "no pages": ({f"empty/{CONFIG_PATH}": CONFIG}, "-C empty pages", "-C empty pages check"),
    "both files": (
        {**OTHER_PAGES, CONFIG_PATH: CONFIG + "[[pages]]\npattern = 'docs/*.md'\n"},
        *("pages", "mcp --check"),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_lists_and_problems_of_pages(name: str, duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/pages.md#checks
    ##% `duvet pages check` MUST exit with 1 if it finds a broken link, a duplicate slug or an unreadable page.
    ##= man/spec/pages.md#checks
    ##% `duvet validate` MUST report the problems of pages.
    gold.assert_match(play(duvet, folder, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


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
    (folder / "duvet.config.toml").unlink()
    make(folder, {"duvet.config.yaml": f"{UNSET}nonsense: 1\n"})
    assert 'id="pages/one"' in page() and 'id="pages/kettle"' not in page()


NOT_READ = {"pages: [{patern: x}]\n": "1:10", "pages: [\n": "2:1", f"$schema: x\n{UNSET}twice: 1\ntwice: 2\n": "5:1"}


def test_pages_that_nobody_can_tell(duvet: Run, folder: Path) -> None:
    for text, place in NOT_READ.items():
        make(folder, {"duvet.config.yaml": text})
        for line in ("pages", "--no-cache pages", "pages check", "validate", "report --html page.html"):
            done = duvet(*line.split())
            assert (done.code, done.out) == (1, "") and f" --> duvet.config.yaml:{place}\n" in done.err
        assert not (folder / "page.html").exists()
