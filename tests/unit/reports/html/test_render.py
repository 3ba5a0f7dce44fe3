import itertools
import json
import re
from datetime import date
from typing import Any

from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.model import Note, Place, Problem, Severity
from duvet.queries.gaps import make_priority_rows, prioritize_requirements
from duvet.queries.records import RequirementFilter
from duvet.reports.html.render import make_report_title
from duvet.reports.snapshot import SnapshotChange, SnapshotDiff
from duvet.trace.records import Finished, GateResult, compute_totals
from tests.unit.reports.html import html_pages
from tests.unit.reports.html.html_pages import EVIL, EVIL_PROBLEM, evil, page, page_of, tree, values, without_shell
from tests.unit.reports.report_projects import CONFIG, STATES, finished, json_v1_of, not_applicable

BLOB, ISSUES = "https://git.example/o/r/blob/main/", "https://git.example/o/r/issues"
PROBLEMS = (
    Problem("DUV050", "no such text", "src/a.rs", Place(3, 5, 4), "not in this section", "look again"),
    Problem("DUV021", "twice", "src/a b.rs", Place(7), notes=(Note(Place(2, 1), "already defined here"),)),
    Problem("DUV051", "odd", severity=Severity.WARNING),
)
OWN_SCRIPTS = [{}, {"type": "application/json", "id": "settings"}, {"type": "module"}]
REPOSITORY, SPECIFICATION = "o/r: requirements report", "Requirements report: Tea & <biscuits>"


def test_whole_reports_match_their_golden_files(snapshot: Snapshot) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% The summary, the HTML report, the snapshot and both versions of the JSON report MUST list every
    ##% `[[not-applicable]]` entry.
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST list each requirement with its state, its level, its number of citations by type, and whether
    ##% it needs code or tests.
    expired = not_applicable(today=date(2030, 2, 1))
    for name, shown in {
        "all_of_it": page(finished(STATES, BLOB, ISSUES), problems=PROBLEMS),
        "nothing": page(finished({})),
        "not_applicable": page(not_applicable()),
        "expired": page(expired, problems=expired.trace.problems),
    }.items():
        snapshot.assert_match(without_shell(shown), f"html/{name}.html")


def test_hostile_text_stays_text() -> None:
    ##= man/spec/page.md#safety
    ##% The report MUST escape all text that comes from specifications, source files and the configuration.
    shown = tree(page(evil(f"https://x/{EVIL}"), problems=(EVIL_PROBLEM,)))
    assert [one.tag for one in shown.iter("img")] == []
    assert [one.attrib for one in shown.iter("script")] == OWN_SCRIPTS
    assert not any(name.startswith("on") for one in shown.iter() for name in one.attrib)
    text = "".join(shown.itertext())
    assert [text.count(part) for part in ("<img src=x onerror=alert(1)>", "&lt;{{ 1 }}")] == [27, 27]


def test_nothing_is_loaded() -> None:
    ##= man/spec/page.md#safety
    ##% The report MUST NOT load external resources. The report MUST NOT link to anything except itself and web pages.
    shown = page(finished(STATES, BLOB, ISSUES), problems=PROBLEMS)
    elements = tree(shown)
    assert values(elements, "content")[0].split("; ")[0] == "default-src 'none'"
    assert {one.tag for one in elements.iter()} & {"base", "embed", "iframe", "img", "link", "object"} == set()
    assert [one.attrib for one in elements.iter("script")] == OWN_SCRIPTS
    assert not any(values(elements, name) for name in ("action", "background", "src", "srcset"))
    assert re.findall(r"@import|url\((?!data:)", shown) == []


def test_links_that_do_not_lead_to_the_web_are_left_out() -> None:
    for link in (None, "javascript:alert(1)//", " http://x", "data:text/html,"):
        shown = without_shell(page(evil(link)))
        assert set(re.findall('<[^>]*? href="?(.)', shown)) == {"#"} and '"issueLink":null' in shown


def test_characters_that_html_does_not_allow_are_replaced() -> None:
    chars = "\x00\x0c\x1b\x7f\x85\x9f\ufdd0\uffff\U0010fffe"
    source = f"//= tea.md#pot\n//= reason=a{chars}b\n//# The pot MUST be warm.\n"
    shown = page(finished(STATES | {"src/a.rs": source}), title=f"a{chars}b", embedded=f'["{chars}☕"]'.encode())
    assert tree(shown).findtext(".//h1") == f"a{'?' * len(chars)}b"
    assert re.search(r"[^\n -\x7e\x80-\U0010ffff]", shown) is None


def test_embedded_json_is_the_same_value() -> None:
    data = json_v1_of(evil())
    shown = page(evil(), embedded=data.encode())
    (island,) = re.findall(r'(?s)<script type="application/json" id=result>(.*?)</script>', shown)
    assert json.loads(island) == json.loads(data) and "<" not in island


def test_the_report_is_named_after_its_repository_or_its_specifications() -> None:
    github = "https://github.com/o/r"
    unknown = ("https://x.example/issues", "https://x.example/wiki/page", "javascript:o/r/blob", "https://[x/o/r/blob")
    links = (
        f"{github}/blob/main",
        f"{github}/tree/main/",
        "https://codeberg.org/o/r/src/branch/main",
        f"{github}/issues",
    )
    for link, title in {
        **dict.fromkeys(links, REPOSITORY),
        "https://gitlab.com/group/o/r/-/blob/main": "group/o/r: requirements report",
        **dict.fromkeys(unknown, SPECIFICATION),
    }.items():
        assert make_report_title(page_of(finished(STATES, link))) == title
        assert make_report_title(page_of(finished(STATES, None, link))) == title
    for files in (html_pages.write_specifications(4, "# S{}\n\nIt MUST work.\n"), {}):
        assert make_report_title(page_of(finished(files))) == "Requirements report"


def test_the_report_names_what_it_was_made_from() -> None:
    known = {"commit": "0123456789abcdef", "version": "1.2", "config_path": ".duvet/config.toml"}
    words = '<p class="provenance">commit 0123456789ab · duvet 1.2 · configuration .duvet/config.toml</p>'
    assert words in page(finished({}), **known)
    assert '<p class="provenance">duvet 1.2</p>' in page(finished({}), version="1.2")
    assert 'class="provenance"' not in page(finished({}))


def test_the_report_is_valid_html() -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST be valid HTML for every input. The report MUST be readable without scripts.
    for scripting in [True, False]:
        hostile = {**dict.fromkeys(("title", "logo", "commit"), EVIL), "snippets": {0: EVIL}}
        for shown in (
            page(finished({})),
            page(finished(STATES, "https://x/"), problems=(EVIL_PROBLEM,)),
            page(evil("https://x/"), problems=(EVIL_PROBLEM,), **hostile),
        ):
            found = tree(shown, scripting=scripting)
            ids = values(found, "id")
            assert len(ids) == len(set(ids))
            levels = [int(one.tag[1]) for one in found.iter() if one.tag in ("h1", "h2", "h3", "h4")]
            assert levels.count(1) == 1
            assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def elements(text: str, *, scripting: bool = True) -> int:
    return sum(1 for _ in tree(text, scripting=scripting).iter())


def make_large_project(requirements: int, citations: int) -> dict[str, str]:
    sentences = [f"The pot MUST be {number}." for number in range(requirements)]
    sections = [
        f"## Part {start}\n\n" + "\n".join(sentences[start : start + 50]) for start in range(0, requirements, 50)
    ]
    comments = [f"//= tea.md#part-{number // 50 * 50}\n//# {sentence}\n\n" for number, sentence in enumerate(sentences)]
    sources = {f"src/{number}.rs": "".join(comments) for number in range(citations)}
    return {".duvet/config.toml": CONFIG, "tea.md": "# Tea\n\n" + "\n\n".join(sections) + "\n", **sources}


def test_citations_are_no_elements() -> None:
    ##= man/spec/page.md#size-and-accessibility
    ##% The report MUST NOT create more than 20,000 HTML elements when a browser opens it.
    few, more = (elements(page(finished(make_large_project(50, citations)))) for citations in (1, 20))
    assert few == more


def test_a_reference_takes_few_bytes() -> None:
    code = "brew();\n" * 6
    for snippet, most in (("", 130), (code, 130 + len(code))):
        few, many = (
            page(finished(make_large_project(50, citations)), snippets=dict.fromkeys(range(50 * citations), snippet))
            for citations in (5, 25)
        )
        assert (len(many) - len(few)) / (50 * 20) <= most


ODD = PROBLEMS[-1]


def line(text: str, **given: str) -> SnapshotChange:
    fields = {"specification": "tea.md", "section": "pot", "before": "test", "after": "implementation, test"}
    return SnapshotChange(text=text, **(fields | given))


def overview(report: Finished, **given: Any) -> str:
    return page(report, **given).partition('id="overview">\n')[2].partition('</section>\n<section class="view"')[0]


def test_a_whole_overview_is_rendered_and_one_without_changes(snapshot: Snapshot) -> None:
    report = finished(STATES, None, ISSUES)
    since = SnapshotDiff(
        gained=(line("The pot MUST be warm."),),
        lost=(
            line("It <MAY> be", section="gone", after=""),
            line("a", after="", specification="https://gone.example/", section="b"),
        ),
        removed=(line("b", section="cup"), line("c", before="", after="")),
        added=tuple(line(f"Line {number}", before="") for number in range(10)),
    )
    catalogue = page_of(report).catalogue
    rows = make_priority_rows(catalogue, prioritize_requirements(catalogue, RequirementFilter()), 3)
    snapshot.assert_match(overview(report, problems=PROBLEMS[::2], next=tuple(rows), since=since), "html/overview.html")
    shown = overview(finished(STATES), since=SnapshotDiff())
    assert "<h3>Changes since the committed snapshot</h3>\n<p>No changes.</p>\n" in shown
    assert "Changes since" not in overview(finished(STATES))


HELD = GateResult("snapshot", "snapshot is up to date", 0)


def test_the_verdict_of_the_run_is_shown() -> None:
    for gates, problems, verdict in [
        ((), (), '<p class="verdict neutral">OK: all {} annotations are valid</p>'),
        ((), (ODD,), '<p class="verdict neutral">OK: all {} annotations are valid</p>'),
        ((HELD,), (ODD,), '<p class="verdict pass">PASS: snapshot is up to date</p>'),
        (
            (HELD, GateResult("citations", "every requirement is cited", 1)),
            (replace(ODD, severity=Severity.ERROR),),
            '<p class="verdict fail">PASS: snapshot is up to date<br>FAIL: citations: 1 problem</p>',
        ),
    ]:
        report = finished(STATES)
        coverage = compute_totals(report.requirements)[-1]
        begin = f'<h2 tabindex="-1">Overview</h2>\n{verdict.format(report.trace.citation_count)}\n'
        words = f'<p class="coverage">Coverage: {coverage.words}</p>\n'
        assert overview(report, problems=problems, gates=gates).startswith(begin + words)


def test_tables_of_specifications_and_levels() -> None:
    files = html_pages.write_specifications(1, "# S{}\n\nIt MUST work.\n\nThis MUST shine.\n")
    table = overview(finished(files)).partition('<table class="totals">')[2].partition("</table>")[0]
    heads = re.findall(r'<th scope="col"[^>]*>(?:<span.*?</span>&nbsp;)?(.*?)</th>', table)
    assert heads == ["Specification", "Level", "Done", "Applicable", "Coverage", "Uncited"]
    assert re.findall('<th scope="row">(.*?)</th>', table) == ["MUST"]
    for number, rows in [(2, 3 + 3 + 3), (40, 40 * 3 + 3), (41, 41 + 3)]:
        files = html_pages.write_specifications(number, "# S{}\n\nIt MUST work.\n\nIt MAY shine.\n")
        assert overview(finished(files)).partition("<tbody>")[2].partition("</table>")[0].count("<tr") == rows
