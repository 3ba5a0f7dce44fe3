import json
import re
from datetime import date
from typing import Any

from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.reports.html.anchors import STATE_LOOKS
from duvet.reports.json_v2 import decode_v2_report
from duvet.reports.summary import describe_not_applicable
from duvet.trace.catalogue import NotApplicable, State
from duvet.trace.records import compute_totals
from tests.unit.reports.html.html_pages import page, without_shell
from tests.unit.reports.report_projects import (
    EXTENDED,
    NOT_APPLICABLE_DAY as DAY,
    UPSTREAM_SCHEMA,
    finished,
    json_v1_of,
    json_v2_of,
    not_applicable,
    snapshot_of,
    summary_of,
    with_entries,
)


def test_an_entry_in_words_does_not_drive_the_terminal() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"requirements": 1}, "not applicable: 1 requirement of a.md: b"),
        (
            {"target": "a.md#c", "quote": "d\n\te", "reason": " b\n c", "owner": "me", "requirements": 2},
            'not applicable: 2 requirements of a.md#c, "d e": b c (me)',
        ),
        ({"expiry": DAY, "requirements": 0}, "not applicable: 0 requirements of a.md: b (until 2030-01-31)"),
        (
            {"owner": "me", "expiry": DAY, "has_expired": True, "requirements": 3},
            "expired: 3 requirements of a.md: b (me, expired 2030-01-31)",
        ),
    ]
    for entry, words in cases:
        assert describe_not_applicable(NotApplicable(**{"target": "a.md", "reason": "b", **entry})) == words
    evil = NotApplicable(target="\x1b[31m", quote="\x07", reason="\x1b]0;x\x07", owner="\r", requirements=1)
    shown = summary_of(replace(finished(), not_applicable=(evil,)))
    assert all(line.isprintable() for line in shown.splitlines())


def test_the_snapshot_and_json_list_the_entries(snapshot: Snapshot) -> None:
    report = not_applicable()
    snapshot.assert_match(snapshot_of(report), "not_applicable/snapshot.txt")
    first = json.loads(json_v1_of(report))
    assert list(first) == ["specifications", "annotations", "statuses", "refs", "not_applicable"]
    del first["refs"]
    snapshot.assert_match(json.dumps(first, indent=1, ensure_ascii=False) + "\n", "not_applicable/v1.json")
    data = json_v2_of(report)
    snapshot.assert_match(data, "not_applicable/v2.json")
    read = decode_v2_report(data.encode()).annotations.not_applicable.values()
    assert {one.expiry for one in read} == {DAY, None}


def test_without_entries_nothing_is_different() -> None:
    ##= man/spec/trace.md#reports
    ##% With awslabs duvet's schema, the snapshot, LCOV and both versions of the JSON report MUST equal the files
    ##% that awslabs duvet writes, except for known defects of awslabs duvet.
    # With our own schema, neither markup nor the ends of lines are a part of a requirement.
    files = {path: text.replace("<b>brown</b>", "brown") for path, text in with_entries("").items()}
    files["tea.md"] = re.sub(r"(?<=\S)\n *(?=[^\n# ])", " ", files["tea.md"])
    config = EXTENDED.replace("duvet-cli/config/v1", UPSTREAM_SCHEMA)
    upstream, own = finished(files | {".duvet/config.toml": config}), finished(files)
    renderers = (page, summary_of, json_v1_of, json_v2_of, snapshot_of)
    shown = [render(own) for render in renderers]
    assert shown == [render(upstream) for render in renderers]
    assert not any("applicable" in one.replace("applicable req", "") for one in shown[1:])
    assert re.search("not.applicable|s9", without_shell(shown[0]).lower()) is None


TARGETS = (
    *("tea.md", "tea.md#pot", "tea.md#cup", "tea.md#milk"),
    *('tea.md#pot"\nquote = "Pots come first.', 'tea.md#cup"\nquote = "A saucer MAY be used.'),
)
DAYS = st.none() | st.dates(date(2030, 1, 29), date(2030, 2, 2))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(TARGETS), DAYS), max_size=4))
def test_all_reports_have_the_same_numbers(chosen: list[tuple[str, date | None]]) -> None:
    ##= man/spec/trace.md#coverage
    ##% Commands, reports and tools MUST show the same numbers for the same project.
    entries = "".join(
        f'\n[[not-applicable]]\ntarget = "{target}"\nreason = "no"\n' + (f"expiry = {day}\n" if day else "")
        for target, day in chosen
    )
    report = not_applicable(with_entries(entries))
    whole = compute_totals(report.requirements)[-1]
    assert whole.requirements == 10 == whole.applicable + whole.excepted + whole.not_applicable
    assert whole.done <= whole.applicable
    assert summary_of(report).splitlines()[-1] == f"coverage: {whole.words}"
    shown = page(report)
    marks = re.findall(r'<li id="?[^" ]*/[0-9a-f]{12}"? class="?(s\d)', shown)
    assert [marks.count(STATE_LOOKS[state].mark) for state in State] == list(whole.counts)
    assert f'<p class="coverage">Coverage: {whole.words}</p>' in shown
    listed = json.loads(json_v1_of(report)).get("not_applicable", [])
    assert [one["requirements"] for one in listed] == [one.requirements for one in report.not_applicable]
    valid = [one.requirements for one in report.not_applicable if not one.has_expired]
    assert max(valid, default=0) <= whole.not_applicable <= sum(valid)
