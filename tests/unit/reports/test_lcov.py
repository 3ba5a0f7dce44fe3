from itertools import product

from pytest_snapshot.plugin import Snapshot

from duvet.reports import lcov
from tests.unit.reports.report_projects import CONFIG, finished

TEA = "# Tea\n\n## Pot\n\nIt MUST be\nwarm.\n"
COMMENTS = """\
//= tea.md#pot
//# It MUST be warm.

//= tea.md#pot
//= type=test
//# warm.
"""


def files(text: str = TEA, comments: str = COMMENTS) -> dict[str, str]:
    return {".duvet/config.toml": CONFIG, "tea.md": text, "src/a.rs": comments}


def lines(found: str, record: str) -> list[str]:
    return [line for line in found.splitlines() if line.startswith(record)]


def test_a_whole_tracefile_is_written(snapshot: Snapshot) -> None:
    ((name, data),) = lcov.render_lcov(finished(files()))
    snapshot.assert_match(data, f"lcov/{name}")


def test_lines_covered_by_required_annotations() -> None:
    covered_by = {True: ["DA:3,1", "DA:6,1", "DA:5,0"], False: ["DA:3,1", "DA:5,1", "DA:6,1"]}
    for citations, (tests, covered) in product((True, False), covered_by.items()):
        ((_, data),) = lcov.render_lcov(finished(files()), citations, tests)
        assert lines(data.decode(), "DA:") == ["DA:5,0", "DA:6,0", *covered]


def test_a_title_over_several_lines_is_one_record() -> None:
    text = TEA.replace("## Pot", "Pot\n  and lid\n---")
    found = list(lcov.render_lcov(finished(files(text, "//= tea.md#pot-and-lid\n//# It MUST be\n"))))
    assert lines(found[0][1].decode(), "FN:") == ["FN:1,Tea", "FN:3,Pot and lid"]


def test_one_file_for_each_specification_with_a_relative_path() -> None:
    more = {"src/b.rs": "//= d/pot.txt#1\n//# It MUST be hot.\n", "d/pot.txt": "1.  Pot\n\n   It MUST be hot.\n"}
    found = list(lcov.render_lcov(finished(files() | more)))
    assert [name for name, _ in found] == ["compliance.0.lcov", "compliance.1.lcov"]
    assert [lines(data.decode(), "SF:") for _, data in found] == [["SF:d/pot.txt"], ["SF:tea.md"]]
    comments = "//= {0}#pot\n//# warm.\n"
    absolute = {"/w/d/a.md": TEA, "/v/b.md": TEA, "./c.md": TEA}
    reports = lcov.render_lcov(finished(files(comments="".join(comments.format(path) for path in absolute)) | absolute))
    names = [lines(data.decode(), "SF:") for _, data in reports]
    assert names == [["SF:../v/b.md"], ["SF:d/a.md"], ["SF:c.md"], ["SF:tea.md"]]
