"""The head of the page"""

from __future__ import annotations

import pytest

from duvet.reports.html.render import make_header_view, make_report_title
from tests.unit.reports.made import finished
from tests.unit.reports.made_pages import page_of, written
from tests.unit.reports.made_states import FILES

REPOSITORY = "o/r: requirements report"


@pytest.mark.parametrize(
    ("link", "title"),
    [
        ("https://github.com/o/r/blob/main", REPOSITORY),
        ("https://github.com/o/r/tree/main/", REPOSITORY),
        ("https://codeberg.org/o/r/src/branch/main", REPOSITORY),
        ("https://github.com/o/r/issues", REPOSITORY),
        ("https://gitlab.com/group/o/r/-/blob/main", "group/o/r: requirements report"),
        ("https://x.example/issues", "Requirements report: Tea & <biscuits>"),
        ("https://x.example/wiki/page", "Requirements report: Tea & <biscuits>"),
        ("javascript:o/r/blob", "Requirements report: Tea & <biscuits>"),
        ("https://[x/o/r/blob", "Requirements report: Tea & <biscuits>"),
    ],
)
def test_the_page_is_named_for_its_repository_or_its_specifications(link: str, title: str) -> None:
    ##= man/spec/page.md#overview
    ##% The report MUST have the configured title and logo, or be named after the repository that its links lead to, or
    ##% else after its specifications.
    assert make_report_title(page_of(finished(FILES, link))) == title
    assert make_report_title(page_of(finished(FILES, None, link))) == title


def test_the_configuration_names_the_page() -> None:
    shown = written(page_of(finished(FILES, "https://github.com/o/r/blob/main"), title="Kettle <1>", logo="ACME"))
    assert "<title>Kettle &lt;1&gt;</title>" in shown
    assert '<span class="brand">ACME</span>\n<div class="what">\n<h1>Kettle &lt;1&gt;</h1>\n' in shown


def test_many_specifications_are_not_named() -> None:
    texts = {f"{name}.md": f"# {name}\n\nIt MUST work.\n" for name in "abcd"}
    tables = "".join(f'\n[[specification]]\nsource = "{path}"\n' for path in texts)
    files = {".duvet/config.toml": FILES[".duvet/config.toml"].partition("\n[[spec")[0] + tables, **texts}
    assert make_report_title(page_of(finished(files))) == "Requirements report"
    assert make_report_title(page_of(finished({}))) == "Requirements report"


def test_what_the_page_was_made_from() -> None:
    ##= man/spec/page.md#overview
    ##% The report MUST name its version of duvet, its configuration and the checked-out commit, if there is one.
    known = {"commit": "0123456789abcdef", "version": "1.2", "config_path": ".duvet/config.toml"}
    words = make_header_view(page_of(finished({}), **known)).provenance
    assert words == "commit 0123456789ab · duvet 1.2 · configuration .duvet/config.toml"
    assert make_header_view(page_of(finished({}), version="1.2")).provenance == "duvet 1.2"
    assert 'class="provenance"' not in written(page_of(finished({})))
