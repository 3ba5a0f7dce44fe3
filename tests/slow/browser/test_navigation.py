import re
from functools import partial
from itertools import product
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.pages import Visits, address, attributes, come_back, go, press, quote_of, views
from tests.slow.browser.reports import PASSING, SMALL_CONFIG, Report, Reports
from tests.unit.reports.report_projects import STATES

SECTION = "rfc8446/section-4.2.8"
# How far an element is below the place where what was scrolled to stands.
BELOW_TOP = """element => element.getBoundingClientRect().top
    - (parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0)"""
OUTLINED = """lines => lines.filter(line => getComputedStyle(line).outlineStyle !== 'none')
  .map(line => line.querySelector('a').textContent)"""
GAPS = ["Pots come first.", "It SHOULD be round.", "It MAY be <b>brown</b>.", "A cup MUST be clean and MUST be dry."]


def stands_at_top(page: Page, selector: str) -> None:
    page.wait_for_function(f"([one]) => Math.abs(({BELOW_TOP})(document.querySelector(one))) < 5", arg=[selector])
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert abs(page.locator(selector).first.evaluate(BELOW_TOP)) < 5


def test_the_overview_comes_first(visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url)
    assert views(page) == ["overview"]
    assert page.evaluate("document.activeElement === document.body")
    assert page.locator("nav [aria-current]").all_inner_texts() == ["Overview"]
    # The browser has found text in another view.
    page.locator("#rfc8446").dispatch_event("beforematch")
    assert (views(page), address(page)) == (["rfc8446"], "#rfc8446")
    page.go_back()
    assert views(page) == ["overview"]


def test_a_link_to_a_specification_or_a_section(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#rfc8446")
    assert views(page) == ["rfc8446"]
    expect(page.locator("#rfc8446 h2")).to_be_focused()
    expect(page).to_have_title(re.compile("^RFC 8446 · "))
    assert page.locator("#specifications .contents").count() == 1
    # The file contains only the beginnings of long texts.
    assert " …\n" in s2n.html or " …<noscript>" in s2n.html
    assert page.locator("#rfc8446 .requirements > li", has_text=" …").count() == 0
    out = page.locator('[id="rfc8446/section-4.1.2"] a.out')
    expect(out).to_have_attribute("href", "https://www.rfc-editor.org/rfc/rfc8446#section-4.1.2")
    page.click("nav.views a[href='#problems']")
    assert views(page) == ["problems"]
    assert page.locator("#rfc8446 > .contents").count() == 1
    page = visit(f"{s2n.url}#{SECTION}")
    assert views(page) == ["rfc8446"]
    stands_at_top(page, f"[id='{SECTION}']")
    expect(page.locator(f"[id='{SECTION}'] h3 a").first).to_be_focused()


def test_a_link_to_a_requirement(visit: Visits, s2n: Report) -> None:
    # A requirement in the middle of a long specification.
    anchors = attributes(visit(s2n.url).locator("#rfc8446 li[id]"), "id")
    anchor = anchors[len(anchors) // 2]
    # From another document, and when the page is loaded again.
    page = visit("data:text/html,<p>elsewhere")
    page.goto(f"{s2n.url}#{anchor}")
    for _ in range(2):
        assert views(page) == ["rfc8446"]
        stands_at_top(page, f"pre a[href='#{anchor}']")
        expect(page.locator("#panel")).to_be_visible()
        expect(page.locator("#panel-title")).to_be_focused()
        page.reload()


def test_routes_of_awslabs_duvet(visit: Visits, s2n: Report) -> None:
    ##= man/spec/page.md#links
    ##% For an anchor of awslabs duvet's report, the report MUST show the same specification and section.
    (found,) = attributes(visit(s2n.url).locator("#rfc8446"), "data-locator")
    page = visit(f"{s2n.url}#/spec/{quote(found, safe='')}")
    assert (views(page), address(page)) == (["rfc8446"], "#rfc8446")
    page = visit(f"{s2n.url}#/spec/{quote(found, safe='')}/section-4.2.8#A12,A13")
    stands_at_top(page, f"[id='{SECTION}']")
    assert address(page) == f"#{SECTION}"


@pytest.mark.parametrize(
    ("fragment", "view", "notice"),
    [
        ("nowhere", "overview", "nowhere is not in this report."),
        ("/spec/nowhere/section-1", "overview", "not in this report"),
        ("%E0%A4%A", "overview", "not in this report"),
        ("nowhere/at/all", "overview", "not in this report"),
        ("tea/pot/000000000000", "tea", "tea/pot/000000000000 is not in this report."),
    ],
)
def test_a_link_to_what_has_gone(fragment: str, view: str, notice: str, visit: Visits, states: Report) -> None:
    ##= man/spec/page.md#links
    ##% The report MUST open at the place that the anchor of a link names. If the anchor of a link no longer exists, the
    ##% report MUST open at the nearest place, and say so.
    page = visit(f"{states.url}#{fragment}")
    assert views(page) == [view]
    expect(page.locator("#notice")).to_contain_text(notice)
    page.click("nav.views a[href='#problems']")
    expect(page.locator("#notice")).to_be_hidden()


def test_back_and_forward(visit: Visits, s2n: Report) -> None:
    page = visit(s2n.url)
    page.click("nav.views a[href='#requirements']")
    page.check("#filters [value=uncited]")
    link = page.locator("#requirements tbody a").nth(40)
    href = link.get_attribute("href")
    link.click()
    expect(page.locator("#panel-title")).to_be_focused()
    page.go_back()
    assert views(page) == ["requirements"]
    expect(page.locator("#panel")).to_be_hidden()
    assert page.is_checked("#filters [value=uncited]")
    expect(link).to_be_focused()
    assert link.evaluate(
        "one => { const at = one.getBoundingClientRect(); return at.top > 0 && at.bottom < innerHeight }"
    )
    page.go_back()
    assert views(page) == ["overview"]
    page.go_forward()
    expect(link).to_be_focused()
    page.go_forward()
    stands_at_top(page, f"pre a[href='{href}']")
    expect(page.locator("#panel-title")).to_be_focused()


def test_cited_text_and_fragments_of_a_requirement(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#manners/guests/cited")
    assert views(page) == ["manners"]
    expect(page.locator("#panel-title")).to_have_text("• cited")
    expect(page.locator("#panel .references")).to_contain_text("src/a.rs:33")
    go(page, "#tea/cup")
    page.click("#tea pre mark >> text=MUST be dry.")
    assert quote_of(page) == "A cup MUST be clean and MUST be dry."
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
    files = {".duvet/config.toml": STATES[".duvet/config.toml"], "tea.md": text, "more/a.toml": both, "src/a.rs": ""}
    page = visit(f"{reports.of('together', files).url}#tea/pot")
    page.click("pre >> text=the lid")
    expect(page.locator("#panel .others a")).to_have_count(2)
    other = page.locator("#panel .others a").first
    href = other.get_attribute("href")
    other.click()
    expect(page.locator("#panel-title")).to_be_focused()
    assert address(page) == href


def test_specifications_of_any_name_have_a_view(visit: Visits, reports: Reports) -> None:
    names = ("constructor", "requirements", "main", "totals", "x?")
    texts = {f"{name}.md": f"# {name}\n\n## Pot\n\nIt MUST hold.\n" for name in names}
    config = SMALL_CONFIG.partition("spec")[0] + "".join(f'[[specification]]\nsource = "{path}"\n' for path in texts)
    page = visit(reports.of("any names", {".duvet/config.toml": config, **texts}).url)
    for name in names:
        page.locator("#specifications a").filter(has_text=name).click()
        expect(page.locator(f'article[data-locator="{name}.md"]')).to_be_visible()
        page.evaluate("dispatchEvent(new Event('scroll'))")
        page.click("nav.views a >> text=Overview")
        assert views(page) == ["overview"]


def test_sections_of_any_name_have_requirements(visit: Visits, reports: Reports) -> None:
    ids = ("it's", "a&b", "50%25#x?y=[z]", "é漢:@!$*+,;=~")
    text = "# Tea\n" + "".join(f"\n## Pot {{#{id}}}\n\nPot {n} MUST be warm.\n" for n, id in enumerate(ids))
    page = visit(f"{reports.of('sections', PASSING | {'tea.md': text, 'src/a.rs': ''}).url}#tea")
    for number, id in enumerate(ids):
        page.locator("article pre a").nth(number).click()
        assert quote_of(page) == f"Pot {number} MUST be warm."
        expect(page.locator("#panel .target code")).to_have_text(f"tea.md#{id}")


def test_the_outline_follows_the_section(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#rfc8446/section-4.6.1")
    link = page.locator("#specifications [aria-current=location]")
    expect(link).to_be_in_viewport()
    top = "document.getElementById('rfc8446/section-4.6.1').getBoundingClientRect().top"
    page.wait_for_function(f"() => Math.abs({top}) < 40")
    page.goto(f"{s2n.url}#rfc8446/section-2")
    expect(link).to_be_in_viewport()


def test_a_highlight_opens_the_panel_and_escape_returns(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    link = page.locator("pre a").nth(1)
    for open_panel in (link.click, partial(link.press, "Enter")):
        open_panel()
        expect(page.locator("#panel-title")).to_be_focused()
        assert quote_of(page) == "The pot MUST be warm."
        expect(page.locator("#panel .references li")).to_contain_text(["src/a.rs:1", "src/a.rs:4"])
        press(page, "Escape")
        expect(page.locator("#panel")).to_be_hidden()
        expect(link).to_be_focused()
        assert address(page) == "#tea/pot"


def test_the_panel_names_state_level_and_references(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    items, title = page.locator("ul.requirements > li"), page.locator("#panel-title")
    for text, (name, groups) in {
        "It SHOULD be round.": ("◐ needs tests · SHOULD", "implementation"),
        "It MAY be <b>brown</b>.": ("◑ needs code · MAY", "test"),
        "The lid MUST NOT be lost.": ("✓ done · MUST", "implication"),
        "A saucer MAY be used.": ("∅ excepted · MAY", "exception"),
        "A spoon SHOULD be silver ☕.": ("… to do · SHOULD", "todo"),
        "Sugar is OPTIONAL.": ("✗ uncited · MAY", ""),
    }.items():
        items.filter(has_text=text).locator("a").first.click()
        expect(title).to_have_text(name)
        assert quote_of(page) == text
        assert page.locator("#panel .references dt").all_inner_texts() == ([groups] if groups else [])
    items.filter(has_text="A saucer MAY be used.").locator("a").first.click()
    expect(page.locator("#panel .references q").filter(has_text="we have none")).to_be_visible()
    items.filter(has_text="Pots come first.").locator("a").first.click()
    for said in ("feature later", "https://git.example/42", "tagged order, style"):
        expect(page.locator("#panel .references li").first).to_contain_text(said)


def spoken_links(page: Page) -> set[str]:
    page.evaluate("() => new Promise(requestAnimationFrame)")
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return {node["name"]["value"] for node in tree if node.get("role", {}).get("value") == "link"}


def test_names_for_screen_readers_have_state_and_level(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    wanted = {"to do Pots come first.", "done The pot MUST be warm.", "needs tests It SHOULD be"}
    # The browser makes this tree in its own time.
    for _ in range(300):
        if wanted <= (found := spoken_links(page)):
            break
    assert wanted <= found
    page.locator("pre a").nth(1).click()
    expect(page.get_by_role("complementary", name="done")).to_be_visible()
    expect(page.get_by_role("heading", name="✓ done · MUST")).to_be_visible()


def test_the_requirement_in_the_panel_is_marked_and_its_status_in_sight(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea/pot/1dd64a535306", viewport={"width": 1400, "height": 300})
    lines = page.locator("#tea .requirements > li")
    expect(page.locator("#panel-title")).to_have_text("✓ done · MUST")
    assert lines.evaluate_all(OUTLINED) == ["✓ done"]
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator("#panel-title")).to_have_text("◐ needs tests · SHOULD")
    assert lines.evaluate_all(OUTLINED) == ["◐ needs tests"]
    page.get_by_role("button", name="Next open").click()
    press(page, *"J" * 9)
    said = page.locator("#panel [role=status]")
    expect(said).to_have_text("No further open requirement.")
    expect(said).to_be_in_viewport()
    press(page, "Escape")
    assert lines.evaluate_all(OUTLINED) == []


def test_keys_go_through_the_requirements_of_a_specification(visit: Visits, states: Report) -> None:
    page, status = visit(f"{states.url}#tea"), "#panel [role=status]"
    for keys, text in (
        ("j", "Pots come first."),
        ("jj", "It SHOULD be round."),
        ("k", "The pot MUST be warm."),
        ("kk", "Pots come first."),
    ):
        press(page, *keys)
        assert quote_of(page) == text
    expect(page.locator(status)).to_have_text("No earlier requirement.")
    expect(page.locator("#panel-title")).to_be_focused()
    for text in GAPS[1:]:
        press(page, "J")
        assert quote_of(page) == text
    for keys, text in (("JJJ", "The pot MUST be warm."), ("J", "The pot MUST be warm."), ("K", "Sugar is OPTIONAL.")):
        press(page, *keys)
        assert quote_of(page) == text
        if keys == "J":
            expect(page.locator(status)).to_have_text("No further open requirement.")


def test_gaps_of_the_next_specification(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#rfc4492")
    last = page.locator("#rfc4492 .requirements > li:is(.s0, .s1, .s2, .s3, .s4)").last.get_attribute("id")
    page.evaluate("anchor => { location.hash = anchor }", last)
    expect(page.locator("#panel")).to_be_visible()
    page.click("#panel >> text=Next open")
    assert views(page) != ["rfc4492"]
    expect(page.locator("#panel-title")).to_be_focused()


def test_keys_go_through_the_rows_of_the_list(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#requirements")
    links = page.locator("#requirements tbody a")
    for keys, row in (("j", 0), ("jj", 2), ("k", 1), ("JJJJJJJJ", 6)):
        press(page, *keys)
        expect(links.nth(row)).to_be_focused()
    press(page, "Enter")
    assert quote_of(page) == "It SHOULD be round."


def test_keys_open_views_filters_and_help(visit: Visits, states: Report) -> None:
    page = visit(states.url)
    for key, name in zip("rspo", ("requirements", "sources", "problems", "overview"), strict=True):
        press(page, "g", key)
        assert views(page) == [name]
        expect(page.locator(f"#{name} h2")).to_be_focused()
    press(page, "/")
    assert views(page) == ["requirements"]
    expect(page.locator("#filters [name=q]")).to_be_focused()
    assert page.input_value("#filters [name=q]") == ""
    page.locator("nav.views a").first.focus()
    press(page, "g", "s", "/")
    expect(page.locator("#source-filter [name=q]")).to_be_focused()
    page.locator("nav.views a").first.focus()
    press(page, "?")
    expect(page.locator("#help")).to_be_visible()
    press(page, "g", "r")
    assert views(page) == ["sources"]
    press(page, "Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.click("#keys")
    page.click("#help .close")
    expect(page.locator("#help")).to_be_hidden()


def test_keys_are_off_in_fields_and_with_modifiers(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#requirements")
    page.focus("#filters [name=q]")
    page.keyboard.type("jkJKc/?gogs")
    assert page.input_value("#filters [name=q]") == "jkJKc/?gogs"
    page.focus("#filters select >> nth=0")
    press(page, "g", "s")
    assert views(page) == ["requirements"]
    page = visit(f"{states.url}#tea")
    for modifier, key in product(("ctrlKey", "altKey", "metaKey"), "jJ?"):
        page.locator("body").dispatch_event("keydown", {"key": key, modifier: True})
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#help")).to_be_hidden()


def test_keys_can_be_turned_off(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    press(page, "?")
    page.uncheck("#keys-on")
    press(page, "Escape", "j")
    expect(page.locator("#panel")).to_be_hidden()
    come_back(page, keys="off")
    press(page, "j", "?")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#help")).to_be_hidden()
    page.click("#keys")
    page.check("#keys-on")
    press(page, "Escape", "j")
    expect(page.locator("#panel")).to_be_visible()


NAMED = {
    ".duvet/config.toml": "'$schema' = 'duvet-cli/config/v1'\n[[specification]]\nsource = 'login.md'\n",
    "login.md": "# Login\n\n## Rules\n\n- **FR-001**: System MUST lock.\n- **FR-002**: System MUST unlock.\n",
}


def test_a_link_to_a_requirement_by_the_id_of_its_specification(visit: Visits, reports: Reports) -> None:
    ##= man/spec/names.md#references
    ##% The HTML report MUST use `SPEC/ID` as the anchor of a requirement that has an id.
    page = visit(f"{reports.of('named', NAMED).url}#login/FR-002")
    expect(page.locator("#panel-title")).to_have_text("✗ uncited · MUST · FR-002")
    assert (views(page), quote_of(page)) == (["login"], "System MUST unlock.")
