import gzip
import re
from collections import Counter
from html import unescape

import pytest
from playwright.sync_api import expect

from duvet.model import Place, Problem
from tests.slow.browser.pages import Visits, attributes, count_elements, go
from tests.slow.browser.reports import Report
from tests.unit.reports.html.html_pages import page as page_of_files, tree
from tests.unit.reports.html.test_render import elements, make_large_project
from tests.unit.reports.report_projects import finished


@pytest.mark.parametrize(
    ("project", "title"),
    [
        ("states", "Requirements report: Tea & <biscuits>"),
        ("s2n", "aws/s2n-tls: requirements report"),
        ("h3", "hyperium/h3: requirements report"),
    ],
)
def test_a_page_has_a_title_and_loads_nothing(
    project: str, title: str, visit: Visits, request: pytest.FixtureRequest
) -> None:
    page = visit(request.getfixturevalue(project).url)
    assert page.title() == f"Overview · {title}"
    expect(page.locator("h1")).to_have_text([title])
    for fragment in ("#rfc8446", "#requirements?", "#sources", "#problems")[0 if project == "s2n" else 1 :]:
        go(page, fragment)
        assert page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)") == []
    ids = attributes(page.locator("[id]"), "id")
    assert [id for id, count in Counter(ids).items() if count > 1] == []


def test_everything_is_there_without_a_script(visit: Visits, states: Report) -> None:
    page = visit(states.url, java_script_enabled=False)
    for view in ("overview", "problems", "tea", "manners", "requirements", "sources"):
        expect(page.locator(f'main > [id="{view}"]')).to_be_visible()
    counts = {"article ul.requirements > li": 10, "#requirements tbody tr": 10, "#sources .file": 2}
    for selector, count in counts.items():
        expect(page.locator(selector).filter(visible=True)).to_have_count(count)
    related = {one for status in states.json["statuses"].values() for one in status.get("related", ())}
    assert len(related) == 10
    assert page.locator("article.view .references li").filter(visible=True).count() >= len(related)
    for hidden in ("#filters", "#panel", "#theme"):
        expect(page.locator(hidden)).to_be_hidden()
    links, ids = attributes(page.locator('a[href^="#"]'), "href"), attributes(page.locator("[id]"), "id")
    assert len(links) > 50 and {one[1:].partition("?")[0] for one in links} <= set(ids)


# The first policy is that of Jenkins.
@pytest.mark.parametrize(
    "policy", ["sandbox; default-src 'none'; img-src 'self'; style-src 'self';", "script-src 'none'"]
)
def test_a_server_that_forbids_scripts_leaves_text_and_counts(policy: str, visit: Visits, states: Report) -> None:
    url, headers = "http://server.example/", {"Content-Security-Policy": policy, "Content-Type": "text/html"}
    context = visit.context(served=url)
    context.route(url, lambda route: route.fulfill(body=states.html, headers=headers))
    page = context.new_page()
    page.goto(url)
    expect(page.locator("#theme")).to_be_hidden()
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("#overview .verdict")).to_be_visible()
    expect(page.locator("#overview table").first).to_contain_text("MUST")
    expect(page.locator("article ul.requirements > li").filter(visible=True)).to_have_count(10)
    expect(page.locator("article pre mark").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("uncited")


def size(*texts: str) -> int:
    return sum(len(one.encode()) for one in texts)


def test_small_and_real_projects_have_small_pages(visit: Visits, states: Report, h3: Report, s2n: Report) -> None:
    scripts = re.findall(r"(?s)<script(?! type=\"?application/json)[^>]*>(.*?)</script>", states.html)
    styles = re.findall(r"(?s)<style[^>]*>(.*?)</style>", states.html)
    (header,) = re.findall(r"(?s)<header>.*?</header>", states.html)
    assert size(*scripts) <= 16_000
    assert size(*scripts, *styles, header) <= 40_000
    assert size(h3.html) <= 500_000
    assert size(s2n.html) <= 2_500_000
    assert len(gzip.compress(s2n.html.encode())) <= 600_000
    assert count_elements(visit(s2n.url)) <= 20_000


def test_most_elements_are_created_later() -> None:
    problem = Problem("DUV050", "no such text", "src/a.rs", Place(3, 5, 4), "not in this section", "look again")
    shown = page_of_files(finished(make_large_project(3000, 1)), problems=(problem,) * 500)
    assert elements(shown) < 1000
    whole = tree(shown)
    assert sum(1 for _ in whole.iter()) > 20_000
    lists = Counter((one.tag, one.get("class")) for one in whole.iter())
    assert (lists["li", "s4"], lists["div", "refs"], lists["noscript", "later"]) == (3000, 3000, 2)
    assert "".join(whole.itertext()).count("src/0.rs:1\n") == 1


def test_the_text_of_specifications_grows_little(s2n: Report) -> None:
    parts = re.findall(r"(?s)<section class=part .*?</section>", s2n.html)
    without = [re.sub(r"(?s)<noscript>.*?</noscript>|<div class=refs>.*?</div>", "", part) for part in parts]
    text = [
        unescape(re.sub("<[^>]*>", "", text)) for part in parts for text in re.findall(r"(?s)<pre>(.*?)</pre>", part)
    ]
    assert len(parts) > 100
    assert sum(len(part.encode()) for part in without) <= 1.7 * sum(len(one.encode()) for one in text)
