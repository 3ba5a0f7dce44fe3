"""Links to places on the page."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import Visits
from tests.unit.reports.made_states import FILES

SECTION = "rfc8446/section-4.2.8"

# How far an element is below the place where what was scrolled to stands.
BELOW_TOP = """element => element.getBoundingClientRect().top
    - (parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0)"""


def shown(page: Page) -> list[str]:
    """The views that can be seen."""
    return [str(view.get_attribute("id")) for view in page.locator("main > .view").all() if view.is_visible()]


def stands_at_top(page: Page, selector: str) -> None:
    """Whether an element has come to the top and stays there."""
    page.wait_for_function(f"([one]) => Math.abs(({BELOW_TOP})(document.querySelector(one))) < 5", arg=[selector])
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert abs(page.locator(selector).first.evaluate(BELOW_TOP)) < 5


def a_requirement(page: Page) -> str:
    """The anchor of a requirement in the middle of a long specification."""
    anchors = page.locator("#rfc8446 li[id]").evaluate_all("all => all.map(one => one.id)")
    return str(anchors[len(anchors) // 2])


def test_the_overview_comes_first(visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url)
    assert shown(page) == ["overview"]
    assert page.evaluate("document.activeElement === document.body")
    assert page.locator("nav [aria-current]").all_inner_texts() == ["Overview"]


def test_a_link_to_a_specification(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#rfc8446")
    assert shown(page) == ["rfc8446"]
    expect(page.locator("#rfc8446 h2")).to_be_focused()
    expect(page).to_have_title(re.compile("^RFC 8446 · "))
    assert page.locator("#specifications .contents").count() == 1
    page.click("nav.views a[href='#problems']")
    assert shown(page) == ["problems"]
    assert page.locator("#rfc8446 > .contents").count() == 1


def test_a_link_to_a_section(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#{SECTION}")
    assert shown(page) == ["rfc8446"]
    stands_at_top(page, f"[id='{SECTION}']")
    expect(page.locator(f"[id='{SECTION}'] h3 a").first).to_be_focused()


def test_a_link_to_a_requirement(visit: Visits, s2n: Report) -> None:
    ##= man/spec/page.md#links
    ##% A link into the report MUST lead to what it names or, with a notice, to the nearest place that the report
    ##% contains.
    anchor = a_requirement(visit(s2n.url))
    page = visit(f"{s2n.url}#{anchor}")
    for _ in range(2):
        assert shown(page) == ["rfc8446"]
        stands_at_top(page, f"pre a[href='#{anchor}']")
        expect(page.locator("#panel")).to_be_visible()
        expect(page.locator("#panel-title")).to_be_focused()
        page.reload()


def test_a_link_from_another_document(visit: Visits, s2n: Report) -> None:
    anchor = a_requirement(visit(s2n.url))
    page = visit("data:text/html,<p>elsewhere")
    page.goto(f"{s2n.url}#{anchor}")
    stands_at_top(page, f"pre a[href='#{anchor}']")
    expect(page.locator("#panel-title")).to_be_focused()


def test_a_link_to_cited_text(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#manners/guests/cited")
    assert shown(page) == ["manners"]
    expect(page.locator("#panel-title")).to_have_text("• cited")
    expect(page.locator("#panel .references")).to_contain_text("src/a.rs:33")


def test_links_stay_when_other_comments_change(visit: Visits, reports: Reports) -> None:
    changed = {**FILES, "src/0.rs": "//= tea.md#pot\n//# Pots come first.\n", "src/z.rs": FILES["src/a.rs"]}
    del changed["src/a.rs"]
    links = "all => all.map(one => one.id)"
    before = visit(reports.of("states", FILES).url).locator("li[id]").evaluate_all(links)
    after = visit(reports.of("changed", changed).url).locator("li[id]").evaluate_all(links)
    assert before == after


def test_routes_of_awslabs_duvet(visit: Visits, s2n: Report) -> None:
    ##= man/spec/page.md#links
    ##% The anchors of awslabs duvet's report MUST lead to the same specification and section.
    found = visit(s2n.url).locator("#rfc8446").get_attribute("data-locator")
    assert found is not None
    locator = quote(found, safe="")
    page = visit(f"{s2n.url}#/spec/{locator}")
    assert shown(page) == ["rfc8446"]
    assert page.evaluate("location.hash") == "#rfc8446"
    page = visit(f"{s2n.url}#/spec/{locator}/section-4.2.8#A12,A13")
    stands_at_top(page, f"[id='{SECTION}']")
    assert page.evaluate("location.hash") == f"#{SECTION}"


@pytest.mark.parametrize("hash", ["nowhere", "/spec/nowhere/section-1", "%E0%A4%A", "nowhere/at/all"])
def test_a_link_to_nothing(visit: Visits, states: Report, hash: str) -> None:
    page = visit(f"{states.url}#{hash}")
    assert shown(page) == ["overview"]
    expect(page.locator("#notice")).to_contain_text("not in this report")
    page.click("nav.views a[href='#problems']")
    expect(page.locator("#notice")).to_be_hidden()


def test_a_link_to_a_requirement_that_has_gone(visit: Visits, states: Report) -> None:
    ##= man/spec/page.md#links
    ##% A link into the report MUST lead to what it names or, with a notice, to the nearest place that the report
    ##% contains.
    page = visit(f"{states.url}#tea/pot/000000000000")
    assert shown(page) == ["tea"]
    expect(page.locator("#notice")).to_have_text("tea/pot/000000000000 is not in this report.")


def test_back_and_forward(visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url)
    page.click("nav.views a[href='#requirements']")
    page.check("#filters [value=uncited]")
    link = page.locator("#requirements tbody a").nth(40)
    href = link.get_attribute("href")
    link.click()
    expect(page.locator("#panel-title")).to_be_focused()
    page.go_back()
    assert shown(page) == ["requirements"]
    expect(page.locator("#panel")).to_be_hidden()
    assert page.is_checked("#filters [value=uncited]")
    expect(link).to_be_focused()
    assert link.evaluate(
        "one => { const at = one.getBoundingClientRect(); return at.top > 0 && at.bottom < innerHeight }"
    )
    page.go_back()
    assert shown(page) == ["overview"]
    page.go_forward()
    expect(link).to_be_focused()
    page.go_forward()
    stands_at_top(page, f"pre a[href='{href}']")
    expect(page.locator("#panel-title")).to_be_focused()


def test_the_browser_finds_text_of_another_view(visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url)
    page.locator("#rfc8446").dispatch_event("beforematch")
    assert shown(page) == ["rfc8446"]
    assert page.evaluate("location.hash") == "#rfc8446"
    page.go_back()
    assert shown(page) == ["overview"]


def test_fragments_of_a_requirement(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea/cup")
    page.click("#tea pre mark >> text=MUST be dry.")
    expect(page.locator("#panel blockquote")).to_have_text("A cup MUST be clean and MUST be dry.")
    assert page.locator("pre .on").all_inner_texts() == ["A cup MUST be clean", " and", "MUST be dry."]
    page.click("#panel .close")
    expect(page.locator("pre a").filter(has_text="A cup MUST be clean")).to_be_focused()
    assert page.locator(".on").count() == 0


def test_several_requirements_at_one_place(visit: Visits, reports: Reports) -> None:
    text = "# Tea\n\n## Pot\n\nThe pot MUST be warm and the lid MUST be on.\n"
    both = "".join(
        f'[[spec]]\ntarget = "tea.md#pot"\nlevel = "MUST"\nquote = "{quote}"\n'
        for quote in ("The pot MUST be warm and the lid", "the lid MUST be on.")
    )
    made = {".duvet/config.toml": FILES[".duvet/config.toml"], "tea.md": text, "more/a.toml": both, "src/a.rs": ""}
    page = visit(f"{reports.of('together', made).url}#tea/pot")
    page.click("pre >> text=the lid")
    expect(page.locator("#panel .others a")).to_have_count(2)
    other = page.locator("#panel .others a").first
    href = other.get_attribute("href")
    other.click()
    expect(page.locator("#panel-title")).to_be_focused()
    assert page.evaluate("location.hash") == href


@pytest.mark.parametrize("name", ["constructor", "requirements", "main", "totals", "x?"])
def test_specifications_of_any_name_have_a_view(name: str, visit: Visits, reports: Reports) -> None:
    text = "# Tea\n" + "".join(f"\n## Pot {number}\n\nIt MUST hold {number}.\n" for number in range(60))
    config = FILES[".duvet/config.toml"].replace("tea.md", f"{name}.md")
    page = visit(reports.of(f"named {name}", {".duvet/config.toml": config, f"{name}.md": text}).url)
    page.click("#specifications a")
    assert page.locator(f'article[data-locator="{name}.md"]').is_visible()
    page.evaluate("dispatchEvent(new Event('scroll'))")
    page.click("nav.views a >> text=Overview")
    assert shown(page) == ["overview"]


def test_the_outline_shows_where_one_is(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#rfc8446/section-4.6.1")
    link = page.locator("#specifications [aria-current=location]")
    expect(link).to_be_in_viewport()
    top = "document.getElementById('rfc8446/section-4.6.1').getBoundingClientRect().top"
    page.wait_for_function(f"() => Math.abs({top}) < 40")
    page.goto(f"{s2n.url}#rfc8446/section-2")
    expect(link).to_be_in_viewport()
