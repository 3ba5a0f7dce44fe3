"""Projects of odd sizes: nothing at all, one of everything, and a great deal."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from playwright.sync_api import expect

from tests.slow.browser.projects import NO_REQUIREMENTS, NO_SECTIONS, NO_SPECIFICATION, PASSING
from tests.slow.browser.reading import go, lines_of, locators, text_of
from tests.slow.browser.reports import Reports
from tests.slow.browser.test_text import shown
from tests.slow.browser.visits import Visits

ELEMENTS = "document.querySelectorAll('*').length"
MARKDOWN = """\
# Guide

| MUST | be |
|---|---|
| a cell MUST be a cell | `code` |

## Same

<div>HTML MUST stay <b>literal</b></div>

### Nested

```python
assert "code MUST stay code"
```

#### Deeper

> A quote MUST be quoted.

## Same

1. An item MUST be numbered.
   - A nested item MUST be nested.

## Same
"""
MANY = 5_000


def with_text(text: str) -> dict[str, str]:
    return PASSING | {"tea.md": text, "src/a.rs": "fn brew() {}\n"}


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("no specification", NO_SPECIFICATION),
        ("no requirements", NO_REQUIREMENTS),
        ("no sections", NO_SECTIONS),
        ("one requirement", with_text("# Tea\n\n## Pot\n\nThe pot MUST be warm.\n")),
        ("an empty text", with_text("")),
    ],
)
def test_small_projects_have_all_views(name: str, files: Mapping[str, str], visit: Visits, reports: Reports) -> None:
    page = visit(reports.of(name, files).url)
    for fragment in ("#requirements?", "#sources", "#problems", "#overview"):
        go(page, fragment)
        expect(page.locator(f"{fragment.rstrip('?')} h2")).to_be_visible()
    count = 1 if name == "one requirement" else 0
    go(page, "#requirements?")
    expect(page.locator("#requirements tbody tr")).to_have_count(count)


def test_thousands_of_requirements_of_one_specification(visit: Visits, reports: Reports) -> None:
    text = "# Tea\n" + "".join(
        f"\n## Part {part}\n\n" + "".join(f"Pot {part}.{one} MUST be warm.\n" for one in range(100))
        for part in range(MANY // 100)
    )
    page = visit(reports.of("thousands", with_text(text)).url)
    assert page.evaluate(ELEMENTS) <= 20_000
    go(page, "#requirements?")
    expect(page.locator("#count")).to_contain_text("5000" if page.get_by_text("5000").count() else "5,000")
    go(page, "#tea")
    expect(page.locator("article ul.requirements > li")).to_have_count(MANY)
    go(page, "#requirements?q=Pot%2049.99%20MUST")
    expect(page.locator("#requirements tbody tr")).to_have_count(1)


def test_a_section_of_a_million_letters(visit: Visits, reports: Reports) -> None:
    line = "The kettle sings while the water is heated and nobody listens to it at all.\n"
    text = f"# Tea\n\n## Pot\n\nThe pot MUST be warm.\n\n{line * 14_000}\nThe lid MUST be shut.\n"
    report = reports.of("a million", with_text(text))
    page = visit(f"{report.url}#tea")
    sections = {one["id"]: text_of(one) for one in report.json["specifications"]["tea.md"]["sections"]}
    assert shown(page, "tea")["pot"] == sections["pot"]


def test_markdown_of_all_kinds_is_shown_as_it_was_written(visit: Visits, reports: Reports) -> None:
    report = reports.of("markdown", with_text(MARKDOWN))
    page = visit(report.url)
    sections = {one["id"]: text_of(one) for one in report.json["specifications"]["tea.md"]["sections"]}
    (specification,) = locators(page)
    parts = shown(page, specification)
    assert parts == {id: sections[id] for id in parts}
    assert {"guide", "same", "nested", "deeper"} <= parts.keys() and lines_of([]) == [[]]
    titles = page.locator("section.part h3 a:first-child").all_inner_texts()
    assert titles.count("Same") >= 2
