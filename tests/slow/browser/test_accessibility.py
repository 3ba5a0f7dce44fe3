import re
from collections.abc import Iterator
from io import BytesIO
from itertools import groupby, product
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests.golden_projects import requirements_of
from tests.slow.browser.pages import NARROW, PHONE, WIDE, Visits, add_style, come_back, go, overflow, press
from tests.slow.browser.reports import PAGE, PASSING, SMALL_CONFIG, Report, Reports

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
RUN = """tags => axe.run(document, {runOnly: {type: "tag", values: tags}, resultTypes: ["violations"]})
  .then(found => found.violations.map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 150)).join("; ")}`))"""
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced": {"forced_colors": "active"},
    "forced dark": {"forced_colors": "active", "color_scheme": "dark"},
    "narrow": {"viewport": NARROW},
    "narrow dark": {"viewport": NARROW, "color_scheme": "dark"},
    "narrow forced": {"viewport": NARROW, "forced_colors": "active"},
}
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def situations(page: Page) -> Iterator[str]:
    for fragment in ("#overview", "#problems", "#requirements?", "#requirements?q=nowhere", "#sources", "#manners"):
        go(page, fragment)
        yield fragment
    go(page, "#tea")
    yield "#tea"
    page.locator('[id="tea"] pre a').first.click()
    expect(page.locator("#panel")).to_be_visible()
    yield "panel"
    page.keyboard.press("Escape")
    page.evaluate("location.hash = '#nowhere-at-all'")
    expect(page.locator("#notice")).to_be_visible()
    yield "notice"
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    yield "help"


def found_by(axe: str, page: Page) -> list[str]:
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(axe)
        # What is out of sight has no place yet, and axe takes its guessed place for the real one.
        add_style(page, ".part, .file { content-visibility: visible !important }")
    return list(page.evaluate(RUN, TAGS))


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_in_any_view(look: str, visit: Visits, states: Report, axe: str) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST pass the checks of axe for WCAG 2.2 AA in every view and theme, on wide and narrow screens. The
    ##% report MUST NOT distinguish states by colour alone.
    page = visit(states.url, **LOOKS[look])
    found = {situation: found_by(axe, page) for situation in situations(page)}
    assert len(found) == 10
    assert {situation: violations for situation, violations in found.items() if violations} == {}


@pytest.mark.parametrize("viewport", [WIDE, NARROW])
def test_axe_finds_nothing_in_a_real_project(viewport: dict[str, Any], visit: Visits, s2n: Report, axe: str) -> None:
    page = visit(s2n.url, viewport=viewport)
    for fragment in ("#overview", "#rfc5746", "#requirements?status=in-progress", "#problems"):
        go(page, fragment)
        assert (fragment, found_by(axe, page)) == (fragment, [])


def test_axe_finds_nothing_in_pages_and_without_scripts(
    visit: Visits, states: Report, noted: Report, axe: str, tmp_path: Path
) -> None:
    assert found_by(axe, visit(f"{noted.url}#pages")) == []
    without = re.sub(r"(?s)<script.*?</script>", "", states.html)
    (tmp_path / PAGE).write_text(re.sub(r"<(/?)noscript\b", r"<\1div", without))
    assert found_by(axe, visit((tmp_path / PAGE).as_uri())) == []


FOCUSED = """() => {
  const one = document.activeElement
  const style = getComputedStyle(one)
  const place = one.closest("header, #specifications, main, aside, dialog")?.tagName ?? ""
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none"
  const box = one.getBoundingClientRect()
  const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight
  return one === document.body ? null : [place, one.className, ring && seen, one.outerHTML.slice(0, 90)]
}"""


def tabbed(page: Page) -> list[list[Any]]:
    stops: list[list[Any]] = []
    for _ in range(300):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None or (stops and stop == stops[0]):
            return stops
        stops.append(stop)
    raise AssertionError(f"a trap: {stops[-3:]}")


def test_the_tab_key_goes_through_the_page_in_order(visit: Visits, states: Report) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST be usable with the keyboard alone, and show which element has the focus.
    page = visit(states.url)
    stops = tabbed(page)
    assert stops[0][1] == "skip"
    assert [place for place, _ in groupby(place for place, *_ in stops[1:])] == ["HEADER", "NAV", "MAIN"]
    assert [text for _, _, seen, text in stops if not seen] == []
    # The first stop skips to the view. A page that is loaded again may restore its focus.
    page = visit(states.url)
    press(page, "Tab", "Enter")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    expect(page.locator("#overview")).to_be_visible()


RING_HAS_ROOM = """link => {
  const { outlineWidth, outlineOffset } = getComputedStyle(link)
  const clipped = link.closest('.part, .file').getBoundingClientRect()
  return link.getBoundingClientRect().left - parseFloat(outlineWidth) - parseFloat(outlineOffset) >= clipped.left
}"""


@pytest.mark.parametrize("fragment", ["#tea/pot", "#sources"])
def test_the_focus_ring_is_not_clipped(fragment: str, visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}{fragment}")
    link = page.locator(":is(#tea .part h3, #sources li) a:visible").first
    page.keyboard.press("Tab")
    link.focus()
    expect(link).to_have_css("outline-style", "solid")
    assert link.evaluate(RING_HAS_ROOM)


def test_on_a_phone_the_overview_replaces_the_list_of_specifications(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#overview", **PHONE)
    listed = page.locator("#specifications a").filter(visible=True)
    expect(page.locator("#overview .verdict")).to_be_visible()
    expect(listed).to_have_count(0)
    expect(page.locator("#overview .totals th > a")).to_have_text(["Tea & <biscuits>"])
    expect(page.locator("#overview .others a")).to_have_text(["Manners"])
    go(page, "#tea")
    expect(listed).to_have_text([re.compile("^Tea "), re.compile("^Pot"), re.compile("^Cup"), re.compile("^Milk")])


SPACED = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
p { margin-bottom: 2em !important }"""
LOST = """all => all.filter(one => one.checkVisibility() && ['hidden', 'clip'].includes(getComputedStyle(one).overflowX)
  && one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML.slice(0, 80))"""
VIEWS = ("#overview", "#requirements?", "#sources", "#problems", "#tea", "#manners")


@pytest.mark.parametrize(
    ("style", "options"),
    [("", {"viewport": {"width": 640, "height": 512}, "device_scale_factor": 2}), (SPACED, {})],
    ids=["twice as large", "room between letters"],
)
def test_no_view_is_cut_off(style: str, options: dict[str, Any], visit: Visits, states: Report) -> None:
    page = visit(states.url, **options)
    add_style(page, style)
    for fragment in VIEWS:
        go(page, fragment)
        assert (fragment, overflow(page), page.locator("body *").evaluate_all(LOST)) == (fragment, 0, [])


@pytest.mark.parametrize(("options", "widths"), [(PHONE, [390]), ({}, [700, 1000, 1089, 1200])])
def test_a_real_project_fits_every_width(
    options: dict[str, Any], widths: list[int], visit: Visits, s2n: Report
) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% Every view MUST fit a window that is 390 pixels wide.
    page = visit(s2n.url, **options)
    for fragment, width in product(("#overview", "#rfc8446", "#requirements?", "#sources", "#problems"), widths):
        go(page, fragment)
        if options is not PHONE:
            page.set_viewport_size({"width": width, "height": 800})
        assert (fragment, width, overflow(page)) == (fragment, page.evaluate("innerWidth"), 0)


def test_on_a_phone_the_panel_is_a_sheet_that_closes(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea", **PHONE)
    text = page.locator('[id="tea"] pre a:has-text("The pot MUST be warm.")').first
    # Near the lower edge, where the panel opens.
    text.evaluate("one => scrollBy(0, one.getBoundingClientRect().bottom - innerHeight + 40)")
    text.tap()
    panel = page.locator("#panel")
    expect(panel).to_be_visible()
    expect(panel.locator(".references li")).to_contain_text(["src/a.rs:1", "src/a.rs:4"])
    box = panel.bounding_box()
    assert box is not None and (box["x"], box["width"], overflow(page)) == (0, 390, 0)
    ##= man/spec/page.md#size-and-accessibility
    ##% The panel with the details of a requirement MUST NOT hide the text of that requirement.
    page.wait_for_function(
        "() => [...document.querySelectorAll('pre .on')].every(one => "
        "{ const at = one.getBoundingClientRect(); return at.top >= 0 && at.bottom < panel.offsetTop })"
    )
    panel.locator(".close").tap()
    expect(panel).to_be_hidden()


def test_on_a_phone_the_panel_hides_nothing_that_has_the_focus(visit: Visits, states: Report) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST be usable with the keyboard alone, and show which element has the focus.
    page = visit(f"{states.url}#tea/pot/1dd64a535306", **PHONE)
    expect(page.locator("#panel-title")).to_be_focused()
    hidden = """() => {
      const one = document.activeElement
      return !panel.contains(one) && one !== document.body && one.getBoundingClientRect().top > panel.offsetTop
        ? one.outerHTML.slice(0, 90) : ''
    }"""
    for _ in range(60):
        press(page, "Tab")
        assert page.evaluate(hidden) == ""
    press(page, "Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#tea pre a", has_text="The pot MUST be warm.").first).to_be_focused()


def test_the_logo_is_not_cut_off(visit: Visits, reports: Reports) -> None:
    config = SMALL_CONFIG + '[report.html]\nenabled = true\nlogo = "ACME"\n'
    page = visit(reports.of("logo", PASSING | {".duvet/config.toml": config}).url, viewport=NARROW)
    logo, title = page.locator(".brand").bounding_box(), page.locator(".what").bounding_box()
    assert logo is not None and title is not None
    assert 0 <= logo["y"] < logo["y"] + logo["height"] <= title["y"]


def is_dark(colour: str) -> bool:
    return sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 128


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_system_and_is_light_on_paper(
    scheme: Literal["light", "dark"], visit: Visits, states: Report
) -> None:
    page = visit(states.url, color_scheme=scheme)
    assert is_dark(page.evaluate(BACKGROUND)) == (scheme == "dark")
    page.emulate_media(media="print", color_scheme=scheme)
    assert page.evaluate(BACKGROUND) in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")


def test_the_reader_overrides_the_system_and_is_remembered(visit: Visits, states: Report) -> None:
    page = visit(states.url, color_scheme="light")
    button = page.locator("#theme")
    expect(button).to_be_visible()
    button.click()
    button.click()
    assert is_dark(page.evaluate(BACKGROUND))
    # It is there before the first paint.
    page.context.add_init_script(
        "new MutationObserver((_, observer) => { if (document.body) {"
        f" globalThis.first = {BACKGROUND}; observer.disconnect() }} }}).observe(document, {{childList: true, subtree: true}})"
    )
    come_back(page, theme="dark")
    assert is_dark(page.evaluate("globalThis.first")) and is_dark(page.evaluate(BACKGROUND))
    button.click()
    assert not is_dark(page.evaluate(BACKGROUND))
    page.emulate_media(color_scheme="dark")
    assert is_dark(page.evaluate(BACKGROUND))


def test_forced_colours_keep_underlines_and_the_outline_of_the_shown_text(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea/pot/1dd64a535306", forced_colors="active")
    lines = page.locator('[id="tea"] pre :is(a, mark)').evaluate_all(
        "all => all.map(one => getComputedStyle(one)).map(style => style.textDecorationLine + style.borderBottomStyle)"
    )
    assert lines and all("underline" in line or "none" not in line for line in lines)
    shown = page.locator("#tea pre .on")
    expect(shown).to_have_text("The pot MUST be warm.")
    expect(shown).to_have_css("outline-style", "solid")


A4_WIDTH = 718
"""Pixels of a sheet between the margins that a browser leaves."""


def printed(page: Page) -> list[str]:
    return [sheet.extract_text() for sheet in PdfReader(BytesIO(page.pdf(format="A4"))).pages]


def squeezed(text: str) -> str:
    """Remove blanks and ligatures, because printing wraps lines and joins letters."""
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
    ##% When a user prints the report, the printout MUST contain the whole current view and no other view.
    page = visit(s2n.url)
    go(page, "#rfc5746")
    texts = page.locator('[id="rfc5746"] section.part > pre').all_text_contents()
    lines = [line for text in texts for line in text.split("\n")]
    whole = squeezed("".join(printed(page)))
    assert len(lines) > 50
    assert [line for line in lines if squeezed(line) and squeezed(line) not in whole] == []


def test_a_printed_specification_has_its_references_and_no_other_view(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    assert "src/a.rs" in squeezed("".join(printed(page)))
    page.emulate_media(media="print")
    names = ("#specifications", "#panel", "#theme", "#keys", "nav.views")
    assert [name for name in names if page.locator(name).is_visible()] == []


@pytest.mark.parametrize(("project", "fragments"), [("states", VIEWS), ("s2n", ("#overview", "#requirements?"))])
def test_nothing_is_cut_off_or_scaled_down_on_paper(
    project: str, fragments: tuple[str, ...], visit: Visits, request: pytest.FixtureRequest
) -> None:
    page = visit(request.getfixturevalue(project).url, viewport={"width": A4_WIDTH, "height": 1123})
    cut = """all => all.filter(one => one.clientWidth && getComputedStyle(one).overflowX !== 'visible'
        && one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML.slice(0, 80))"""
    for fragment in fragments:
        go(page, fragment)
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") == A4_WIDTH
        assert project != "states" or page.locator("main *").evaluate_all(cut) == []
        page.emulate_media(media="screen")
