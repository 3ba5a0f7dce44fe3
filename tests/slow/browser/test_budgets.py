"""How large the page may become: bytes and elements, and what they may depend on."""

from __future__ import annotations

import gzip
import re
from html import unescape
from pathlib import Path

import pytest

from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import Visits

MOST_ELEMENTS = 20_000
ELEMENTS = "document.querySelectorAll('*').length"


def scripts(html: str) -> list[str]:
    """What runs in the page."""
    return re.findall(r"(?s)<script(?! type=\"?application/json)[^>]*>(.*?)</script>", html)


def size(*texts: str) -> int:
    """In bytes."""
    return sum(len(one.encode()) for one in texts)


def test_what_every_page_holds_is_small(states: Report) -> None:
    styles = re.findall(r"(?s)<style[^>]*>(.*?)</style>", states.html)
    (header,) = re.findall(r"(?s)<header>.*?</header>", states.html)
    assert size(*scripts(states.html), *styles, header) <= 40_000


def test_scripts_are_small(states: Report) -> None:
    assert size(*scripts(states.html)) <= 16_000


def test_a_small_project_has_a_small_page(h3: Report) -> None:
    assert len(h3.html.encode()) <= 500_000


def test_a_real_project_has_a_page_of_modest_size(s2n: Report) -> None:
    data = s2n.html.encode()
    assert len(data) <= 2_500_000
    assert len(gzip.compress(data)) <= 600_000


@pytest.mark.parametrize(("requirements", "sources"), [(2000, 2000), (10000, 2000)])
def test_no_project_is_too_large_for_a_browser(
    requirements: int, sources: int, visit: Visits, reports: Reports, shared: Path
) -> None:
    page = visit(reports.generated(shared, requirements, sources).url)
    assert page.evaluate(ELEMENTS) <= MOST_ELEMENTS


def test_a_real_project_has_few_elements(visit: Visits, s2n: Report) -> None:
    assert visit(s2n.url).evaluate(ELEMENTS) <= MOST_ELEMENTS


def test_ten_times_as_many_references_add_no_elements(visit: Visits, reports: Reports, shared: Path) -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST NOT make a browser create more than 20,000 elements at first, and a citation MUST add at most
    ##% 200 bytes, apart from its code.
    few, many = (reports.generated(shared, 2000, 200, citations) for citations in (5, 50))
    counts = [visit(one.url).evaluate(ELEMENTS) for one in (few, many)]
    assert abs(counts[1] / counts[0] - 1) <= 0.05


def cost(reports: Reports, shared: Path, lines: int) -> float:
    """The bytes that each further reference adds to the page."""
    few, many = (reports.generated(shared, 2000, 200, citations, lines) for citations in (5, 50))
    return (len(many.html.encode()) - len(few.html.encode())) / (cited(many) - cited(few))


def cited(report: Report) -> int:
    """How many annotations refer to requirements."""
    return sum(one.get("type") != "SPEC" for one in report.json["annotations"])


@pytest.mark.parametrize(("lines", "most"), [(0, 200), (6, 450)])
def test_a_reference_takes_few_bytes(lines: int, most: int, reports: Reports, shared: Path) -> None:
    assert cost(reports, shared, lines) <= most


def test_the_text_of_specifications_grows_little(s2n: Report) -> None:
    parts = re.findall(r"(?s)<section class=part .*?</section>", s2n.html)
    without = [re.sub(r"(?s)<noscript>.*?</noscript>|<div class=refs>.*?</div>", "", part) for part in parts]
    text = [
        unescape(re.sub("<[^>]*>", "", text)) for part in parts for text in re.findall(r"(?s)<pre>(.*?)</pre>", part)
    ]
    assert len(parts) > 100
    assert sum(len(part.encode()) for part in without) <= 1.7 * sum(len(one.encode()) for one in text)
