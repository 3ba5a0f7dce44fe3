import re

import html5lib
from pytest_snapshot.plugin import Snapshot

from duvet.console.report_data import make_report_data
from duvet.reports.html import render
from duvet.reports.html.notes import render_markdown
from tests.unit.knowledge.pages.page_projects import project_of
from tests.unit.reports.report_projects import rendered

NOTES: dict[str, str | bytes] = {
    "docs/kettle.md": "---\ncreated: 2026-05-02\ntags: [heat]\n---\n# Kettle\n\nSee [[cups|the *cups*]], [[spec#brewing]], "
    "[[gone]] and `[[code]]`.\n\n<div>[[cups]]</div>\n",
    "docs/cups.md": "---\ncreated: 2026-05-01\ntitle: Cups & saucers\n---\n[[kettle]]\n",
}


def written(files: dict[str, str | bytes]) -> str:
    project = project_of(files)
    return rendered(make_report_data(project, project.finished(), (), None), render.render_html)


def test_the_view_of_pages_is_rendered(snapshot: Snapshot) -> None:
    ##= man/spec/pages.md#in-the-html-report
    ##% The HTML report MUST show each page with its text, its outlinks and its backlinks, and list, for each
    ##% requirement, the pages that link to it.
    text = written(NOTES)
    view = text[text.index('<section class="view" id="pages">') :].partition("</section>\n")
    snapshot.assert_match("".join(view[:2]), "html/pages.html")
    assert '<a href="#pages">Pages</a>' in text
    assert text.count('<p class=explained>Explained in <a href="#pages/kettle">Kettle</a></p>') == 2
    html5lib.HTMLParser(strict=True).parse(text)


def test_projects_without_pages_with_long_ones_and_with_a_specification_called_pages() -> None:
    assert [name in written({}) for name in ('id="pages"', "Explained in", "#pages")] == [False] * 3
    assert "Explained in" not in written({"docs/a.md": "# A\n"})
    text = written({"docs/a.md": "word " * 300_000, "docs/b.md": "short"})
    assert "<p>The text is left out to keep this report small: see docs/a.md.</p>" in text and "<p>short</p>" in text
    assert len(text) < 500_000
    config = "'$schema' = 'duvet-cli/config/v1'\n[[specification]]\nsource = 'pages.md'\n"
    pages = {"pages.md": "# P\n\nIt MUST be.\n", "docs/a.md": "# A"}
    text = written({".duvet/config.toml": config, **pages})
    assert text.count('id="pages"') == 1 and 'id="pages-2"' in text


MARKDOWN = [
    *("<script>alert(1)</script>", "a <b onclick=x>b</b>", "[a](javascript:alert(1))", "[a](JaVaScRiPt:alert)"),
    *("[a](data:text/html,x)", "[a](//example.org)", "[a](other.md)", '[a](<https://x/"onclick="y>)'),
    *("![alt](https://x/y.png)", "<https://example.org>", "```\n</pre><script>\n```", "&lt;i&gt; &copy;"),
    *("# A\n\n###### B", "3. a\n4. b", "- a\n\n  b\n- c", "> a *b* **c**  \nd\n\n---"),
    *("| a | *b* |\n|---|:-:|\n| 1 \\| 2 | <i> |", "- [ ] a\n- [x] b", "<!-- a\n\nb -->", "<!-- a -->\n\nb"),
    *("<!-- a --> <b>", "a <!-- b --> c", "<div>\n<!-- a\nb -->\n</div>", "<!-- <script>x</script>"),
    "<!-- a --><script>x</script>",
]


def test_markdown_of_pages_is_rendered(snapshot: Snapshot) -> None:
    ##= man/spec/pages.md#in-the-html-report
    ##% The HTML report MUST escape the HTML tags of a page.
    snapshot.assert_match("".join(f"{text!r}\n{render_markdown(text)}|\n\n" for text in MARKDOWN), "html/markdown.txt")


LINKS = [
    *("[[spec]]", "[[spec#history|then]]", "[[gone]]", '[[gone"&<b>#x|The *"label"*]]'),
    *("[[spec#nothing|words]]", "[a](../b%20c.md#x)", "[a](./own.md)", "[a](../../docs/spec.md)"),
    *("[a](/docs/in/own.md)", "[a](../../../b.md)", "[a](nowhere: 'b\"c')"),
]


def test_links_between_pages_lead_to_their_targets(snapshot: Snapshot) -> None:
    ##= man/spec/pages.md#in-the-html-report
    ##% A page in the HTML report MUST NOT link to files outside the report.
    lines = "".join(f"Look {number}: {text}.\n\n" for number, text in enumerate(LINKS))
    page = written({"docs/in/own.md": f"{lines}| a |\n|---|\n| [[b c\\|d]] |\n", "docs/b c.md": "B"})
    found = zip(LINKS, re.findall(r"<p>Look \d+: (.*?)\.</p>", page), strict=True)
    snapshot.assert_match("".join(f"{text!r}: {link}\n" for text, link in found), "html/links.txt")
    assert '<td><a href="#pages/b-c">d</a></td>' in page
    html5lib.HTMLParser(strict=True).parse(page)
