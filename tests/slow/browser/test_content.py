import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Page, expect

from tests.golden_projects import STATUSES, requirements_of
from tests.sample_project import read_files
from tests.slow.browser import reports as projects
from tests.slow.browser.pages import Visits, address, attributes, count_elements, go, locators, views
from tests.unit.reports.html.html_pages import EVIL, EVIL_COMMENTS, EVIL_SPEC, tree
from tests.unit.reports.report_projects import STATES


def with_text(text: str) -> dict[str, str]:
    return projects.PASSING | {"tea.md": text, "src/a.rs": "fn brew() {}\n"}


@pytest.mark.parametrize(
    ("name", "files", "count"),
    [
        ("failing", projects.FAILING, 2),
        ("no requirements", projects.NO_REQUIREMENTS, 0),
        ("no specification", projects.NO_SPECIFICATION, 0),
        ("no sections", with_text("The pot MUST be warm.\n"), 1),
        ("an empty text", with_text(""), 0),
    ],
)
def test_small_projects_have_all_views(
    name: str, files: Mapping[str, str], count: int, visit: Visits, reports: projects.Reports
) -> None:
    page = visit(reports.of(name, files).url)
    for fragment in ("#sources", "#problems", "#overview", "#requirements?"):
        go(page, fragment)
        expect(page.locator(f"{fragment.rstrip('?')} h2")).to_be_visible()
    expect(page.locator("#requirements tbody tr")).to_have_count(count)


def numbers(page: Page) -> list[tuple[str, int]]:
    links: list[list[str]] = page.locator('#overview table a[href^="#requirements?"]').evaluate_all(
        "links => links.map(link => [link.getAttribute('href'), link.textContent])"
    )
    return [(href, int(text)) for href, text in links if text.strip().isdigit()]


def counted(report: projects.Report) -> Counter[tuple[str, str, str]]:
    found = requirements_of(report.json)
    return Counter((path, one.level or "OTHER", one.status) for (path, _, _), one in found.items())


@pytest.mark.parametrize(("project", "step"), [("states", 1), ("s2n", 5)])
def test_the_totals_are_those_of_json_and_lead_to_their_requirements(
    project: str, step: int, visit: Visits, request: pytest.FixtureRequest
) -> None:
    report: projects.Report = request.getfixturevalue(project)
    page = visit(report.url)
    names, found = locators(page), numbers(page)
    by_level: Counter[tuple[str, str, str]] = Counter()
    for href, amount in found:
        asked = dict(parse_qsl(href.partition("?")[2]))
        status = asked.get("status", "").replace("-", " ")
        if status in STATUSES and "spec" in asked and "level" in asked:
            by_level[names[asked["spec"]], asked["level"], status] += amount
    assert +by_level == counted(report)
    assert len(found) > 8
    for href, amount in found[::step]:
        go(page, href)
        expect(page.locator("#count")).to_have_text(re.compile(rf"^{amount}\b"))
        if amount <= 100:
            expect(page.locator("#requirements tbody tr")).to_have_count(amount)


def test_features_and_issues_lead_to_their_requirements(visit: Visits, reports: projects.Reports) -> None:
    asked = STATES | {"src/a.rs": STATES["src/a.rs"].replace("tracking-issue=7", "tracking-issue=tea & milk, #7+1")}
    page = visit(reports.of("asked", asked).url)
    links = page.locator("#overview .counts a.n")
    expect(links).to_have_count(4)
    for href in attributes(links, "href"):
        go(page, href)
        expect(page.locator("#count")).to_have_text("1 of 10 requirements")


# The text of each section by anchor, with ⟦⟧ around cited text.
MARKED = r"""parts => parts.map(part => [part.dataset.id ?? part.id, [...part.querySelectorAll('pre:not(li pre)')].map(pre => {
  const copy = pre.cloneNode(true)
  for (const one of copy.querySelectorAll('a, mark')) one.replaceWith(one.textContent.replace(/[^\n]+/g, '⟦$&⟧'))
  return copy.textContent.replaceAll('⟧⟦', '')
}).join('')])"""


def text_of(section: dict[str, Any]) -> str:
    """Return the same text from the JSON report."""
    lines = [
        line if isinstance(line, str) else "".join(f"⟦{text}⟧" if ids and text else text for ids, _, text in line)
        for line in section["lines"]
    ]
    return "\n".join(lines).replace("⟧⟦", "").rstrip()


REPEATED = re.compile(r"~(\d+)$")


def use_upstream_number(number: re.Match[str]) -> str:
    return f"-{int(number[1]) - 1}" if number[1] != "1" else ""


def assert_text_is_that_of_json(page: Page, report: projects.Report) -> dict[str, dict[str, str]]:
    found = {}
    for specification, locator in locators(page).items():
        sections = {one["id"]: text_of(one) for one in report.json["specifications"][locator]["sections"]}
        # The page numbers repeated sections as targets do (`same~2`), the JSON report as awslabs duvet does (`same-1`).
        go(page, f"#{specification}")
        texts = page.locator(f'[id="{specification}"] section.part').evaluate_all(MARKED)
        found[specification] = parts = {
            REPEATED.sub(use_upstream_number, id.removeprefix(f"{specification}/")): text for id, text in texts
        }
        assert views(page) == [specification]
        assert parts == {id: sections[id] for id in parts}
        assert {id for id, text in sections.items() if "⟦" in text} <= parts.keys()
    return found


def test_the_text_of_a_real_project_is_that_of_its_sources(visit: Visits, s2n: projects.Report) -> None:
    found = assert_text_is_that_of_json(visit(s2n.url), s2n)
    assert sum(map(len, found.values())) > 100


def test_letters_and_markdown_of_all_kinds_and_a_million_letters_keep_their_places(
    visit: Visits, reports: projects.Reports
) -> None:
    line = "The kettle sings while the water is heated and nobody listens to it at all.\n"
    files = read_files(Path(__file__).with_name("projects") / "letters")
    long = f"# Long\n\n## Pot\n\nThe pot MUST be warm.\n\n{line * 14_000}\nThe lid MUST be shut.\n"
    report = reports.of("letters", files | {"long.md": long})
    page = visit(report.url)
    parts = assert_text_is_that_of_json(page, report)
    assert {"guide", "same", "nested", "deeper"} <= parts["guide"].keys() and "pot" in parts["long"]
    titles = page.locator("#guide section.part h3 a:first-child").all_text_contents()
    assert titles == ["Guide", "Same~1", "Nested", "Deeper", "Same~2", "Same~3"]
    assert re.sub("[⟦⟧]", "", parts["letters"]["wide"]).split("\n") == files["letters.md"].splitlines()[4:7]
    # A quote that stands twice in its section is one requirement.
    assert page.locator('section.part[id$="/twice"] > pre :is(a, mark)').all_text_contents() == ["A cup MUST be clean."]
    # Text of two requirements names both.
    around = page.locator('section.part[id$="/around"]')
    ids = [id.rpartition("/")[2] for id in attributes(around.locator("ul.requirements > li"), "id")]
    named = [ids.split() for ids in attributes(around.locator("pre [data-r]"), "data-r")]
    assert len(ids) == 3 and max(map(len, named)) > 1 and {id for some in named for id in some} <= set(ids)


def test_pages_and_the_ways_between_them(visit: Visits, noted: projects.Report) -> None:
    page = visit(noted.url)
    page.click("nav.views a[href='#pages']")
    assert views(page) == ["pages"]
    expect(page.locator("#pages article h3")).to_have_text(["hostile", "Kettle", "Cups & saucers"])
    page.click("article[id='pages/kettle'] >> text=the *cups*")
    assert (views(page), address(page)) == (["pages"], "#pages/cups")
    page = visit(f"{noted.url}#pages/cups")
    assert views(page) == ["pages"]
    expect(page.locator("#notice")).to_be_hidden()
    # A requirement leads to the page that explains it.
    page = visit(f"{noted.url}#spec/brewing/38574ef4fa26")
    page.click("#panel >> text=Kettle")
    assert (views(page), address(page)) == (["pages"], "#pages/kettle")
    page = visit(noted.url, java_script_enabled=False)
    expect(page.locator("article[id='pages/kettle']")).to_contain_text("Linked from: Cups & saucers")


HOSTILE_NAME = "<img src=x onerror=alert(7)> & 'quotes' \"too\".rs"
LONG = "x" * 10_000


def hostile_files() -> dict[str, str]:
    config = f"""\
'$schema' = "duvet-cli/config/v1"
source = [{{ language = "rust", blob-link = "javascript:alert(9)//" }}]
specification = [{{ source = "tea.md" }}]
[report.html]
title = {json.dumps(EVIL)}
issue-link = "javascript:alert(10)"
embed-json = true
"""
    code = EVIL_COMMENTS.replace(f"reason={EVIL}", "type=todo", 1)
    code = "\ufeff\n" + code.replace("\n", "\r\n") + "\0"
    # A name that is not UTF-8 does not stop the report.
    names = {f"src/{HOSTILE_NAME}": code, "src/\udcff.rs": EVIL_COMMENTS}
    return {".duvet/config.toml": config, "tea.md": f"{EVIL_SPEC}\nThe long one MUST be {LONG}.\n", **names}


def harm(page: Page) -> list[str]:
    found: list[str] = page.locator("body").evaluate(
        """body => [...body.querySelectorAll("img, svg:not([class]), h1 ~ h1, iframe, [onerror], [onload]")]
          .concat([...body.querySelectorAll("a[href]")].filter(link => !/^(#|https?:)/.test(link.getAttribute("href"))))
          .map(one => one.outerHTML.slice(0, 100))"""
    )
    return found


def test_hostile_text_stays_text_in_every_view(visit: Visits, reports: projects.Reports) -> None:
    report = reports.of("hostile", hostile_files())
    page = visit(report.url)
    assert (page.locator("h1").all_text_contents(), page.title()) == ([EVIL], f"Overview · {EVIL}")
    for fragment in ("#requirements?", "#sources", "#problems", "#overview", "#tea"):
        go(page, fragment)
        assert (fragment, harm(page)) == (fragment, [])
    text = "\n".join(page.locator("article pre").all_text_contents())
    assert f"The pot {EVIL} MUST be warm." in text and f"The long one MUST be {LONG}." in text
    links = page.locator("article pre a")
    for number in range(links.count()):
        links.nth(number).evaluate("link => link.click()")
        expect(page.locator("#panel")).to_be_visible()
        assert harm(page) == []
    page.evaluate("id => { location.hash = id }", links.first.get_attribute("href"))
    expect(page.locator("#panel")).to_contain_text(EVIL[:60])
    page = visit(report.url, java_script_enabled=False)
    assert harm(page) == []
    assert f"src/{HOSTILE_NAME}" in page.locator("#sources .file h4").all_text_contents()
    expect(page.locator("article .references small").first).to_be_visible()
    for scripting in (True, False):
        tree(report.html, scripting=scripting)


def test_thousands_of_requirements_of_one_specification(visit: Visits, reports: projects.Reports) -> None:
    text = "# Tea\n" + "".join(
        f"\n## Part {part}\n\n" + "".join(f"Pot {part}.{one} MUST be warm.\n" for one in range(100))
        for part in range(50)
    )
    page = visit(reports.of("thousands", with_text(text)).url)
    assert count_elements(page) <= 20_000
    go(page, "#requirements?")
    expect(page.locator("#count")).to_have_text(re.compile("^5,?000 requirements"))
    go(page, "#tea")
    expect(page.locator("article ul.requirements > li")).to_have_count(5000)
    go(page, "#requirements?q=Pot%2049.99%20MUST")
    expect(page.locator("#requirements tbody tr")).to_have_count(1)
