"""Specifications in the HTML report: their text, their requirements, citations and sources."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

import pytest

from tests.unit.reports.html.html_pages import page, tree, values
from tests.unit.reports.report_projects import CONFIG, STATES, finished

MANY = """\
# Many

Both MUST be. Both MUST be here. Tabs	MUST keep ☕ columns.
Both MUST be.
  漢字 SHOULD e\u0301 stay.
"""
MANY_FILES = {
    ".duvet/config.toml": CONFIG.replace("tea.md", "many.md"),
    "many.md": MANY,
    "src/a.rs": "//= many.md#many\n//# Both MUST be.\n",
    "more/b.toml": 'target = "many.md#many"\n\n[[spec]]\nlevel = "MAY"\nquote = "be here. Tabs"\n',
}


def texts(files: dict[str, str]) -> list[Element]:
    """Return the text between HTML tags, with its marks."""
    articles = tree(page(finished(files)), scripting=True).iter("article")
    return [text for article in articles for text in article.iter("pre")]


def parts(text: str) -> list[str]:
    return [part.partition("\n")[2].strip() for part in re.split(r"(?m)^#+ ", text) if part]


def test_the_text_is_that_of_the_specification() -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the text of a section with the line breaks of its specification, and link each requirement
    ##% in it to the requirement's details.
    with_returns = {path: text.replace("\n", "\r\n") for path, text in MANY_FILES.items()}
    found = [["".join(one.itertext()) for one in texts(files)] for files in (STATES, MANY_FILES, with_returns)]
    assert found == [[*parts(STATES["tea.md"]), parts(STATES["manners.md"])[-1]], parts(MANY), parts(MANY)]


def test_links_begin_requirements_and_marks_go_on() -> None:
    be, here, across, tabs, kanji = (one.id[:12] for one in finished(MANY_FILES).requirements)
    (text,) = texts(MANY_FILES)
    found = [(one.tag, one.get("class"), (one.get("href") or "")[-12:], one.get("data-r"), one.text) for one in text]
    assert found == [
        ("a", "s4 g", be, None, "Both MUST be."),
        ("a", "s0", here, None, "Both MUST "),
        ("a", "s0", across, f"{here} {across}", "be here."),
        ("mark", "s0", "", None, " "),
        ("a", "s0", tabs, f"{tabs} {across}", "Tabs"),
        ("mark", "s0", "", None, "\tMUST keep ☕ columns."),
        ("a", "s0 g", kanji, None, "漢字 SHOULD e\u0301 stay."),
    ]


def test_sections_that_are_left_out_are_counted() -> None:
    shown, whole = page(finished(STATES)), page(finished(STATES), whole_text=True)
    assert '<p class="left-out">2 sections without citations are not shown.</p>' in shown
    assert "not embedded" not in whole
    assert [len(list(tree(one).iter("pre"))) for one in (shown, whole)] == [5, 6]


def test_a_specification_of_the_web_can_be_read_there() -> None:
    url = "https://example.com/manners.txt"
    text = "1. Hosts\n\n   None.\n\n2. Guests\n\n   Guests stay.\n"
    files = {".duvet/config.toml": CONFIG, "tea.md": STATES["tea.md"]}
    files[".duvet/specifications/example.com/manners.txt"] = text
    files["src/a.rs"] = f"//= {url}#section-2\n//# Guests stay.\n"
    (left_out,) = re.findall('<p class="left-out">(.*?)</p>', page(finished(files)))
    assert left_out == f'1 section without citations is not shown: <a href="{url}">read the specification</a>'


BLOB = "https://git.example/o/r/blob/main"


def cites(text: str, kind: str = "citation", section: str = "pot") -> str:
    return f"//= tea.md#{section}\n//= type={kind}\n//# {text}\n\n"


HALF = (
    *(cites("The pot MUST be warm."), cites("The pot", "test"), cites("A cup", section="cup")),
    cites("A cup MUST be clean and\n//# MUST be dry.", "test", "cup"),
    cites("The pot MUST be warm.", "exception", "milk"),
)


def test_missing_citations_of_a_requirement() -> None:
    assert re.findall("<p class=lacks>(.*?)</p>", page(finished(STATES | {"src/a.rs": "".join(HALF)}))) == [
        "Code cites all of it; tests cite only a part.",
        "Tests cite all of it; code cites only a part.",
        "An exception has no reason.",
    ]


def test_reasons_for_a_state() -> None:
    warm, round_ = "The pot MUST be warm.", "It SHOULD be round."
    made = (cites(warm), cites(warm, "test"), cites(round_), cites(round_, "test"), cites("It SHOULD", "implication"))
    cup = "A cup MUST be clean and\n//# MUST be dry."
    found = page(finished(STATES | {"src/a.rs": "".join((*made, cites(cup, "implication", "cup")))}))
    assert re.findall("<p class=lacks>(.*?)</p>", found) == [
        "Code and tests cite all of it.",
        "Code, tests or implications cite each part of it.",
        "Implications cite all of it.",
    ]


def test_an_empty_section_does_not_repeat_the_title() -> None:
    files = {".duvet/config.toml": CONFIG, "tea.md": "# The `tea`\n\n## Pot\n\nIt MUST be warm.\n\n## Cup\n"}
    shown = page(finished(files))
    assert '<h2 tabindex="-1">The tea</h2>' in shown
    assert '<section class=part id="tea/the-tea"></section>' in shown
    headings = [heading for part in tree(shown).iter("article") for heading in part.iter("h3")]
    assert ["".join(heading.itertext()) for heading in headings] == ["Pot", "Cup"]


def test_only_text_that_is_not_shown_is_described() -> None:
    paragraph = "This is how to make tea."
    files = {".duvet/config.toml": CONFIG, "tea.md": f"# Tea\n\n{paragraph}\n\nIt MUST be warm.\n"}
    assert page(finished(files)).count(paragraph) == 1


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("src/a b.rs", "src/a%20b.rs"),
        ("src/a#b?c.rs", "src/a%23b%3Fc.rs"),
        ("src/100%\\.rs", "src/100%25%5C.rs"),
        ("src/é/☕.rs", "src/%C3%A9/%E2%98%95.rs"),
        ('src/"<a>&amp;.rs', "src/%22%3Ca%3E%26amp%3B.rs"),
    ],
)
def test_links_to_files_of_any_name(path: str, url: str) -> None:
    source = "//= tea.md#milk\n//# The pot MUST be warm.\n"
    shown = tree(page(finished({".duvet/config.toml": CONFIG, "tea.md": STATES["tea.md"], path: source}, BLOB)))
    links = [link for link in values(shown, "href") if link.startswith("http")]
    assert links == [f"{BLOB}/{url}#L1", f"{BLOB}/{url}#L1", f"{BLOB}/{url}"]
    assert path in "".join(shown.itertext())


def test_names_of_files_and_code_are_shown_as_text() -> None:
    more = {"src/a\nb\r.rs": "//= tea.md#milk\n//# The pot MUST be warm.\n"}
    shown = page(finished(STATES | more), snippets={0: "if a < b:\n    c()"})
    assert "\n<div class=file><h4>src/a b .rs</h4><ol><li>" in shown.partition('id="sources"')[2]
    # The code of a citation is text.
    assert "<li><code>more/b.toml:7</code> <q>we have none</q><pre>if a &lt; b:\n    c()</pre>\n" in shown


def test_a_citation_of_nothing_is_listed_with_what_is_wrong() -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST list the citations of each file and of each requirement, each with place, type, target, reason,
    ##% feature, tracking issue and tags.
    shown = page(finished(STATES | {"src/b/c.rs": "//= tea.md#nowhere\n//= type=test\n//# A\n"}, BLOB))
    sources = shown.partition('id="sources"')[2].partition("<noscript>\n")[2].partition("</noscript>")[0]
    assert sources.splitlines()[-2:] == [
        "<h3 class=folder>src/b/</h3>",
        (
            f'<div class=file><h4><a href="{BLOB}/src/b/c.rs">src/b/c.rs</a></h4>'
            '<ol><li class=bad>line 1, test: missing section "nowhere" in tea.md</ol></div>'
        ),
    ]
