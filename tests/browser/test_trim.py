"""Text that nothing cites is left out where there is no requirement, and the page says so."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.reports import Reports
from tests.browser.visits import Visits
from tests.reports.made_states import FILES

CONFIG = FILES[".duvet/config.toml"].replace(
    "https://awslabs.github.io/duvet/config/v0.4.0.json", "duvet-cli/config/v1"
)
FULL = f'{CONFIG}\n[report.html]\nspec-text = "full"\n'
TITLES = ["Manners", "Hosts", "Guests"]


def test_what_is_left_out_is_counted(visit: Visits, reports: Reports) -> None:
    page = visit(f"{reports.of('states', FILES).url}#manners")
    expect(page.locator("#manners .left-out")).to_contain_text("2 sections without citations")
    assert page.locator("#manners section.part h3 a:first-child").all_inner_texts() == ["Guests"]
    expect(page.locator("#tea .left-out")).to_have_count(0)


def test_the_notice_leads_to_the_text(visit: Visits, reports: Reports) -> None:
    linked = FILES | {".duvet/config.toml": CONFIG}
    page = visit(f"{reports.of('trimmed', linked).url}#manners")
    expect(page.locator("#manners .left-out")).to_be_visible()


def test_all_of_it_is_there_on_request(visit: Visits, reports: Reports) -> None:
    page = visit(f"{reports.of('full', FILES | {'.duvet/config.toml': FULL}).url}#manners")
    assert page.locator("#manners section.part h3 a:first-child").all_inner_texts() == TITLES
    expect(page.locator("#manners")).to_contain_text("Nobody reads this.")
    expect(page.locator("#manners .left-out")).to_have_count(0)
