import re
from typing import Any
from xml.etree.ElementTree import Element

import html5lib

from duvet.model import Note, Place, Problem
from duvet.reports.html import render
from duvet.reports.html.anchors import ReportData
from duvet.trace.catalogue import build_catalogue
from duvet.trace.records import Finished
from tests.unit.reports.report_projects import CONFIG, STATES, finished, rendered

EVIL = (
    "<img src=x onerror=alert(1)></script></style></title></noscript></pre></section></main><h1>mine</h1>"
    """<svg onload=alert(2)><!-- <script> <!--]]>"'&lt;{{ 1 }}{% raw %}\u2028\u202e"""
)
EVIL_SPEC = f"""\
# Tea {EVIL}

{EVIL}

## Pot {EVIL} {{#pot}}

The pot {EVIL} MUST be warm.
"""
EVIL_COMMENTS = f"""\
//= tea.md#pot
//= reason={EVIL}
//= feature={EVIL}
//= tracking-issue={EVIL}
//# The pot {EVIL} MUST be warm.

//= tea.md#pot
//= type=exception
//= reason={EVIL}
//# The pot
"""
EVIL_PROBLEM = Problem(EVIL, EVIL, EVIL, Place(1, 1), EVIL, EVIL, notes=(Note(Place(1), EVIL),))


def evil(blob_link: str | None = None) -> Finished:
    files = {".duvet/config.toml": CONFIG, "tea.md": EVIL_SPEC, f"src/{EVIL.replace('/', '')}.rs": EVIL_COMMENTS}
    return finished(files, blob_link, blob_link)


def page_of(report: Finished, **given: Any) -> ReportData:
    return ReportData(finished=report, catalogue=build_catalogue(report.trace, report.requirements, ()), **given)


def page(report: Finished, **given: Any) -> str:
    return rendered(page_of(report, **given), render.render_html)


def without_shell(text: str) -> str:
    shell = r"(?<=<style>).*?(?=</style>)|(?<=<script>).*?(?=</script>)|(?<=module\">).*?(?=</script>)|sha256-[^']*"
    return re.sub(f"(?s){shell}", "", text)


def tree(text: str, *, scripting: bool = False) -> Element:
    """Return the elements that a browser makes of a page; with scripting, the content of `noscript` is text."""
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    found: Element = parser.parse(text, scripting=scripting)
    assert [error for _, error, _ in parser.errors] == []
    assert all(isinstance(one.tag, str) for one in found.iter()), "a comment"
    return found


def values(shown: Element, attribute: str) -> list[str]:
    return [value for one in shown.iter() if (value := one.get(attribute)) is not None]


def write_specifications(number: int, text: str) -> dict[str, str]:
    texts = {f"s{index}.md": text.format(index) for index in range(number)}
    tables = "".join(f'\n[[specification]]\nsource = "{path}"\n' for path in texts)
    return {".duvet/config.toml": STATES[".duvet/config.toml"].partition("\n[[spec")[0] + tables, **texts}
