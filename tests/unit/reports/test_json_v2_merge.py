"""Merging reports."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import Raw
from msgspec.structs import replace

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
    report = make_report(
        issue_links=("b", "a", "b"), linked={"lnk-1": v2.LinkedSource(file_name="a.rs")}, cite={"cite-1": CITE}
    )
    assert merged(report) == report


def test_annotations_are_united() -> None:
    first = make_report(issue_links=("b", "a"), repositories={"repo-1": REPOSITORY}, inline={"src-1": INLINE})
    second = make_report(
        issue_links=("a",), inline={"src-1": INLINE}, linked={"lnk-1": LINKED}, section={"sec-1": SECTION}
    )
    assert merged(first, second) == make_report(
        issue_links=("a", "b"),
        repositories={"repo-1": REPOSITORY},
        inline={"src-1": INLINE},
        linked={"lnk-1": LINKED},
        section={"sec-1": SECTION},
    )


def test_entries_that_are_not_applicable_are_united() -> None:
    more, other = replace(ENTRY, requirements=5), replace(ENTRY, target="c")
    for reports in permutations(
        [make_report(not_applicable={"1": ENTRY, "2": other}), make_report(not_applicable={"1": more}), make_report()]
    ):
        assert merged(*reports).annotations.not_applicable == {"1": more, "2": other}


def test_a_url_that_one_report_has_is_kept() -> None:
    for reports in permutations(
        [make_report(specification={"spc-1": SPECIFICATION}), make_report(specification={"spc-1": FOUND})]
    ):
        assert merged(*reports).annotations.specification == {"spc-1": FOUND}


def test_coverage_is_united() -> None:
    ranges = [v2.ByteRange(2, 4), v2.ByteRange(0, 4), v2.ByteRange(0, 1)]
    first = replace(REQUIREMENT, coverage={"cite-2": (ranges[0], ranges[1]), "cite-1": (ranges[0],)})
    second = replace(REQUIREMENT, coverage={"cite-2": (ranges[2], ranges[1])})
    expected = replace(REQUIREMENT, coverage={"cite-1": (ranges[0],), "cite-2": (ranges[2], ranges[1], ranges[0])})
    found = merged(make_report(requirement={"req-1": first}), make_report(requirement={"req-1": second}))
    assert found.annotations.requirement == {"req-1": expected}


BUCKETS: dict[type[v2.V2Record], tuple[str, str]] = {
    v2.RepositoryRecord: ("repositories", "repo-1"),
    v2.InlineSource: ("inline", "src-1"),
    v2.LinkedSource: ("linked", "lnk-1"),
    v2.SpecificationRecord: ("specification", "spc-1"),
    v2.SectionRecord: ("section", "sec-1"),
    v2.RequirementRecord: ("requirement", "req-1"),
    v2.CiteRecord: ("cite", "cite-1"),
}
SOFT: list[tuple[v2.V2Record, dict[str, Any], str]] = [
    (INLINE, {"file_name": "b"}, "inline source 'src-1' with file_name 'b' {} 'a.md'"),
    (SPECIFICATION, {"title": None}, "specification annotation 'spc-1' with title none {} \"A\""),
    (SPECIFICATION, {"format": "ietf"}, "specification annotation 'spc-1' with format 'ietf' {} 'markdown'"),
    (FOUND, {"url": "b"}, 'specification annotation \'spc-1\' with url "b" {} "https://a"'),
    (SECTION, {"short_name": "b"}, "section annotation 'sec-1' with short_name 'b' {} 'a'"),
    (SECTION, {"long_name": "B"}, 'section annotation \'sec-1\' with long_name "B" {} "A"'),
    (REQUIREMENT, {"level": "SHOULD"}, "requirement annotation 'req-1' with level Should {} Must"),
    (CITE, {"type": "TEST"}, "cite annotation 'cite-1' with type Test {} Citation"),
    (CITE, {"level": "MAY"}, "cite annotation 'cite-1' with level May {} Auto"),
    (CITE, {"target": NOWHERE}, "cite annotation 'cite-1' with target {}"),
]
BROKEN: list[tuple[v2.V2Record, dict[str, Any], str]] = [
    (REPOSITORY, {"blob_link": "x"}, "repository 'repo-1' with blob_link 'x' {} 'https://b'"),
    (INLINE, {"contents": "B"}, "inline source 'src-1' with contents {} contents"),
    (LINKED, {"repository": "x"}, "linked source 'lnk-1' that differs from previously seen entry under the same id"),
    (SPECIFICATION, {"source": SHORT}, "specification 'spc-1' with source differing from previously seen"),
    (SECTION, {"source": SHORT}, "section 'sec-1' with source differing from previously seen"),
    (REQUIREMENT, {"source": THERE}, "requirement 'req-1' with source differing from previously seen"),
    (REQUIREMENT, {"origin": NOWHERE}, "requirement 'req-1' with origin differing from previously seen"),
    (CITE, {"source": THERE}, "cite 'cite-1' with source differing from previously seen"),
]


@pytest.mark.parametrize(
    ("prefix", "record", "change", "words"),
    [("", *one) for one in SOFT] + [("internal invariant violation: ", *one) for one in BROKEN],
)
def test_conflicting_reports_are_refused(prefix: str, record: v2.V2Record, change: dict[str, Any], words: str) -> None:
    ##= man/spec/trace.md#reports
    ##% `duvet merge` MUST refuse reports that contradict each other and list the contradictions, and its result MUST
    ##% NOT depend on the order of its inputs.
    bucket, id = BUCKETS[type(record)]
    found = conflicts(make_report(**{bucket: {id: record}}), make_report(**{bucket: {id: replace(record, **change)}}))
    assert found == [("1.json", f"{prefix}input #1 has {words}".format("conflicting with previously seen"))]


def test_every_conflict_is_listed() -> None:
    first = make_report(section={"sec-1": SECTION}, cite={"cite-1": CITE})
    second = make_report(section={"sec-1": replace(SECTION, short_name="b", long_name="B")})
    third = make_report(cite={"cite-1": replace(CITE, type="TODO")})
    found = [(path, message.partition(" has ")[0]) for path, message in conflicts(first, second, third)]
    assert found == [("1.json", "input #1"), ("1.json", "input #1"), ("2.json", "input #2")]


def test_files_without_a_repository_may_be_in_one_report_only() -> None:
    report = make_report(
        linked={"lnk-1": v2.LinkedSource(file_name="a.rs"), "lnk-2": v2.LinkedSource(file_name="b.rs")}
    )
    words = "without a repository appears in inputs #0 and #2"
    assert conflicts(report, make_report(), report) == [
        ("2.json", f"linked source 'lnk-1' (file 'a.rs') {words}"),
        ("2.json", f"linked source 'lnk-2' (file 'b.rs') {words}"),
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
    found, (warning,) = merge_reports(
        [("0", make_report(cite={"cite-1": first})), ("1", make_report(cite={"cite-1": second}))]
    )
    expected = replace(CITE, comment="a", feature="f", tracking_issue="7", tags=("a", "b", "z"))
    assert found.annotations.cite == {"cite-1": expected}
    words = "cite annotation 'cite-1' with metadata drift from previously seen (comment, feature, tracking_issue, tags)"
    assert (warning.path, warning.severity, warning.message) == ("1", "warning", f"input #1 has {words}")


IDS = st.sampled_from(["1", "2", "3"])
TEXTS = st.none() | st.sampled_from(["a", "b"])
RANGES = st.lists(st.builds(v2.ByteRange, st.integers(0, 3), st.integers(0, 3)), max_size=3).map(tuple)
REPORTS = st.builds(
    make_report,
    issue_links=st.lists(IDS).map(tuple),
    specification=st.dictionaries(IDS, st.sampled_from([SPECIFICATION, FOUND])),
    requirement=st.dictionaries(
        IDS, st.dictionaries(IDS, RANGES).map(lambda coverage: replace(REQUIREMENT, coverage=coverage))
    ),
    cite=st.dictionaries(
        IDS,
        st.builds(
            lambda comment, feature, tags: replace(CITE, comment=comment, feature=feature, tags=tuple(sorted(tags))),
            TEXTS,
            TEXTS,
            st.sets(IDS),
        ),
    ),
    not_applicable=st.dictionaries(IDS, st.integers(0, 9).map(lambda count: replace(ENTRY, requirements=count))),
)


@given(st.lists(REPORTS, min_size=2, max_size=3))
def test_the_order_of_the_inputs_makes_no_difference(reports: list[v2.V2Report]) -> None:
    results = [merge_reports([("", report) for report in order])[0] for order in permutations(reports)]
    assert all(result == results[0] for result in results)
