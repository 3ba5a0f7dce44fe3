"""A requirement in the panel: how one gets there and back, and what stands there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.projects import PASSING
from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import NARROW, Visits

FRAMES = 300
WARM = '[id="tea"] pre a:has-text("The pot MUST be warm.")'


def places(page: Page) -> list[str]:
    """The references that the panel shows."""
    found: list[str] = page.locator("#panel .references li").evaluate_all(
        "all => all.map(one => one.querySelector('a, code').textContent)"
    )
    return found


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.textContent"))


@pytest.mark.parametrize("way", ["click", "enter"])
def test_a_highlight_opens_the_panel_and_escape_returns(way: str, visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    link = page.locator(WARM).first
    if way == "click":
        link.click()
    else:
        link.focus()
        page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_visible()
    expect(page.locator("#panel-title")).to_be_focused()
    expect(page.locator("#panel blockquote")).to_have_text("The pot MUST be warm.")
    assert places(page) == ["src/a.rs:1", "src/a.rs:4"]
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    assert focused(page) == "The pot MUST be warm."


def test_a_tap_opens_the_panel(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea", viewport=NARROW, has_touch=True, is_mobile=True)
    page.locator(WARM).first.tap()
    expect(page.locator("#panel")).to_be_visible()
    assert places(page) == ["src/a.rs:1", "src/a.rs:4"]


@pytest.mark.parametrize(
    ("text", "title", "groups"),
    [
        ("It SHOULD be round.", "◐ missing test · SHOULD", ["implementation"]),
        ("It MAY be <b>brown</b>.", "◑ missing implementation · MAY", ["test"]),
        ("The lid MUST NOT be lost.", "⇒ implied · MUST", ["implication"]),
        ("A saucer MAY be used.", "∅ exception · MAY", ["exception"]),
        ("A spoon SHOULD be silver ☕.", "… to do · SHOULD", ["to do"]),
        ("Sugar is OPTIONAL.", "✗ uncited · MAY", []),
    ],
)
def test_the_panel_names_state_level_and_references(
    text: str, title: str, groups: list[str], visit: Visits, states: Report
) -> None:
    page = visit(f"{states.url}#tea")
    page.locator("ul.requirements > li", has_text=text).locator("a").first.click()
    expect(page.locator("#panel-title")).to_have_text(title)
    expect(page.locator("#panel blockquote")).to_have_text(text)
    assert page.locator("#panel .references dt").all_inner_texts() == groups


def spoken_links(page: Page) -> set[str]:
    """What the browser tells screen readers of links, with the next frame."""
    page.evaluate("() => new Promise(requestAnimationFrame)")
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return {node["name"]["value"] for node in tree if node.get("role", {}).get("value") == "link"}


def test_names_for_screen_readers_have_state_and_level(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    wanted = {"to do Pots come first.", "complete The pot MUST be warm.", "missing test It SHOULD be"}
    # The browser makes this tree in its own time.
    for _ in range(FRAMES):
        if wanted <= (found := spoken_links(page)):
            break
    assert wanted <= found
    page.locator(WARM).first.click()
    expect(page.get_by_role("complementary", name="complete")).to_be_visible()
    expect(page.get_by_role("heading", name="✓ complete · MUST")).to_be_visible()


def test_reasons_features_issues_and_tags_are_shown(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea")
    items = page.locator("ul.requirements > li")
    items.filter(has_text="A saucer MAY be used.").locator("a").first.click()
    expect(page.locator("#panel .references q").filter(has_text="we have none")).to_be_visible()
    items.filter(has_text="Pots come first.").locator("a").first.click()
    reference = page.locator("#panel .references li").first
    for said in ("feature later", "https://git.example/42", "tagged order, style"):
        expect(reference).to_contain_text(said)


OUTLINED = """lines => lines.filter(line => getComputedStyle(line).outlineStyle !== 'none')
  .map(line => line.querySelector('a').textContent)"""


def test_what_the_panel_shows_is_marked_and_nothing_else(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea/pot/1dd64a535306")
    lines = page.locator("#tea .requirements > li")
    expect(page.locator("#panel-title")).to_have_text("✓ complete · MUST")
    assert lines.evaluate_all(OUTLINED) == ["✓ complete"]
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator("#panel-title")).to_have_text("◐ missing test · SHOULD")
    assert lines.evaluate_all(OUTLINED) == ["◐ missing test"]
    page.keyboard.press("Escape")
    assert lines.evaluate_all(OUTLINED) == []


def test_forced_colours_show_the_text_of_the_panel(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea/pot/1dd64a535306", forced_colors="active")
    shown = page.locator("#tea pre .on")
    expect(shown).to_have_text("The pot MUST be warm.")
    expect(shown).to_have_css("outline-style", "solid")


@pytest.mark.parametrize("id", ["it's", "a&b", "50%25#x?y=[z]", "é漢:@!$*+,;=~"])
def test_sections_of_any_name_have_requirements(id: str, visit: Visits, reports: Reports) -> None:
    text = f"# Tea\n\n## Pot {{#{id}}}\n\nThe pot MUST be warm.\n"
    page = visit(f"{reports.of(f'section {id}', PASSING | {'tea.md': text, 'src/a.rs': ''}).url}#tea")
    page.locator("article pre a").click()
    expect(page.locator("#panel blockquote")).to_have_text("The pot MUST be warm.")
    expect(page.locator("#panel .target code")).to_have_text(f"tea.md#{id}")


def test_what_the_panel_says_is_in_sight(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea/pot/1dd64a535306", viewport={"width": 1400, "height": 300})
    page.get_by_role("button", name="Next gap").click()
    expect(page.locator("#panel-title")).to_have_text("◐ missing test · SHOULD")
    for _ in range(9):
        page.keyboard.press("J")
    said = page.locator("#panel [role=status]")
    expect(said).to_have_text("No further gap.")
    expect(said).to_be_in_viewport()
