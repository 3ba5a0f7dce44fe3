"""The page"""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.model import Note, Place, Problem, Severity
from duvet.project.project import Project
from duvet.reports import json_v1
from duvet.reports.html.anchors import STATE_LOOKS, format_section_title
from duvet.reports.html.overview import COUNTED_STATES
from duvet.trace.coverage import Total, compute_totals, judge_run
from duvet.trace.records import Finished, State
from tests.conftest import ROOT
from tests.unit.reports.made import finished
from tests.unit.reports.made_pages import page, without_shell
from tests.unit.reports.made_states import CONFIG, FILES, MANNERS, TEA

BLOB, ISSUES = "https://git.example/o/r/blob/main/", "https://git.example/o/r/issues"
PROBLEMS = (
    Problem("DUV050", "no such text", "src/a.rs", Place(3, 5, 4), "text here", "look again"),
    Problem("DUV021", "twice", "src/a b.rs", Place(7), notes=(Note(Place(2, 1), "already defined here"),)),
    Problem("DUV051", "odd", severity=Severity.WARNING),
)
EVIL = """<img src=x onerror=alert(1)></script></style></pre><!--]]>"'&lt;{{ 1 }}{% raw %}\u2028\u202e"""
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


class Parsed(HTMLParser):
    """The tags of a page, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def values(self, attribute: str) -> list[str]:
        return [value for _, found in self.tags if (value := found.get(attribute)) is not None]


def evil(blob_link: str | None = None) -> Finished:
    files = {".duvet/config.toml": CONFIG, "tea.md": EVIL_SPEC, f"src/{EVIL.replace('/', '')}.rs": EVIL_COMMENTS}
    return finished(files, blob_link, blob_link)


def test_all_of_it(snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "html"
    snapshot.assert_match(without_shell(page(finished(FILES, BLOB, ISSUES), problems=PROBLEMS)), "all_of_it.html")


def test_nothing(snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "html"
    snapshot.assert_match(without_shell(page(finished({}))), "nothing.html")


OWN_SCRIPTS = [{}, {"type": "application/json", "id": "settings"}, {"type": "module"}]


def test_hostile_text_stays_text() -> None:
    ##= man/spec/page.md#safety
    ##% The report MUST show text from specifications, sources and the configuration as text, whatever it contains.
    problem = Problem(EVIL, EVIL, EVIL, Place(1, 1), EVIL, EVIL, notes=(Note(Place(1), EVIL),))
    parsed = Parsed(page(evil(f"https://x/{EVIL}"), problems=(problem,)))
    assert "img" not in {tag for tag, _ in parsed.tags}
    assert [found for tag, found in parsed.tags if tag == "script"] == OWN_SCRIPTS
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)
    parts = "<img src=x onerror=alert(1)>", "&lt;{{ 1 }}"
    assert [sum(text.count(part) for text in parsed.texts) for part in parts] == [25, 25]


def test_nothing_is_loaded() -> None:
    ##= man/spec/page.md#safety
    ##% The report MUST NOT load anything from elsewhere, and MUST link only to itself and the web.
    shown = page(finished(FILES, BLOB, ISSUES), problems=PROBLEMS)
    parsed = Parsed(shown)
    assert parsed.values("content")[0].split("; ")[0] == "default-src 'none'"
    assert {tag for tag, _ in parsed.tags} & {"base", "embed", "iframe", "img", "link", "object"} == set()
    assert [found for tag, found in parsed.tags if tag == "script"] == OWN_SCRIPTS
    assert [value for name in ("action", "background", "src", "srcset") for value in parsed.values(name)] == []
    assert re.findall(r"@import|url\((?!data:)", shown) == []


@pytest.mark.parametrize("link", [None, "javascript:alert(1)//", " http://x", "data:text/html,"])
def test_links_lead_to_places_on_the_page_or_to_the_web(link: str | None) -> None:
    assert [url for url in Parsed(page(evil(link))).values("href") if not url.startswith("#")] == []


def test_places_that_are_linked_exist_and_have_one_name() -> None:
    parsed = Parsed(page(finished(FILES), problems=PROBLEMS))
    ids = parsed.values("id")
    assert len(ids) == len(set(ids))
    assert {url[1:].partition("?")[0] for url in parsed.values("href") if url.startswith("#")} <= set(ids)


def test_sections_of_ietf_text_are_titled_with_their_numbers() -> None:
    text = "1. Heat\n\n   Heat it.\n\nAppendix A. Tea\n\n   Leaves.\n\nAbstract\n\n   Hot.\n"
    sections = ("section-1", "appendix-A", "name-abstract")
    comments = "".join(f"//= tea.txt#{name}\n\n" for name in sections)
    (coverage,) = finished({".duvet/config.toml": CONFIG, "tea.txt": text, "src/a.rs": comments}).trace.coverages
    titles = [format_section_title(coverage.specification, index) for index in range(len(sections))]
    assert titles == ["1. Heat", "Appendix A. Tea", "Abstract"]


def test_an_annotation_knows_better_where_it_can_be_read() -> None:
    config = CONFIG.replace("[[requirement]]", 'blob-link = "https://other.example/"\n\n[[requirement]]', 1)
    files = FILES | {".duvet/config.toml": config}
    links = Parsed(page(finished(files, BLOB))).values("href")
    assert "https://other.example/src/a.rs#L1" in links


def test_control_characters_are_not_in_the_page() -> None:
    files = FILES | {"src/a.rs": "//= tea.md#pot\n//= reason=a\x00b\x1bc\x7f\n//# The pot MUST be warm.\n"}
    assert re.search(r"[^\n -\x7e\x80-\U0010ffff]", page(finished(files))) is None


def test_json_in_the_page_is_the_same_value() -> None:
    out = BytesIO()
    json_v1.render_json_v1(evil(), out)
    shown = page(evil(), embedded=out.getvalue())
    ((island,),) = [re.findall(r'(?s)<script type="application/json" id=result>(.*?)</script>', shown)]
    assert json.loads(island) == json.loads(out.getvalue())
    assert "<" not in island


@pytest.mark.parametrize("name", ["h3-704b37a", "dataplane-7b1f4a0"])
def test_numbers_on_the_page_are_the_totals(name: str, shared: Path) -> None:
    ##= man/spec/trace.md#coverage
    ##% All commands, reports and tools MUST take their numbers from the same computation.
    report = Project(str(shared / "golden" / name / "project")).finished()
    found = compute_totals(report.requirements)
    parsed = Parsed(page(report))
    rows = re.findall(r"(?s)<tr.*?</tr>", page(report).partition("<tbody>")[2].partition("</table>")[0])
    numbers = [[int(number) for number in re.findall(r">(\d+)(?:</a>)?</td>", row)] for row in rows]
    assert numbers == [
        [one.done, one.applicable, *(one.counts[state] for state in COUNTED_STATES)] for one in _shown(found)
    ]
    assert _listed(parsed) == list(found[-1].counts)
    assert judge_run(found[-1], ()).words in parsed.texts


def _shown(found: tuple[Total, ...]) -> list[Total]:
    several = len({one.specification.id for one in found if one.specification}) > 1
    return [one for one in found if one.specification or several]


def _listed(parsed: Parsed) -> list[int]:
    marks = [
        found["class"]
        for tag, found in parsed.tags
        if tag == "li" and re.search("/[0-9a-f]{12}$", found.get("id") or "")
    ]
    return [marks.count(STATE_LOOKS[state].mark) for state in State]


def test_text_of_a_section_is_the_text_of_the_specification() -> None:
    shown = re.findall(r"(?s)<pre>(.*?)</pre>", page(finished(FILES)))
    texts = [unescape(re.sub(r"<[^>]*>", "", text)) for text in shown]
    parts = [*_parts(TEA), _parts(MANNERS)[-1]]
    assert texts == parts


def _parts(text: str) -> list[str]:
    return [part.partition("\n")[2].strip() for part in re.split(r"(?m)^#+ ", text) if part]
