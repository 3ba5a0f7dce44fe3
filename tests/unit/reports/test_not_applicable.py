"""What is not owed, in every report."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.project.project import Project
from duvet.reports import json_v1, snapshot, summary
from duvet.reports.html.anchors import STATE_LOOKS
from duvet.reports.json_v2 import decode_v2_report
from duvet.reports.summary import describe_not_applicable
from duvet.trace.coverage import compute_totals
from duvet.trace.records import Finished, NotApplicable, State
from tests.conftest import ROOT
from tests.unit.reports.made import finished, json_v2_of
from tests.unit.reports.made_not_owed import EXTENDED, NOT_OWED, TODAY, not_owed, with_entries
from tests.unit.reports.made_pages import page, without_shell
from tests.unit.reports.test_html import Parsed

BUCKET = "duvet-cli/v2/annotations.json#not_applicable"
CUP = {
    "target": "tea.md#cup",
    "reason": "We drink from <pots>,\nand always did",
    "owner": "the & kitchen",
    "expiry": "2030-01-31",
    "requirements": 4,
}
POT = {
    "target": "tea.md#pot",
    "quote": "It MAY\nbe <b>brown</b>.",
    "reason": "We have no brown",
    "requirements": 1,
}


def bytes_of(report: Finished, render: Callable[..., None], *more: Any) -> bytes:
    out = BytesIO()
    render(report, *more, out)
    return out.getvalue()


def test_the_page(snapshot: Snapshot) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% The summary, the report, both versions of JSON and the snapshot MUST list every entry with its target, reason,
    ##% owner, expiry date and number of requirements.
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "html"
    shown = page(not_owed())
    snapshot.assert_match(without_shell(shown), "not_applicable.html")


def test_the_page_once_an_entry_has_expired(snapshot: Snapshot) -> None:
    report = not_owed(today=date(2030, 2, 1))
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "html"
    snapshot.assert_match(without_shell(page(report, problems=report.trace.problems)), "expired.html")


def test_the_summary(snapshot: Snapshot) -> None:
    ##= man/spec/gates.md#not-applicable
    ##% The summary, the report, both versions of JSON and the snapshot MUST list every entry with its target, reason,
    ##% owner, expiry date and number of requirements.
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "summary"
    snapshot.assert_match(bytes_of(not_owed(), summary.render_summary, ()).decode(), "entries.txt")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (
            NotApplicable(target="a.md", reason="b", requirements=1),
            "not applicable: 1 requirement of a.md: b",
        ),
        (
            NotApplicable(target="a.md#c", quote="d\n\te", reason=" b\n c", owner="me", requirements=2),
            'not applicable: 2 requirements of a.md#c, "d e": b c (me)',
        ),
        (
            NotApplicable(target="a.md", reason="b", expiry=TODAY, requirements=0),
            "not applicable: 0 requirements of a.md: b (until 2030-01-31)",
        ),
        (
            NotApplicable(target="a.md", reason="b", owner="me", expiry=TODAY, has_expired=True, requirements=3),
            "expired: 3 requirements of a.md: b (me, expired 2030-01-31)",
        ),
    ],
)
def test_an_entry_in_words(entry: NotApplicable, words: str) -> None:
    assert describe_not_applicable(entry) == words


def test_entries_do_not_drive_the_terminal() -> None:
    evil = NotApplicable(target="\x1b[31m", quote="\x07", reason="\x1b]0;x\x07", owner="\r", requirements=1)
    shown = bytes_of(replace(finished(), not_applicable=(evil,)), summary.render_summary, ()).decode()
    assert all(line.isprintable() for line in shown.splitlines())


SNAPSHOT = """
NOT APPLICABLE: tea.md#cup
  REQUIREMENTS: 4
  REASON: We drink from <pots>, and always did
  OWNER: the & kitchen
  EXPIRY: 2030-01-31

NOT APPLICABLE: tea.md#pot
  REQUIREMENTS: 1
  QUOTE: It MAY be <b>brown</b>.
  REASON: We have no brown
"""


def test_the_snapshot() -> None:
    assert (
        bytes_of(not_owed(), snapshot.render_snapshot).decode()
        == bytes_of(plain(), snapshot.render_snapshot).decode() + SNAPSHOT
    )


def test_json() -> None:
    found = json.loads(bytes_of(not_owed(), json_v1.render_json_v1))
    assert list(found) == ["specifications", "annotations", "statuses", "refs", "not_applicable"]
    assert found == json.loads(bytes_of(plain(), json_v1.render_json_v1)) | {"not_applicable": [CUP, POT]}


def test_json_v2() -> None:
    found = json.loads(json_v2_of(not_owed()))
    entries = found["annotations"].pop(BUCKET)
    assert sorted(entries.values(), key=lambda one: str(one["target"])) == [CUP, POT]
    assert all(id.startswith("not-") and len(id) == 20 for id in entries)
    assert found == json.loads(json_v2_of(plain()))


def test_json_v2_is_read_again() -> None:
    data = json_v2_of(not_owed())
    assert [one.expiry for one in decode_v2_report(data).annotations.not_applicable.values()].count(TODAY) == 1


def plain() -> Finished:
    """The same project in our schema, and without entries."""
    return finished(with_entries(""))


def test_without_entries_nothing_is_different() -> None:
    ##= man/spec/trace.md#reports
    ##% Both versions of JSON, LCOV and the snapshot MUST equal those of awslabs duvet, except for its defects and
    ##% `[[not-applicable]]`.
    upstream = finished(NOT_OWED | {".duvet/config.toml": EXTENDED.replace("duvet-cli/config/v1", UPSTREAM)})
    assert page(plain()) == page(upstream)
    kinds: list[tuple[Any, ...]] = [
        (summary.render_summary, ()),
        (json_v1.render_json_v1,),
        (snapshot.render_snapshot,),
    ]
    assert [bytes_of(plain(), *kind) for kind in kinds] == [bytes_of(upstream, *kind) for kind in kinds]
    assert json_v2_of(plain()) == json_v2_of(upstream)
    assert not any(b"applicable" in bytes_of(plain(), *kind).replace(b"applicable req", b"") for kind in kinds)
    assert re.search("not.applicable|s9", without_shell(page(plain())).lower()) is None


UPSTREAM = "https://awslabs.github.io/duvet/config/v0.4.0.json"
TARGETS = (
    *("tea.md", "tea.md#pot", "tea.md#cup", "tea.md#milk"),
    *('tea.md#pot"\nquote = "Pots come first.', 'tea.md#cup"\nquote = "A saucer MAY be used.'),
)
DAYS = st.none() | st.dates(date(2030, 1, 29), date(2030, 2, 2))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(TARGETS), DAYS), max_size=4))
def test_all_reports_have_the_same_numbers(chosen: list[tuple[str, date | None]]) -> None:
    entries = "".join(
        f'\n[[not-applicable]]\ntarget = "{target}"\nreason = "no"\n' + (f"expiry = {day}\n" if day else "")
        for target, day in chosen
    )
    report = not_owed(with_entries(entries))
    whole = compute_totals(report.requirements)[-1]
    assert whole.requirements == 10 == whole.applicable + whole.excepted + whole.not_applicable
    assert whole.done <= whole.applicable
    assert bytes_of(report, summary.render_summary, ()).decode().splitlines()[-1] == f"PASS: {whole.words}"
    shown = Parsed(page(report))
    marks = [
        tag["class"] for name, tag in shown.tags if name == "li" and re.search("/[0-9a-f]{12}$", tag.get("id") or "")
    ]
    assert [marks.count(STATE_LOOKS[state].mark) for state in State] == list(whole.counts)
    assert whole.words in " ".join(shown.texts)
    listed = json.loads(bytes_of(report, json_v1.render_json_v1)).get("not_applicable", [])
    assert [one["requirements"] for one in listed] == [one.requirements for one in report.not_applicable]
    held = [one for one in report.not_applicable if not one.has_expired]
    assert max((one.requirements for one in held), default=0) <= whole.not_applicable
    assert whole.not_applicable <= sum(one.requirements for one in held)


@pytest.mark.parametrize("name", ["h3-704b37a", "s2n-tls-132053b"])
def test_a_real_project_that_does_not_owe_a_specification(name: str, shared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(shared / "golden" / name / "project", folder, symlinks=True)
    before = Project(str(folder)).requirements
    largest, count = Counter(one.specification.locator.name for one in before).most_common(1)[0]
    config = folder / ".duvet/config.toml"
    written = config.read_text().replace(UPSTREAM, "duvet-cli/config/v1")
    config.write_text(f'{written}\n[[not-applicable]]\ntarget = "{largest}"\nreason = "no"\n')
    report = Project(str(folder)).finished()
    whole = compute_totals(report.requirements)[-1]
    assert (whole.requirements, whole.not_applicable) == (len(before), count)
    assert whole.words.endswith(f"{whole.excepted} excepted, {count} not applicable")
    assert bytes_of(report, summary.render_summary, ()).decode().splitlines()[-1] == f"PASS: {whole.words}"
    assert f">PASS: {whole.words}<" in page(report)
    assert json.loads(bytes_of(report, json_v1.render_json_v1))["not_applicable"] == [
        {"target": largest, "reason": "no", "requirements": count}
    ]
    owed = [one for one in report.requirements if one.specification.locator.name != largest]
    kept = [one for one in before if one.specification.locator.name != largest]
    assert [one.state for one in owed] == [one.state for one in kept]
