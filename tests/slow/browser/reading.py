"""What stands on an open page."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from playwright.sync_api import Page, expect

from tests.golden_projects import requirements_of
from tests.slow.browser.reports import Report

SLUGS = {
    "uncited": "not started",
    "to-do": "not started",
    "missing-implementation": "in progress",
    "partial": "in progress",
    "missing-test": "needs tests",
    "exception": "excepted",
    "implied": "done",
    "complete": "done",
}
"""What the terminal and JSON call the states of the page."""

RUNS = """pre => {
  const runs = []
  const walk = (node, marked) => {
    for (const child of node.childNodes)
      if (child.nodeType === Node.TEXT_NODE) runs.push([marked, child.data])
      else walk(child, marked || child.matches("a, mark"))
  }
  walk(pre, false)
  return runs
}"""

# The page forbids others' elements of style, but not what tools adopt.
ADD_STYLE = """css => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  document.adoptedStyleSheets.push(sheet)
}"""

Line = list[tuple[bool, str]]
"""The pieces of a line: whether something refers to them, and what they say."""


class Number(NamedTuple):
    """A number of the overview and what it counts."""

    specification: str
    level: str
    status: str
    amount: int
    href: str


def go(page: Page, fragment: str) -> None:
    """Follow a link within the page, until its view is there."""
    page.evaluate("hash => { location.hash = hash }", fragment)
    view = fragment.lstrip("#").partition("?")[0].partition("/")[0] or "overview"
    expect(page.locator(f'[id="{view}"]')).to_be_visible()


def add_style(page: Page, css: str) -> None:
    """Let the page have another style."""
    page.evaluate(ADD_STYLE, css)


def numbers(page: Page) -> list[Number]:
    """Every number of the table of totals that leads to its requirements."""
    links: list[list[str]] = page.locator('#overview table a[href^="#requirements?"]').evaluate_all(
        "links => links.map(link => [link.getAttribute('href'), link.textContent])"
    )
    return [_number(href, text) for href, text in links if text.strip().isdigit()]


def _number(href: str, text: str) -> Number:
    asked = {name: values[0] for name, values in parse_qs(href.partition("?")[2]).items()}
    return Number(asked.get("spec", ""), asked.get("level", ""), asked.get("status", ""), int(text), href)


def locators(page: Page) -> dict[str, str]:
    """What targets call the specifications of the page, by their anchors."""
    found: list[list[str]] = page.locator("article.view").evaluate_all(
        "articles => articles.map(article => [article.id, article.dataset.locator])"
    )
    return {id: locator for id, locator in found}


def counted(report: Report) -> Counter[tuple[str, str, str]]:
    """How many requirements there are by specification, level and status, going by the bytes of the JSON report."""
    found = requirements_of(report.json)
    return Counter(
        (path, one.level or "OTHER", "excepted" if one.excepted else one.status) for (path, _, _), one in found.items()
    )


def lines_of(runs: list[tuple[bool, str]]) -> list[Line]:
    """Lines of pieces, as few as there can be."""
    letters = [(bool(marked), letter) for marked, text in runs for letter in text]
    lines: list[list[tuple[bool, str]]] = [[]]
    for letter in letters:
        if letter[1] == "\n":
            lines.append([])
        else:
            lines[-1].append(letter)
    return [
        [(marked, "".join(letter for _, letter in run)) for marked, run in groupby(line, key=lambda one: one[0])]
        for line in lines
    ]


def text_of(section: dict[str, Any]) -> list[Line]:
    """The same lines, of a section of the JSON report, without blanks at the very end."""
    lines = [
        [(False, line)] if isinstance(line, str) else [(bool(ids), text) for ids, _, text in line]
        for line in section["lines"]
    ]
    while lines and lines[-1] and not lines[-1][-1][1].strip():
        lines[-1].pop()
    return lines_of([run for line in lines for run in [*line, (False, "\n")]][:-1])
