"""Text that nothing cites is left out where there is no requirement, and the page says so."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.slow.browser.reading import go
from tests.slow.browser.reports import Reports
from tests.slow.browser.visits import Visits
from tests.unit.reports.made_states import FILES

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
    url = "https://example.com/manners.txt"
    linked = FILES | {
        ".duvet/specifications/example.com/manners.txt": "1. Hosts\n\n   None.\n\n2. Guests\n\n   Guests stay.\n",
        "src/c.rs": f"//= {url}#section-2\n//# Guests stay.\n",
    }
    page = visit(reports.of("trimmed", linked).url)
    article = page.locator(f'article[data-locator="{url}"]')
    go(page, f"#{article.get_attribute('id')}")
    notice = article.locator(".left-out")
    expect(notice).to_have_text("1 section without citations is not embedded: read the specification")
    expect(notice.locator("a")).to_have_attribute("href", url)


def test_all_of_it_is_there_on_request(visit: Visits, reports: Reports) -> None:
    page = visit(f"{reports.of('full', FILES | {'.duvet/config.toml': FULL}).url}#manners")
    assert page.locator("#manners section.part h3 a:first-child").all_inner_texts() == TITLES
    expect(page.locator("#manners")).to_contain_text("Nobody reads this.")
    expect(page.locator("#manners .left-out")).to_have_count(0)
