from pathlib import Path
from typing import Any

from msgspec import json
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.knowledge.reports import make_coverage_report, make_lifecycle_report
from duvet.store.location import open_store
from duvet.store.records import Artifact, FileKind, GraphNode, IngestedFile, IngestRun, NodeLabel, TextPiece
from duvet.tools.packs import KNOWLEDGE
from duvet.tools.tool import MAX_PAGE_BYTES, EnabledPack
from tests.unit.knowledge.stored_project import NOW, RUN, STORE, facts, fill, plain
from tests.unit.tools.knowledge.knowledge_calls import STATUS, Asking
from tests.unit.tools.tool_calls import describe_calls

COVERAGE, REPORT = "km-coverage-summary", "km-lifecycle-report"
NAMES = list(EnabledPack(KNOWLEDGE).every_name())


def test_earlier_reports_are_kept(tmp_path: Path) -> None:
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
    assert living["history"][0]["summary"] == living["summary"] == plain(make_lifecycle_report(facts(), NOW).summary)
    assert len(known.value(REPORT, history=2)["history"]) == 2
    assert "history" not in known.value(REPORT)
    assert known.value(REPORT, history=101)["history"] == living["history"]
    known.knowledge.close()


def test_the_reports_are_of_the_last_run_that_succeeded(known: Asking) -> None:
    coverage, lifecycle = plain(make_coverage_report(facts(), NOW)), plain(make_lifecycle_report(facts(), NOW))
    assert (known.value(COVERAGE), known.value(REPORT)) == (coverage, lifecycle)
    store = open_store(str(known.file), create=True)
    with store.writing() as writing:
        writing.put_run(IngestRun(run_id="r2", profile="local", started_at=NOW, success=False, error="no room"))
        # Reports of another version.
        writing.put_report("coverage", "r2", b'{"other": 1}', keep=5)
        writing.put_report("coverage", "r3", b"{", keep=5)
    store.close()
    assert (known.value(COVERAGE), known.value(REPORT)) == (coverage, lifecycle)
    assert [then["run"]["run_id"] for then in known.value(COVERAGE, history=9)["history"]] == ["r1"]


def make_large_project(folder: Path) -> Asking:
    """Make a project with many stale documents without text, and many isolated files with text."""
    store = open_store(str(fill(folder) / STORE), create=True)
    with store.writing() as writing:
        nodes = []
        for number in range(2000):
            stale = Artifact(path=f"docs/{number:04}.md", kind=FileKind.DOC, git_timestamp=1.0)
            writing.put(IngestedFile(artifact=stale))
            nodes.append(GraphNode(label=NodeLabel.DESIGN_DOC, key=stale.path))
            for kind in (FileKind.DOC, FileKind.CODE) if number < 200 else ():
                alone = Artifact(path=f"alone/{number:04}.{kind.value}", kind=kind)
                piece = TextPiece(start=0, end=3, line_start=1, line_end=1)
                writing.put(IngestedFile(artifact=alone, text="tea", pieces=(piece,)))
                nodes.append(GraphNode(label=alone.label, key=alone.path))
        writing.replace_graph(nodes, [])
    store.close()
    return Asking(folder)


def test_agents_get_short_lists(tmp_path: Path) -> None:
    known = make_large_project(tmp_path)
    for tool, name in ((COVERAGE, "missing_artifacts"), (REPORT, "stale_docs")):
        whole: Any = plain(known.answer(tool, face="rest").value)
        short = known.answer(tool, face="mcp")
        shown: Any = plain(short.value)
        assert shown["summary"] == whole["summary"]
        assert 0 < len(shown[name]) < 100
        assert 2000 < len(whole[name]) <= 2010
        assert f"{len(shown[name])} of {len(whole[name])} {name}" in short.warning
        assert short.warning.endswith(" shown; for more, set limit.")
        assert len(str(shown)) < 20_000
        assert known.answer(tool, face="rest").warning == ""
        more: Any = plain(known.answer(tool, {"limit": 500}, face="mcp").value)
        assert more[name] == whole[name][:500]
    # Each label has the same share of one fifth of an answer.
    isolated: Any = plain(known.answer(REPORT, face="mcp").value)["isolated"]
    share = MAX_PAGE_BYTES // 5 // len(isolated)
    sizes = [len(json.encode(rows)) for rows in isolated.values()]
    assert len(sizes) == 2 and all(share * 0.8 < size <= share * 1.1 for size in sizes)
    known.knowledge.close()


WHEN = {"run_id": "r1", "profile": "local", "repo_head": "c1", "started_at": NOW - 60, "duration_seconds": 1.5}
COUNTS = {"artifact_counts": {"code": 4, "doc": 3, "test": 1}, "chunk_count": 7, "changed": 8, "removed": 2}
LAST = {**WHEN, **COUNTS, "success": True}
FAILED = IngestRun(run_id="r3", profile="nightly", started_at=NOW, success=False, error="no room is left")


def test_the_status_is_that_of_the_last_run_of_a_profile(known: Asking, tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#reports
    ##% `km-ingest-status` MUST return the outcome of the last ingest run or, with `profile`, of the last run with that
    ##% profile.
    assert known.value(STATUS) == {"status": "ok", **LAST, "run": LAST}
    demo = replace(RUN, run_id="r2", profile="demo", started_at=NOW - 30)
    runs = Asking(fill(tmp_path / "runs", [RUN, demo, FAILED]))
    assert runs.value(STATUS, profile="local") == {"status": "ok", **LAST, "run": LAST}
    assert runs.value(STATUS, profile="demo")["run_id"] == "r2"
    last = runs.value(STATUS)
    assert (last["run_id"], last["success"], last["error"]) == ("r3", False, "no room is left")
    assert "repo_head" not in last and "history" not in last
    assert runs.answer(STATUS).warning == "This run failed and did not change the index."
    assert runs.value(STATUS, profile="scheduled") == {"status": "not_found", "profile": "scheduled"}
    assert runs.value(STATUS, profile="%")["status"] == "not_found"
    history = runs.value(STATUS, history=100)["history"]
    assert ([one["run_id"] for one in history], history[2]) == (["r3", "r2", "r1"], LAST)
    assert (len(runs.value(STATUS, history=2)["history"]), "history" in runs.value(STATUS, history=0)) == (2, False)
    runs.knowledge.close()


def test_enabled_tools_are_described_and_others_refused(indexed: Asking, tmp_path: Path, answers: Snapshot) -> None:
    one: dict[str, Any] = {"tool": "km-graph-search"}
    answers.assert_match(describe_calls(indexed.answer, [("km-help", {}), ("km-help", one)]), "help.txt")
    spec = indexed.value("km-help", include_spec=True)["spec"]
    assert indexed.value("km-help", tool="km-help", include_spec=True)["spec"] == spec
    answers.assert_match(spec, "help.md")
    for name in ("km-recipe", "coverage_summary", "x" * 19_000):
        code, message, _ = indexed.refusal("km-help", tool=name)
        assert code == "invalid_request"
        assert message.startswith("Unknown tool '") and message.endswith(", ".join(sorted(NAMES)))
    known = Asking(tmp_path, packs=[EnabledPack(KNOWLEDGE, switches={"km-graph-node": False})])
    assert list(known.value("km-help")["tools"]) == [name for name in NAMES if name != "km-graph-node"]
    assert "km-graph-node" not in known.value("km-help", include_spec=True)["spec"].partition("## Tools")[2]
    assert known.refusal("km-help", tool="km-graph-node")[0] == "invalid_request"
