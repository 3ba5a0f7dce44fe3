"""`km-coverage-summary` and `km-lifecycle-report`"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from duvet.config.settings import IngestRule
from duvet.knowledge.reports import load_facts, make_coverage_report
from duvet.store.location import open_store
from duvet.store.records import Artifact, FileKind, IngestRun
from tests.unit.knowledge.stored import NOW, RUN, STORE, facts, fill, plain
from tests.unit.knowledge.test_reports import LIFECYCLE
from tests.unit.tools.knowledge.made import Asking

COVERAGE, REPORT = "km-coverage-summary", "km-lifecycle-report"


def test_what_is_stored_is_told_as_before(tmp_path: Path) -> None:
    store = open_store(str(fill(tmp_path) / STORE))
    try:
        found, expected = load_facts(store, IngestRule()), facts()
        assert found.run == RUN
        assert dict(found.artifacts) == dict(expected.artifacts)
        assert (found.isolated, found.cited) == (expected.isolated, expected.cited)
    finally:
        store.close()


def test_coverage(known: Asking) -> None:
    assert known.value(COVERAGE) == plain(make_coverage_report(facts(), NOW))


def test_lifecycle(known: Asking) -> None:
    assert known.value(REPORT) == LIFECYCLE


def test_histories(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#reports
    ##= type=test
    ##% Each run MUST record the results of these reports: the last 5 of coverage and the last 10 of the lifecycle.
    runs = [replace(RUN, run_id=f"r{number}") for number in range(12)]
    known = Asking(fill(tmp_path, runs))
    covered, living = known.value(COVERAGE, history=100), known.value(REPORT, history=100)
    assert [then["run"]["run_id"] for then in covered["history"]] == ["r11", "r10", "r9", "r8", "r7"]
    assert [then["run"]["run_id"] for then in living["history"]] == [f"r{number}" for number in range(11, 1, -1)]
    assert covered["history"][0] == {
        "generated_at": NOW + 11,
        "generated_at_iso": "2027-01-15T08:00:11+00:00",
        "run": {"run_id": "r11", "profile": "local", "repo_head": "c1"},
        "summary": covered["summary"],
    }
    assert living["history"][0]["summary"] == living["summary"] == LIFECYCLE["summary"]
    assert len(known.value(REPORT, history=2)["history"]) == 2
    assert "history" not in known.value(REPORT)
    assert known.value(REPORT, history=101)["history"] == living["history"]
    assert known.refusal(REPORT, history=-1)[:2] == ("invalid_request", "history: expected int >= 0")
    known.knowledge.close()


def test_what_another_version_has_kept_is_left_out(known: Asking) -> None:
    store = open_store(str(known.file), create=True)
    with store.writing() as writing:
        writing.put_report("coverage", "r2", b'{"other": 1}', keep=5)
        writing.put_report("coverage", "r3", b"{", keep=5)
    store.close()
    assert [then["run"]["run_id"] for then in known.value(COVERAGE, history=9)["history"]] == ["r1"]


def many(folder: Path) -> Asking:
    """A project of many files, all of which want to be looked after."""
    store = open_store(str(fill(folder) / STORE), create=True)
    with store.writing() as writing:
        from duvet.store.records import GraphNode, IngestedFile, NodeLabel

        paths = [f"docs/{number:04}.md" for number in range(2000)]
        for path in paths:
            writing.put(IngestedFile(artifact=Artifact(path=path, kind=FileKind.DOC, git_timestamp=1.0)))
        writing.replace_graph([GraphNode(label=NodeLabel.DESIGN_DOC, key=path) for path in paths], [])
    store.close()
    return Asking(folder)


def test_agents_get_short_lists(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#answers
    ##= type=test
    ##% For MCP clients these tools MUST cut long lists, forwarded ones too, to about 4,000 tokens unless `limit` asks
    ##% for more, and say so.
    known = many(tmp_path)
    for tool, name in ((COVERAGE, "missing_artifacts"), (REPORT, "stale_docs")):
        whole: Any = plain(known.answer(tool, face="rest").value)
        short = known.answer(tool, face="mcp")
        shown: Any = plain(short.value)
        assert shown["summary"] == whole["summary"]
        assert 0 < len(shown[name]) < 100
        assert 2000 < len(whole[name]) <= 2010
        assert f"{len(shown[name])} of {len(whole[name])} {name}" in short.warning
        assert short.warning.endswith("limit gives as many as it says.")
        assert len(str(shown)) < 20_000
        assert known.answer(tool, face="rest").warning == ""
        more: Any = plain(known.answer(tool, {"limit": 500}, face="mcp").value)
        assert more[name] == whole[name][:500]
    known.knowledge.close()


def test_a_run_that_has_failed_is_not_told_of(tmp_path: Path) -> None:
    failed = IngestRun(run_id="r2", profile="local", started_at=NOW, success=False, error="no room")
    known = Asking(fill(tmp_path))
    store = open_store(str(known.file), create=True)
    with store.writing() as writing:
        writing.put_run(failed)
    store.close()
    assert known.value(COVERAGE)["run"]["run_id"] == known.value(REPORT)["run"]["run_id"] == "r1"
    known.knowledge.close()
