"""The page is complete without a script, and readable where a server forbids its styles too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.reading import counted
from tests.slow.browser.reports import Report
from tests.slow.browser.visits import Visits

JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"
NO_SCRIPTS = "script-src 'none'"


class Policy(BaseHTTPRequestHandler):
    """Answers everything with one page under a policy."""

    def __init__(self, data: bytes, policy: str, *args: object) -> None:
        self._data, self._policy = data, policy
        super().__init__(*args)  # type: ignore[arg-type] # what the server hands on

    def do_GET(self) -> None:
        """The page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", self._policy)
        self.send_header("Content-Length", str(len(self._data)))
        self.end_headers()
        self.wfile.write(self._data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def served(report: Report, policy: str) -> Iterator[str]:
    """The URL of a page on a server with a policy."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Policy, report.html.encode(), policy)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def references(page: Page) -> int:
    """How many references are shown."""
    return page.locator("article.view .references li").filter(visible=True).count()


def test_everything_is_there_without_a_script(visit: Visits, states: Report) -> None:
    page = visit(states.url, java_script_enabled=False)
    for view in ("overview", "problems", "tea", "manners", "requirements", "sources"):
        expect(page.locator(f'main > [id="{view}"]')).to_be_visible()
    expect(page.locator("article ul.requirements > li").filter(visible=True)).to_have_count(10)
    expect(page.locator("#requirements tbody tr").filter(visible=True)).to_have_count(10)
    expect(page.locator("#sources .file").filter(visible=True)).to_have_count(2)
    related = {one for status in states.json["statuses"].values() for one in status.get("related", ())}
    assert len(related) == 10 and references(page) >= len(related)
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#theme")).to_be_hidden()


def test_every_link_within_the_page_arrives_without_a_script(visit: Visits, states: Report) -> None:
    page = visit(states.url, java_script_enabled=False)
    links = page.locator('a[href^="#"]').evaluate_all("all => all.map(one => one.getAttribute('href'))")
    ids = set(page.locator("[id]").evaluate_all("all => all.map(one => one.id)"))
    assert len(links) > 50
    assert {one for one in links if one[1:].partition("?")[0] not in ids} == set()


def test_a_large_project_is_complete_without_a_script(visit: Visits, s2n: Report) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST be valid HTML, whatever it contains, and readable without scripts.
    page = visit(s2n.url, java_script_enabled=False)
    total = counted(s2n).total()
    expect(page.locator("#requirements tbody tr")).to_have_count(total)
    expect(page.locator("article ul.requirements > li")).to_have_count(total)
    assert page.locator("article .references li").count() >= sum(
        1 for one in s2n.json["annotations"] if one.get("type") != "SPEC"
    )


@pytest.mark.parametrize("policy", [JENKINS, NO_SCRIPTS])
def test_a_server_that_forbids_scripts_leaves_text_and_counts(policy: str, visit: Visits, states: Report) -> None:
    with served(states, policy) as url:
        page = visit(url, served=url)
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator("#overview .verdict")).to_be_visible()
        expect(page.locator("#overview table").first).to_contain_text("MUST")
        expect(page.locator("article ul.requirements > li").filter(visible=True)).to_have_count(10)
        expect(page.locator("article pre mark").first).to_be_visible()
        assert "not cited" in page.locator("main").inner_text() or "uncited" in page.locator("main").inner_text()
