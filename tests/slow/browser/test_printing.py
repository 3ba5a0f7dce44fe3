"""Printed, a view is whole: every row, every line, and the signs that colours stand for."""

from __future__ import annotations

from io import BytesIO
from unicodedata import normalize

import pytest
from playwright.sync_api import Page
from pypdf import PdfReader

from tests.golden_projects import requirements_of
from tests.slow.browser.reading import go
from tests.slow.browser.reports import Report
from tests.slow.browser.visits import Visits

A4_WIDTH = 718
"""Pixels of a sheet between the margins that a browser leaves."""


def printed(page: Page) -> list[str]:
    """The text of each sheet."""
    return [sheet.extract_text() for sheet in PdfReader(BytesIO(page.pdf(format="A4"))).pages]


def squeezed(text: str) -> str:
    """Without blanks and ligatures: a sheet wraps lines where it likes, and its fonts join letters."""
    return "".join(normalize("NFKC", text).split())


def test_the_list_is_printed_with_all_its_rows(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#requirements?")
    page.locator("#requirements tbody tr").first.wait_for()
    sheets = printed(page)
    texts = [text for _, _, text in requirements_of(s2n.json)]
    whole = squeezed("".join(sheets))
    assert len(texts) > 700
    assert [text for text in texts if squeezed(text)[:12] not in whole] == []
    assert all(any(sign in sheet for sign in "✗◑◐◔✓…∅⇒") for sheet in sheets)
    repeated = [sheet for sheet in sheets if "status" in sheet.lower() and "level" in sheet.lower()]
    assert len(repeated) >= len(sheets) - 1


def test_a_specification_is_printed_whole(visit: Visits, s2n: Report) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% On paper, a view MUST be complete, and without other views.
    page = visit(s2n.url)
    go(page, "#rfc5746")
    lines = page.locator('[id="rfc5746"] section.part > pre').evaluate_all(
        "texts => texts.flatMap(text => text.textContent.split('\\n'))"
    )
    whole = squeezed("".join(printed(page)))
    assert len(lines) > 50
    assert [line for line in lines if squeezed(line) and squeezed(line) not in whole] == []


def test_a_printed_specification_has_its_references(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    whole = squeezed("".join(printed(page)))
    places = [f"{one['source']}:{one['line']}" for one in states.json["annotations"] if one.get("type") != "SPEC"]
    cited = [place for place in places if place.startswith("src/") and place != "src/a.rs:40"]
    assert cited and [place for place in cited if place.split(":")[0] not in whole] == []


@pytest.mark.parametrize("fragment", ["", "#tea", "#requirements?", "#sources", "#problems"])
def test_nothing_is_cut_off(fragment: str, visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}{fragment}")
    page.set_viewport_size({"width": A4_WIDTH, "height": 1123})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= A4_WIDTH
    assert (
        page.locator("main *").evaluate_all(
            "all => all.filter(one => one.clientWidth && getComputedStyle(one).overflowX !== 'visible'"
            " && one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML.slice(0, 80))"
        )
        == []
    )


@pytest.mark.parametrize("fragment", ["", "#requirements?"])
def test_what_is_wide_is_not_made_smaller_to_fit_a_sheet(fragment: str, visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}{fragment}", viewport={"width": A4_WIDTH, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") == A4_WIDTH


def test_what_is_no_part_of_the_view_is_not_printed(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    page.emulate_media(media="print")
    for name in ("#specifications", "#panel", "#theme", "#keys", "nav.views"):
        assert not page.locator(name).is_visible()
