"""Pages of finished traces."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import Element

import html5lib

from duvet.reports.html import render
from duvet.reports.html.anchors import ReportData
from duvet.trace.catalogue import build_catalogue
from duvet.trace.records import Finished


def page_of(report: Finished, **given: Any) -> ReportData:
    """The page of a trace with these fields."""
    return ReportData(finished=report, catalogue=build_catalogue(report.trace, report.requirements, ()), **given)


def written(page: ReportData) -> str:
    """A page as HTML."""
    out = BytesIO()
    render.render_html(page, out)
    return out.getvalue().decode()


def page(report: Finished, **given: Any) -> str:
    """The page of a trace as HTML."""
    return written(page_of(report, **given))


_SHELL = re.compile(
    r"(?s)(?<=<style>).*?(?=</style>)|(?<=<script>).*?(?=</script>)|(?<=module\">).*?(?=</script>)|sha256-[^']*"
)


def without_shell(text: str) -> str:
    """A page less its styles and scripts."""
    return _SHELL.sub("", text)


def tree(text: str, *, scripting: bool = False) -> Element:
    """The elements that a browser makes of a page; what is held back is text where it runs scripts."""
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    found: Element = parser.parse(text, scripting=scripting)
    assert [error for _, error, _ in parser.errors] == []
    return found
