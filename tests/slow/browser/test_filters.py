import re

from playwright.sync_api import Page, expect

from tests.slow.browser.pages import PHONE, Visits, address, go
from tests.slow.browser.reports import Report

Row = tuple[str, ...]
# The cells of every row, however much of the list is shown.
ROWS = """() => document.querySelector('#requirements noscript').textContent.split('\\n')
    .filter(line => line.startsWith('<tr class=s'))
    .map(line => line.split(/<td[^>]*>/).slice(1).map(cell => cell.replace(/<[^>]*>/g, '')))"""


def rows(page: Page) -> list[Row]:
    return [tuple(row) for row in page.evaluate(ROWS)]


def test_the_filters_of_links(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#requirements?")
    all_rows = rows(page)
    for query, is_wanted in {
        "status=needs-tests": lambda row: "needs tests" in row[0],
        "status=missing-test": lambda row: "needs tests" in row[0],
        "status=uncited,to-do": lambda row: "uncited" in row[0] or "to do" in row[0],
        "level=SHOULD": lambda row: row[1] == "SHOULD",
        "level=MUST,MAY": lambda row: row[1] in ("MUST", "MAY"),
        "spec=rfc8446": lambda row: row[2].startswith("RFC 8446"),
        "test=yes": lambda row: row[5] != "0",
        "test=no": lambda row: row[5] == "0",
        "q=ClientHello": lambda row: "clienthello" in row[3].lower(),
        "spec=rfc8446&level=MUST&status=needs-tests&test=no": lambda row: (
            row[2].startswith("RFC 8446") and row[1] == "MUST" and "needs tests" in row[0] and row[5] == "0"
        ),
        "": lambda row: True,
    }.items():
        go(page, f"#requirements?{query}")
        expected = sum(map(is_wanted, all_rows))
        expect(page.locator("#count")).to_have_text(re.compile(rf"^{expected} "))
        assert page.locator("#requirements tbody tr").count() >= min(100, expected) > 0


def test_filters_are_in_the_address_and_remembered(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#requirements")
    for value in ("uncited", "to-do", "MUST"):
        page.check(f"#filters [value={value}]")
    page.fill("#filters [name=q]", "server hello")
    expect(page).to_have_url(f"{s2n.url}#requirements?status=uncited,to-do&level=MUST&q=server%20hello")
    said, found = page.locator("#count").inner_text(), page.locator("#requirements tbody").inner_text()
    page.reload()
    expect(page.locator("#count")).to_have_text(said)
    assert page.locator("#requirements tbody").inner_text() == found
    assert page.input_value("#filters [name=q]") == "server hello"
    assert page.is_checked("#filters [value=to-do]")
    for fragment, expected in (("#requirements", said), ("#requirements?", "798 requirements")):
        page.goto("about:blank")
        page.goto(s2n.url + fragment)
        expect(page.locator("#count")).to_have_text(expected)
    # A long list is shown bit by bit, to its end.
    expect(page.locator("#requirements tbody tr")).to_have_count(798)


def test_filters_are_folded_on_a_phone(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#requirements", **PHONE)
    expect(page.locator("#filters [name=q]")).to_be_visible()
    expect(page.locator("#filters [value=uncited]")).to_be_hidden()
    assert page.evaluate("document.querySelector('#filters').offsetHeight") < 130
    page.tap("#filters summary")
    page.check("#filters [value=uncited]")
    expect(page).to_have_url(f"{states.url}#requirements?status=uncited")
    page.tap("#filters summary")
    expect(page.locator("#filters [value=uncited]")).to_be_hidden()
    marked = "getComputedStyle(document.querySelector('#filters summary'), '::after').content"
    assert page.evaluate(marked) == '" (in use)"'
    wide = visit(f"{states.url}#requirements")
    expect(wide.locator("#filters [value=uncited]")).to_be_visible()
    expect(wide.locator("#filters summary")).to_be_hidden()


def test_text_is_found(visit: Visits, s2n: Report, states: Report) -> None:
    page = visit(f"{s2n.url}#requirements")
    for text in ("ClientHello", "CLIENTHELLO", "  clienthello ", "rfc  8446,", "section-4.2.8"):
        page.fill("#filters [name=q]", text)
        expect(page.locator("#count")).to_have_text(re.compile(r"^[1-9]\d* of 798 requirements"))
    page = visit(f"{states.url}#requirements")
    # Words are found across line ends.
    for text, found in (("should BE\u00a0  round", "It SHOULD be round."), ("be <b>brown", "It MAY be <b>brown</b>.")):
        page.fill("#filters [name=q]", text)
        expect(page.locator("#requirements tbody td:nth-child(4)")).to_have_text([found])


def test_choices_and_their_counts(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#requirements?status=todo")
    count, query = page.locator("#count"), page.locator("#filters [name=q]")
    expect(count).to_have_text("2 of 10 requirements")
    page.click("#filters [type=reset]")
    select = page.locator("#filters [name=feature]")
    expect(select.locator("option")).to_have_text(["any", "cutlery", "later"])
    select.select_option("cutlery")
    expect(count).to_have_text("1 of 10 requirements")
    assert address(page) == "#requirements?feature=cutlery"
    page.click("#filters [type=reset]")
    query.fill("coffee")
    expect(count).to_have_text("No matches: clear filters")
    page.click("#count button")
    expect(count).to_have_text("10 requirements")
    assert (query.input_value(), address(page)) == ("", "#requirements?")
    page.check("#filters [value=MAY]")
    expect(count).to_have_text("4 of 10 requirements")
    page.click("#filters [type=reset]")
    expect(count).to_have_text("10 requirements")
    # The return key leaves the reader on the page.
    query.fill("pot")
    query.press("Enter")
    expect(count).to_have_text("6 of 10 requirements")


def test_results_are_filtered_by_source(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#sources")
    files, count = page.locator("#sources .file"), page.locator("#source-count")
    expect(count).to_have_text("2 files")
    page.fill("#source-filter [name=q]", "A.RS")
    expect(count).to_have_text("1 of 2 files")
    expect(files).to_have_count(1)
    assert address(page) == "#sources?q=A.RS"
    page.reload()
    expect(files).to_have_count(1)
    expect(count).to_have_text("1 of 2 files")


def test_filters_without_a_choice_are_hidden(visit: Visits, h3: Report) -> None:
    page = visit(f"{h3.url}#requirements?")
    expect(page.locator("select[name=spec]")).to_be_visible()
    expect(page.locator("select[name=test]")).to_be_visible()
    expect(page.locator("select[name=tag]")).to_be_hidden()
