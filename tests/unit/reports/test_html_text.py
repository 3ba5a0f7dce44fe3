"""The text of sections on the page"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from tests.unit.reports.made import finished
from tests.unit.reports.made_pages import page, tree
from tests.unit.reports.made_states import CONFIG, FILES, MANNERS, TEA

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
    """What stands between the lines of HTML, with its marks."""
    articles = tree(page(finished(files)), scripting=True).iter("article")
    return [text for article in articles for text in article.iter("pre")]


def parts(text: str) -> list[str]:
    return [part.partition("\n")[2].strip() for part in re.split(r"(?m)^#+ ", text) if part]


def test_text_is_that_of_the_specification() -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the text of a section line by line as in its specification, with a link from each
    ##% requirement to its details.
    assert ["".join(one.itertext()) for one in texts(FILES)] == [*parts(TEA), parts(MANNERS)[-1]]
    assert ["".join(one.itertext()) for one in texts(MANY_FILES)] == parts(MANY)


def test_lines_may_end_in_carriage_returns() -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the text of a section line by line as in its specification, with a link from each
    ##% requirement to its details.
    files = {path: text.replace("\n", "\r\n") for path, text in MANY_FILES.items()}
    assert ["".join(one.itertext()) for one in texts(files)] == parts(MANY)


def test_links_begin_requirements_and_marks_go_on() -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the text of a section line by line as in its specification, with a link from each
    ##% requirement to its details.
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


def test_what_is_left_out_is_said() -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST count the sections that it leaves out, and show every section of the cited specifications with
    ##% `spec-text = "full"`.
    shown = page(finished(FILES))
    assert '<p class="left-out">2 sections without citations are not embedded.</p>' in shown
    whole = page(finished(FILES), whole_text=True)
    assert "not embedded" not in whole
    assert [len(list(tree(one).iter("pre"))) for one in (shown, whole)] == [5, 6]


def test_a_specification_of_the_web_can_be_read_there() -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST count the sections that it leaves out, and show every section of the cited specifications with
    ##% `spec-text = "full"`.
    url = "https://example.com/manners.txt"
    files = {
        ".duvet/config.toml": CONFIG,
        "tea.md": TEA,
        ".duvet/specifications/example.com/manners.txt": "1. Hosts\n\n   None.\n\n2. Guests\n\n   Guests stay.\n",
        "src/a.rs": f"//= {url}#section-2\n//# Guests stay.\n",
    }
    (left_out,) = re.findall('<p class="left-out">(.*?)</p>', page(finished(files)))
    assert left_out == f'1 section without citations is not embedded: <a href="{url}">read the specification</a>'
