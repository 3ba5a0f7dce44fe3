"""Light and dark: the system decides until the reader does."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.reports import Report
from tests.slow.browser.visits import Visits, come_back

BACKGROUND = "getComputedStyle(document.body).backgroundColor"
LUMINANCE = """colour => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d")
  canvas.fillStyle = colour
  canvas.fillRect(0, 0, 1, 1)
  const linear = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}"""
STATE = """index => {
  const one = document.createElement("p")
  one.className = `s${index}`
  one.style.color = "var(--state)"
  one.style.textDecorationStyle = "var(--style)"
  document.querySelector("main > .view:not([hidden])").append(one)
  const style = getComputedStyle(one)
  const found = [style.color, style.textDecorationStyle, style.getPropertyValue("--sign")]
  one.remove()
  return found
}"""


def luminance(page: Page, colour: str) -> float:
    """How bright a colour is, from 0 to 1."""
    return float(page.evaluate(LUMINANCE, colour))


def is_dark(page: Page) -> bool:
    return luminance(page, page.evaluate(BACKGROUND)) < 0.2


def contrast(page: Page, one: str, other: str) -> float:
    """By WCAG, from 1 to 21."""
    darker, lighter = sorted((luminance(page, one), luminance(page, other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_system(scheme: str, visit: Visits, states: Report) -> None:
    assert is_dark(visit(states.url, color_scheme=scheme)) == (scheme == "dark")


def test_the_reader_overrides_the_system_and_is_remembered(visit: Visits, states: Report) -> None:
    page = visit(states.url, color_scheme="light")
    button = page.locator("#theme")
    expect(button).to_be_visible()
    button.click()
    button.click()
    assert is_dark(page)
    come_back(page, theme="dark")
    assert is_dark(page)
    page.locator("#theme").click()
    assert not is_dark(page)
    page.emulate_media(color_scheme="dark")
    assert is_dark(page)


def test_a_remembered_theme_is_there_before_the_first_paint(visit: Visits, states: Report) -> None:
    context = visit.context(color_scheme="light")
    page = context.new_page()
    page.goto(states.url)
    page.locator("#theme").click()
    page.locator("#theme").click()
    context.add_init_script(
        "new MutationObserver((_, observer) => { if (document.body) {"
        f" globalThis.first = {BACKGROUND}; observer.disconnect() }} }}).observe(document, {{childList: true, subtree: true}})"
    )
    come_back(page, theme="dark")
    first = page.evaluate("globalThis.first")
    assert first == page.evaluate(BACKGROUND) and luminance(page, first) < 0.2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_states_are_readable(scheme: str, visit: Visits, states: Report) -> None:
    page = visit(states.url, color_scheme=scheme)
    paper = page.evaluate(BACKGROUND)
    found = {index: contrast(page, page.evaluate(STATE, index)[0], paper) for index in range(10)}
    assert {index: ratio for index, ratio in found.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("deficiency", ["deuteranopia", "protanopia", "tritanopia", "achromatopsia"])
def test_states_differ_without_their_colours(deficiency: str, visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    page.context.new_cdp_session(page).send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})
    found = [tuple(page.evaluate(STATE, index)[1:]) for index in range(10)]
    assert len(set(found)) == 10
    assert len({sign for _, sign in found}) == 10


def test_print_is_light(visit: Visits, states: Report) -> None:
    page = visit(states.url, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert luminance(page, page.evaluate(BACKGROUND)) > 0.9 or page.evaluate(BACKGROUND) == "rgba(0, 0, 0, 0)"


def test_forced_colours_keep_the_underlines(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea", forced_colors="active")
    lines = page.locator('[id="tea"] pre :is(a, mark)').evaluate_all(
        "all => all.map(one => getComputedStyle(one)).map(style => style.textDecorationLine + style.borderBottomStyle)"
    )
    assert lines and all("underline" in line or "none" not in line for line in lines)
