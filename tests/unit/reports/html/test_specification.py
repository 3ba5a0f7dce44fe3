import re
from urllib.parse import unquote

from pytest_snapshot.plugin import Snapshot

from tests.sample_project import read_files
from tests.unit.reports.html.html_pages import page, tree, values, without_shell
from tests.unit.reports.report_projects import PROJECTS, STATES, finished

ODD = read_files(PROJECTS / "odd")


def test_the_text_is_that_of_the_specification() -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST show the text of a section with the line breaks of its specification, and link each requirement
    ##% in it to the requirement's details.
    with_returns = {path: text.replace("\n", "\r\n") for path, text in ODD.items()}
    odd, same = (
        ["".join(text.itertext()) for text in tree(page(finished(files)), scripting=True).iter("pre")]
        for files in (ODD, with_returns)
    )
    parts = [part.partition("\n")[2].strip() for part in re.split(r"(?m)^#+ ", ODD["many.md"]) if part]
    assert odd == same and set(parts) < set(odd)


def test_sections_that_are_left_out_are_counted() -> None:
    shown, whole = page(finished(STATES)), page(finished(STATES), whole_text=True)
    assert '<p class="left-out">2 sections without citations are not shown.</p>' in shown
    assert 'class="left-out"' not in whole
    assert [len(list(tree(one).iter("pre"))) for one in (shown, whole)] == [5, 6]


BLOB = "https://git.example/o/r/blob/main"
NAMES = (
    *("src/a b.rs", "src/a#b?c.rs", "src/100%\\.rs", "src/é/☕.rs", 'src/"<a>&amp;.rs'),
    *("src/a\nb\r.rs", "src/a-b.rs"),
)


def test_odd_anchors_states_and_file_names(snapshot: Snapshot) -> None:
    ##= man/spec/page.md#requirements-and-citations
    ##% The report MUST list the citations of each file and of each requirement with their place, type, target, reason,
    ##% feature, tracking issue and tags.
    report = finished(ODD | dict.fromkeys(NAMES, "//= main.md#main/cited\n//# A pot MUST b.\n"), BLOB)
    shown = page(report, problems=report.trace.problems, snippets={0: "if a < b:\n    c()"})
    snapshot.assert_match(without_shell(shown), "html/odd.html")
    elements = tree(shown)
    ids = values(elements, "id")
    links = {link for link in values(elements, "href") if link.startswith("#")}
    assert len(ids) == len(set(ids))
    assert {unquote(link[1:]) for link in links if not link.startswith("#requirements?")} <= set(ids)
