"""Links to sources lead there, whatever the sources are called."""

from __future__ import annotations

import pytest

from tests.slow.browser.projects import CONFIG, TEA
from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import Visits

CITED = "//= tea.md#pot\n//# The pot MUST be warm.\nfn warm() {}\n"
LINKED = CONFIG + '\n[report.html]\nblob-link = "https://host/a b/tree"\n'
OWN = LINKED.replace('language = "rust"', 'language = "rust", blob-link = "https://own/"')
PATHS = {
    "src/plain.rs": "src/plain.rs",
    "src/two words.rs": "src/two%20words.rs",
    "src/#1.rs": "src/%231.rs",
    "src/what?.rs": "src/what%3F.rs",
    "src/100%.rs": "src/100%25.rs",
    "src/größe.rs": "src/gr%C3%B6%C3%9Fe.rs",
    "src/back\\slash.rs": "src/back%5Cslash.rs",
    "src/deep/er/a.rs": "src/deep/er/a.rs",
}


def project(config: str) -> dict[str, str]:
    return {".duvet/config.toml": config, "tea.md": TEA, **dict.fromkeys(PATHS, CITED)}


def references(visit: Visits, report: Report) -> list[list[str | None]]:
    """Each reference of the panel: what it says, and where it leads."""
    page = visit(f"{report.url}#tea")
    page.locator("article pre a").first.click()
    found: list[list[str | None]] = page.locator("#panel .references li").evaluate_all(
        "all => all.map(one => one.querySelector('a, code')).map(one => [one.textContent, one.getAttribute('href')])"
    )
    return found


@pytest.mark.parametrize(
    ("name", "config", "root"), [("linked", LINKED, "https://host/a b/tree"), ("own links", OWN, "https://own")]
)
def test_links_name_their_source_and_line(name: str, config: str, root: str, visit: Visits, reports: Reports) -> None:
    found = references(visit, reports.of(name, project(config)))
    assert sorted(found) == sorted([f"{path}:1", f"{root}/{quoted}#L1"] for path, quoted in PATHS.items())


def test_without_a_blob_link_places_are_text(visit: Visits, reports: Reports) -> None:
    found = references(visit, reports.of("unlinked", project(CONFIG)))
    assert sorted(map(str, found)) == sorted(str([f"{path}:1", None]) for path in PATHS)


def test_the_list_of_sources_leads_to_them(visit: Visits, reports: Reports) -> None:
    page = visit(f"{reports.of('linked', project(LINKED)).url}#sources")
    links = page.locator("#sources .file :is(h3, h4) a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert sorted(links) == sorted(f"https://host/a b/tree/{quoted}" for quoted in PATHS.values())


def test_links_leave_for_the_published_text(visit: Visits, s2n: Report) -> None:
    page = visit(f"{s2n.url}#rfc8446")
    out = page.locator('[id="rfc8446/section-4.1.2"] a.out')
    assert out.get_attribute("href") == "https://www.rfc-editor.org/rfc/rfc8446#section-4.1.2"
