from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from duvet.config.languages import find_comment_pair
from duvet.model import Annotation, Kind
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.sources.editor import format_annotation
from duvet.specs.requirement_files import read_requirement_file
from tests.sample_project import read_files
from tests.slow.browser.pages import COPYING, Visits, come_back, press, quote_of
from tests.slow.browser.reports import Report, Reports

TARGET = "tea=cups.md#hot-water"
STYLES = {
    "src/*.rs": SourceStyle(),
    "src/*.c": SourceStyle("*=", "*#"),
    "tests/*.py": SourceStyle("##=", "##%", Kind.TEST),
}
REASON = 'tea is served "iced" in summer, \\ and in winter nobody comes here to drink any of it, hot or not'
WITHOUT_CLIPBOARD = "Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })"


@pytest.fixture(scope="session")
def tea(reports: Reports) -> Report:
    return reports.of("copying", read_files(Path(__file__).with_name("projects") / "copying"))


def opened(visit: Visits, tea: Report) -> Page:
    page = visit(f"{tea.url}#tea-cups/hot-water", **COPYING)
    page.locator("pre a").first.click()
    expect(page.locator("#panel")).to_be_visible()
    return page


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def status(page: Page, text: str) -> None:
    expect(page.locator("#panel [role=status]")).to_contain_text(text)


def copied(page: Page, kind: str, form: str = "comment") -> str:
    page.click(f"#panel [data-do={form}][data-kind={kind}]")
    status(page, "Copied: ")
    return clipboard(page)


def describe_annotation(annotation: Annotation) -> tuple[Kind, str, str, str]:
    return annotation.kind, annotation.target, annotation.quote, annotation.reason


@pytest.mark.parametrize("style", STYLES)
def test_a_citation_is_copied_as_a_comment(visit: Visits, tea: Report, style: str) -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The citation that a user copies from a requirement MUST cite this requirement, as a comment in the selected
    ##% style or as TOML.
    page = opened(visit, tea)
    page.select_option("#panel .style select", style)
    page.fill("#panel .reason", REASON)
    for name, kind in {
        "implementation": Kind.CITATION,
        "test": Kind.TEST,
        "implication": Kind.IMPLICATION,
        "exception": Kind.EXCEPTION,
        "todo": Kind.TODO,
    }.items():
        text = copied(page, name)
        annotations, problems = scan_comments("source", text, STYLES[style])
        reason = REASON if kind is Kind.EXCEPTION else ""
        assert [describe_annotation(one) for one in annotations] == [(kind, TARGET, quote_of(page), reason)]
        assert problems == []
        assert [line for line in text.splitlines() if len(line) > 80 and "https://" not in line] == []
        assert ("type=" in text) == (kind is not STYLES[style].kind)
    # A comment is wrapped as the command wraps it.
    pair = find_comment_pair(style, STYLES[style].meta)
    lines = format_annotation(STYLES[style], " " if pair else "", TARGET, quote_of(page), kind=Kind.TEST)
    expected = [pair.first, *lines, f" {pair.last}"] if pair else lines
    assert copied(page, "test") == "".join(f"{line}\n" for line in expected)


@pytest.mark.parametrize("reason", [REASON, ""])
def test_a_citation_is_copied_as_toml(visit: Visits, tea: Report, reason: str) -> None:
    page = opened(visit, tea)
    page.fill("#panel .reason", reason)
    text = copied(page, "exception", "toml") + copied(page, "todo", "toml")
    annotations, problems = read_requirement_file("more.toml", text.encode())
    assert [describe_annotation(one) for one in annotations] == [
        (Kind.EXCEPTION, TARGET, quote_of(page), reason),
        (Kind.TODO, TARGET, quote_of(page), ""),
    ]
    assert problems == []


def test_the_style_is_remembered(visit: Visits, tea: Report) -> None:
    page = opened(visit, tea)
    page.select_option("#panel .style select", "src/*.c")
    come_back(page, style="src/*.c")
    assert page.input_value("#panel .style select") == "src/*.c"
    press(page, "c")
    status(page, "Copied: comment, implementation.")
    assert clipboard(page).startswith("/*\n *= source=tea=cups.md#hot-water\n *# The")


def test_the_target_and_places(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#tea/pot", **COPYING)
    page.locator("pre a").nth(1).click()
    page.click("#panel [data-do=target]")
    status(page, "Copied: target.")
    assert clipboard(page) == "tea.md#pot"
    page.click("#panel .references button >> nth=1")
    status(page, "Copied: src/a.rs:4.")
    assert clipboard(page) == "src/a.rs:4"


def test_the_key_copies_from_the_list(visit: Visits, states: Report) -> None:
    page = visit(f"{states.url}#requirements", **COPYING)
    press(page, "j", "c")
    expect(page.locator("#notice")).to_have_text("Copied: comment, implementation.")
    assert clipboard(page) == "//= tea.md#milk\n//# The pot MUST be warm.\n"


def test_text_is_selected_without_a_clipboard(visit: Visits, tea: Report) -> None:
    page = opened(visit, tea)
    page.add_init_script(WITHOUT_CLIPBOARD)
    page.reload()
    button = page.locator("#panel [data-do=comment][data-kind=test]")
    button.click()
    status(page, "Copied: comment, test.")
    expect(page.locator(".hand")).to_have_count(0)
    expect(button).to_be_focused()


def test_text_is_selected_where_copying_fails(visit: Visits, tea: Report) -> None:
    page = opened(visit, tea)
    page.add_init_script(f"{WITHOUT_CLIPBOARD}; document.execCommand = () => false")
    page.reload()
    page.click("#panel [data-do=toml][data-kind=todo]")
    area = page.locator("#panel .hand")
    expect(area).to_be_focused()
    annotations, _ = read_requirement_file("more.toml", area.input_value().encode())
    assert [describe_annotation(one) for one in annotations] == [(Kind.TODO, TARGET, quote_of(page), "")]
    assert page.evaluate("getSelection().toString()") == area.input_value()
    page.click("#panel [data-do=toml][data-kind=exception]")
    expect(area).to_have_count(1)


def test_an_issue_is_opened_with_the_requirement(visit: Visits, tea: Report, states: Report) -> None:
    page = opened(visit, tea)
    url = urlsplit(str(page.locator("#panel .issue a").get_attribute("href")))
    assert f"{url.scheme}://{url.netloc}{url.path}" == "https://git.example/org/tea/issues/new"
    asked = parse_qs(url.query)
    assert asked["labels"] == ["compliance,compliance:MUST,spec:Tea"]
    assert asked["body"] == [f"> {quote_of(page)}\n\n{TARGET}\n"]
    assert asked["title"][0].startswith('hot-water: The "water" MUST be hot')
    # Without an issue link none is offered.
    page = visit(f"{states.url}#tea/pot")
    page.locator("pre a").first.click()
    expect(page.locator("#panel .issue")).to_be_hidden()
