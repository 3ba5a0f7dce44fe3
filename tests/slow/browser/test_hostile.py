"""Nothing that somebody writes can leave its place on the page."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.slow.browser.reading import go
from tests.slow.browser.reports import Report, Reports
from tests.slow.browser.visits import Visits

ATTACKS = (
    "</script><script>alert(1)</script>",
    "</noscript><img src=x onerror=alert(2)>",
    "<!-- <script> <!--",
    "]]>",
    '"><img src=x onerror=alert(3)>',
    "'><svg onload=alert(4)>",
    "</pre></section></main><h1>mine</h1>",
    "javascript:alert(5)",
    "{{ 7 * 7 }} {% raw %}",
    "&lt;b&gt; &amp;amp;",
    "\u2028\u2029",
    "\u202ereversed\u202c",
    "</title></style><script>alert(6)</script>",
)
NAME = "<img src=x onerror=alert(7)> & 'quotes' \"too\".rs"
ALL = " ".join(ATTACKS)
LONG = "x" * 10_000
SENTENCES = "\n\n".join(f"Number {number} MUST be {attack} shown." for number, attack in enumerate(ATTACKS))
SPECIFICATION = f"# Title {ATTACKS[0]}\n\n## Section `{ATTACKS[1]}`\n\n{SENTENCES}\n\nThe long one MUST be {LONG}.\n"


TARGET = "spec.md#section-noscript-img-src-x-onerror-alert-2"


def toml(text: str) -> str:
    """A string of TOML that holds no quotes of its own kind."""
    escapes = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escapes.get(letter, letter) for letter in text) + '"'


def code(anchor: str) -> str:
    """Comments that say everything that a comment can say."""
    quotes = [f"Number {number} MUST be {attack} shown." for number, attack in enumerate(ATTACKS)]
    cited = [f'//= {anchor}\n//# {quote}\nfn f() {{ "{ALL}" }}\n' for quote in quotes if "\u2028" not in quote]
    todo = f"//= {anchor}\n//= type=todo\n//= feature={ALL}\n//= tracking-issue=javascript:alert(8)\n//# {quotes[0]}\n"
    exception = f"//= {anchor}\n//= type=exception\n//= reason={ATTACKS[4]}\n//# {quotes[3]}\n"
    wrong = f"//= {anchor}\n//# {ATTACKS[4]} stands nowhere\n"
    return "\ufeff" + "".join([*cited, todo, exception, wrong]).replace("\n", "\r\n") + "\0"


def files(anchor: str) -> dict[str, str]:
    """A project that wishes its readers ill."""
    return {
        ".duvet/config.toml": f"""\
'$schema' = "duvet-cli/config/v1"
source = [{{ language = "rust", blob-link = "javascript:alert(9)//" }}]
specification = [{{ source = "spec.md" }}]
requirement = [{{ pattern = "more/*.toml" }}]

[report.html]
title = {toml(ATTACKS[4])}
issue-link = "javascript:alert(10)"
embed-json = true
""",
        "spec.md": SPECIFICATION,
        f"src/{NAME}": code(anchor),
        "more/a.toml": f"target = '{anchor}'\n[[todo]]\nquote = 'Number 1 MUST be'\ntags = [{toml(ATTACKS[1])}]\n"
        f"feature = {toml(ATTACKS[0])}\ntracking-issue = 'https://host/{toml(ATTACKS[1])[1:-1]}'\n",
    }


def hostile(reports: Reports) -> Report:
    return reports.of("hostile", files(TARGET))


def harm(page: Page) -> list[str]:
    """What stands on the page that nobody of us has put there."""
    found: list[str] = page.locator("body").evaluate(
        """body => [...body.querySelectorAll("img, svg:not([class]), h1 ~ h1, iframe, [onerror], [onload]")]
          .concat([...body.querySelectorAll("a[href]")].filter(link => !/^(#|https?:)/.test(link.getAttribute("href"))))
          .map(one => one.outerHTML.slice(0, 100))"""
    )
    return found


def test_hostile_text_stays_text_in_every_view(visit: Visits, reports: Reports) -> None:
    page = visit(hostile(reports).url)
    expect(page.locator("h1")).to_have_count(1)
    expect(page.locator("h1")).to_contain_text(ATTACKS[4])
    for fragment in ("#spec", "#requirements?", "#sources", "#problems", "#overview"):
        go(page, fragment)
        assert (fragment, harm(page)) == (fragment, [])


def test_hostile_quotes_are_shown_to_the_letter(visit: Visits, reports: Reports) -> None:
    page = visit(f"{hostile(reports).url}#spec")
    text = page.locator("article pre").evaluate_all("all => all.map(one => one.textContent).join('\\n')")
    assert SENTENCES in text
    assert f"The long one MUST be {LONG}." in text


def test_the_panel_keeps_hostile_text_harmless(visit: Visits, reports: Reports) -> None:
    page = visit(f"{hostile(reports).url}#spec")
    links = page.locator("article pre a")
    assert links.count() > 10
    for number in range(links.count()):
        links.nth(number).evaluate("link => link.click()")
        expect(page.locator("#panel")).to_be_visible()
        assert harm(page) == []
    page.evaluate("id => { location.hash = id }", links.first.get_attribute("href"))
    expect(page.locator("#panel")).to_contain_text(ATTACKS[0])


def test_without_scripts_hostile_text_stays_text(visit: Visits, reports: Reports) -> None:
    page = visit(hostile(reports).url, java_script_enabled=False)
    assert harm(page) == []
    expect(page.locator("#sources .file h4").last).to_have_text(f"src/{NAME}")
    expect(page.locator("article .references small").first).to_be_visible()


def test_names_that_are_no_text_do_not_stop_the_page(visit: Visits, reports: Reports) -> None:
    report = reports.of("surrogate", {**files(TARGET), "src/\udcff.rs": f"//= {TARGET}\n//# ]]>\n"})
    assert harm(visit(report.url)) == []
