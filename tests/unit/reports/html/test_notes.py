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


MARKDOWN = {
    "<script>alert(1)</script>": "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n",
    "a <b onclick=x>b</b>": "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>",
    "[a](javascript:alert(1))": "<p>a</p>",
    "[a](JaVaScRiPt:alert)": "<p>a</p>",
    "[a](data:text/html,x)": "<p>a</p>",
    "[a](//example.org)": "<p>a</p>",
    "[a](other.md)": "<p>a</p>",
    '[a](<https://x/"onclick="y>)': '<p><a href="https://x/&quot;onclick=&quot;y">a</a></p>',
    "![alt](https://x/y.png)": "<p>alt</p>",
    "<https://example.org>": '<p><a href="https://example.org">https://example.org</a></p>',
    "```\n</pre><script>\n```": "<pre>&lt;/pre&gt;&lt;script&gt;\n</pre>\n",
    "&lt;i&gt; &copy;": "<p>&lt;i&gt; ©</p>",
    "# A\n\n###### B": "<h4>A</h4>\n<h6>B</h6>\n",
    "3. a\n4. b": '<ol start="3">\n<li>a</li><li>b</li></ol>\n',
    "- a\n\n  b\n- c": "<ul>\n<li><p>a</p><p>b</p></li><li><p>c</p></li></ul>\n",
    "> a *b* **c**  \nd\n\n---": "<blockquote>\n<p>a <em>b</em> <strong>c</strong><br>\nd</p></blockquote>\n<hr>\n",
    "| a | *b* |\n|---|:-:|\n| 1 \\| 2 | <i> |": '<table>\n<thead><tr><th scope="col">a</th><th scope="col"><em>b</em></th>'
    "</tr></thead>\n<tbody>\n<tr><td>1 | 2</td><td>&lt;i&gt;</td></tr>\n</tbody></table>\n",
    "- [ ] a\n- [x] b": "<ul>\n<li>\u2610 a</li><li>\u2611 b</li></ul>\n",
    "<!-- a\n\nb -->": "",
    "<!-- a -->\n\nb": "<p>b</p>",
    "<!-- a --> <b>": "<p> &lt;b&gt;</p>\n",
    "a <!-- b --> c": "<p>a  c</p>",
    "<div>\n<!-- a\nb -->\n</div>": "<p>&lt;div&gt;\n\n&lt;/div&gt;</p>\n",
    "<!-- <script>x</script>": "",
    "<!-- a --><script>x</script>": "<p>&lt;script&gt;x&lt;/script&gt;</p>\n",
}


def test_markdown_of_pages_is_rendered() -> None:
    ##= man/spec/pages.md#in-the-html-report
    ##% The HTML report MUST escape the HTML tags of a page.
    assert {text: render_markdown(text) for text in MARKDOWN} == MARKDOWN


LINKS = {
    "[[spec]]": '<a href="#spec">spec</a>',
    "[[spec#history|then]]": '<a href="#spec/history">then</a>',
    "[[gone]]": "[[gone]]",
    '[[gone"&<b>#x|The *"label"*]]': '<span title="gone&quot;&amp;&lt;b&gt;#x">[[The *"label"*]]</span>',
    "[[spec#nothing|words]]": '<span title="spec#nothing">[[words]]</span>',
    "[a](../b%20c.md#x)": '<a href="#pages/b-c">a</a>',
    "[a](./own.md)": '<a href="#pages/in/own">a</a>',
    "[a](../../docs/spec.md)": "a",
    "[a](/docs/in/own.md)": '<a href="#pages/in/own">a</a>',
    "[a](../../../b.md)": "a",
    "[a](nowhere: 'b\"c')": '<span title="b&quot;c">a</span>',
}


def test_links_between_pages_lead_to_their_targets() -> None:
    ##= man/spec/pages.md#in-the-html-report
    ##% A page in the HTML report MUST NOT link to files outside the report.
    lines = "".join(f"Look {number}: {text}.\n\n" for number, text in enumerate(LINKS))
    page = written({"docs/in/own.md": f"{lines}| a |\n|---|\n| [[b c\\|d]] |\n", "docs/b c.md": "B"})
    assert dict(zip(LINKS, re.findall(r"<p>Look \d+: (.*?)\.</p>", page), strict=True)) == LINKS
    assert '<td><a href="#pages/b-c">d</a></td>' in page
    html5lib.HTMLParser(strict=True).parse(page)
