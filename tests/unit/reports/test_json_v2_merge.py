from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import Raw
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.errors import DuvetError, ProblemsError
from duvet.reports import json_v2 as v2
from duvet.reports.json_v2 import merge_reports

SPAN, SHORT = v2.SourceSpan(src="src-1", start=0, end=9), v2.SourceSpan(src="src-1", start=0, end=8)
TARGET, NOWHERE = v2.SourceRanges(src="src-1", ranges=(v2.ByteRange(0, 4),)), v2.SourceRanges(src="src-1", ranges=())
HERE, THERE = v2.SourceLocation(src="lnk-1", line=3), v2.SourceLocation(src="lnk-1")
REPOSITORY = v2.RepositoryRecord(blob_link="https://b")
INLINE = v2.InlineSource(file_name="a.md", contents="A")
LINKED = v2.LinkedSource(file_name="a.rs", repository="repo-1")
SPECIFICATION = v2.SpecificationRecord(source=SPAN, title="A", format="markdown")
FOUND = replace(SPECIFICATION, url="https://a")
SECTION = v2.SectionRecord(source=SPAN, short_name="a", long_name="A")
REQUIREMENT = v2.RequirementRecord(source=HERE, origin=TARGET, level="MUST")
CITE = v2.CiteRecord(source=HERE, target=TARGET, type="CITATION")
ENTRY = v2.NotApplicableRecord(target="a", reason="b", requirements=3)


def make_report(**buckets: Any) -> v2.V2Report:
    sources = {name: buckets.pop(name) for name in ("inline", "linked") if name in buckets}
    top = {name: buckets.pop(name) for name in ("issue_links", "repositories") if name in buckets}
    return v2.V2Report(**top, sources=v2.V2Sources(**sources), annotations=v2.V2Annotations(**buckets))


def merged(*reports: v2.V2Report) -> v2.V2Report:
    found, warnings = merge_reports([(f"{index}.json", report) for index, report in enumerate(reports)])
    assert warnings == ()
    return found


def conflicts(*reports: v2.V2Report) -> list[tuple[str, str]]:
    with pytest.raises(ProblemsError) as caught:
        merge_reports([(f"{index}.json", report) for index, report in enumerate(reports)])
    assert {problem.code for problem in caught.value.problems} == {"DUV071"}
    return [(problem.path, problem.message) for problem in caught.value.problems]


def test_nothing_to_merge_and_one_report() -> None:
    with pytest.raises(DuvetError, match="at least one input report"):
        merge_reports([])
    linked = {"lnk-1": v2.LinkedSource(file_name="a.rs")}
    report = make_report(issue_links=("b", "a", "b"), linked=linked, cite={"cite-1": CITE})
    assert merged(report) == report


def test_annotations_are_united() -> None:
    first = make_report(issue_links=("b", "a"), repositories={"repo-1": REPOSITORY}, inline={"src-1": INLINE})
    more = {"inline": {"src-1": INLINE}, "linked": {"lnk-1": LINKED}, "section": {"sec-1": SECTION}}
    both = make_report(issue_links=("a", "b"), repositories={"repo-1": REPOSITORY}, **more)
    assert merged(first, make_report(issue_links=("a",), **more)) == both


def test_entries_urls_and_coverage_are_united() -> None:
    more, other = replace(ENTRY, requirements=5), replace(ENTRY, target="c")
    first = make_report(not_applicable={"1": ENTRY, "2": other}, specification={"spc-1": SPECIFICATION})
    second = make_report(not_applicable={"1": more}, specification={"spc-1": FOUND})
    for reports in permutations([first, second, make_report()]):
        found = merged(*reports).annotations
        assert (found.not_applicable, found.specification) == ({"1": more, "2": other}, {"spc-1": FOUND})
    ranges = [v2.ByteRange(2, 4), v2.ByteRange(0, 4), v2.ByteRange(0, 1)]
    start = replace(REQUIREMENT, coverage={"cite-2": (ranges[0], ranges[1]), "cite-1": (ranges[0],)})
    end = replace(REQUIREMENT, coverage={"cite-2": (ranges[2], ranges[1])})
    expected = replace(REQUIREMENT, coverage={"cite-1": (ranges[0],), "cite-2": (ranges[2], ranges[1], ranges[0])})
    united = merged(make_report(requirement={"req-1": start}), make_report(requirement={"req-1": end}))
    assert united.annotations.requirement == {"req-1": expected}


CHANGES: dict[str, list[tuple[v2.V2Record, dict[str, Any]]]] = {
    "repositories": [(REPOSITORY, {"blob_link": "x"})],
    "inline": [(INLINE, {"file_name": "b"}), (INLINE, {"contents": "B"})],
    "linked": [(LINKED, {"repository": "x"})],
    "specification": [
        *((SPECIFICATION, {"title": None}), (SPECIFICATION, {"format": "ietf"}), (FOUND, {"url": "b"})),
        (SPECIFICATION, {"source": SHORT}),
    ],
    "section": [(SECTION, {"short_name": "b"}), (SECTION, {"long_name": "B"}), (SECTION, {"source": SHORT})],
    "requirement": [(REQUIREMENT, change) for change in ({"level": "SHOULD"}, {"source": THERE}, {"origin": NOWHERE})],
    "cite": [(CITE, change) for change in ({"type": "TEST"}, {"level": "MAY"}, {"target": NOWHERE}, {"source": THERE})],
}


def test_conflicting_reports_are_refused(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#reports
    ##% `duvet merge` MUST refuse contradictory reports and list the contradictions, and its result MUST NOT depend on
    ##% the order of its inputs.
    first, second = {}, {}
    for bucket, changes in CHANGES.items():
        first[bucket] = {f"{bucket}-{number}": record for number, (record, _) in enumerate(changes)}
        second[bucket] = {f"{bucket}-{number}": replace(one, **change) for number, (one, change) in enumerate(changes)}
    third = make_report(cite={"cite-0": replace(CITE, type="TODO")})
    found = conflicts(make_report(**first), make_report(**second), third)
    assert len(found) == sum(map(len, CHANGES.values())) + 1
    snapshot.assert_match("".join(f"{path}: {message}\n" for path, message in found), "json_v2/conflicts.txt")


def test_files_without_a_repository_may_be_in_one_report_only() -> None:
    report = make_report(linked={f"lnk-{name}": v2.LinkedSource(file_name=f"{name}.rs") for name in "ab"})
    words = "without a repository appears in inputs #0 and #2"
    assert conflicts(report, make_report(), report) == [
        ("2.json", f"linked source 'lnk-a' (file 'a.rs') {words}"),
        ("2.json", f"linked source 'lnk-b' (file 'b.rs') {words}"),
    ]


def test_extensions_must_agree() -> None:
    first = v2.V2Report(sources=v2.V2Sources(extensions={"x": Raw(b"[1]"), "y": Raw(b"1")}))
    second = v2.V2Report(sources=v2.V2Sources(extensions={"x": Raw(b"[1]"), "z": Raw(b"2")}))
    third = v2.V2Report(annotations=v2.V2Annotations(extensions={"x": Raw(b"[2]")}))
    found = merged(first, second, third)
    assert found.sources.extensions == {"x": Raw(b"[1]"), "y": Raw(b"1"), "z": Raw(b"2")}
    assert found.annotations.extensions == third.annotations.extensions
    changed = v2.V2Report(sources=v2.V2Sources(extensions={"x": Raw(b"[2]")}))
    words = "extension 'x' under sources conflicting with previously seen value"
    assert conflicts(first, changed) == [("1.json", f"input #1 has {words}")]


def test_metadata_drift_is_reconciled_with_a_warning() -> None:
    first = replace(CITE, comment="b", feature="f", tags=("z", "a"))
    second = replace(CITE, comment="a", tracking_issue="7", tags=("b",))
    reports = [(str(number), make_report(cite={"cite-1": one})) for number, one in enumerate((first, second))]
    found, (warning,) = merge_reports(reports)
    expected = replace(CITE, comment="a", feature="f", tracking_issue="7", tags=("a", "b", "z"))
    assert found.annotations.cite == {"cite-1": expected}
    words = "cite annotation 'cite-1' with metadata drift from previously seen (comment, feature, tracking_issue, tags)"
    assert (warning.path, warning.severity, warning.message) == ("1", "warning", f"input #1 has {words}")


IDS = st.sampled_from(["1", "2", "3"])
TEXTS = st.none() | st.sampled_from(["a", "b"])
RANGES = st.lists(st.builds(v2.ByteRange, st.integers(0, 3), st.integers(0, 3)), max_size=3).map(tuple)
CITES = st.builds(
    lambda comment, feature, tags: replace(CITE, comment=comment, feature=feature, tags=tuple(sorted(tags))),
    *(TEXTS, TEXTS, st.sets(IDS)),
)
REPORTS = st.builds(
    make_report,
    issue_links=st.lists(IDS).map(tuple),
    specification=st.dictionaries(IDS, st.sampled_from([SPECIFICATION, FOUND])),
    requirement=st.dictionaries(IDS, st.dictionaries(IDS, RANGES).map(lambda one: replace(REQUIREMENT, coverage=one))),
    cite=st.dictionaries(IDS, CITES),
    not_applicable=st.dictionaries(IDS, st.integers(0, 9).map(lambda count: replace(ENTRY, requirements=count))),
)


@given(st.lists(REPORTS, min_size=2, max_size=3))
def test_the_order_of_the_inputs_makes_no_difference(reports: list[v2.V2Report]) -> None:
    results = [merge_reports([("", report) for report in order])[0] for order in permutations(reports)]
    assert all(result == results[0] for result in results)
