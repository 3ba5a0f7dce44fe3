"""The lifecycle and coverage reports of a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from duvet.config.settings import IngestRule
from duvet.knowledge.reports import LifecycleReport, make_coverage_report, make_lifecycle_report
from duvet.store.records import Artifact, FileKind, GraphEdge, GraphNode, Relation
from tests.unit.knowledge.stored_project import (
    ARTIFACTS,
    EDGES,
    MUST_BOIL,
    NEW,
    NODES,
    NOW,
    OLD,
    RUN,
    artifact,
    facts,
    plain,
)
from tests.unit.store.store_files import edge

BRIEF = {"run_id": "r1", "profile": "local", "repo_head": "c1"}
REMOVED = [
    {"path": "docs/gone.md", "artifact_type": "doc", "subsystem": "Tea", "digest": "d-gone", "status": "deleted"},
    {
        "path": "a.py",
        "artifact_type": "code",
        "subsystem": "",
        "digest": "d-a",
        "status": "renamed",
        "renamed_to": "src/kettle/boil.py",
    },
]
LIFECYCLE = {
    "status": "ok",
    "generated_at": NOW,
    "generated_at_iso": "2027-01-15T08:00:00+00:00",
    "run": BRIEF,
    "thresholds": {"stale_days": 30},
    "summary": {
        "stale_docs": 2,
        "isolated_nodes": 2,
        "subsystems_missing_tests": 1,
        "removed_artifacts": 2,
        "stale_requirements": 1,
    },
    "isolated": {
        "DesignDoc": [{"id": "DesignDoc:README.md", "path": "README.md", "name": "README.md"}],
        "SourceFile": [
            {"id": "SourceFile:src/odd::name:1.py", "path": "src/odd::name:1.py", "name": "src/odd::name:1.py"}
        ],
    },
    "stale_docs": [
        {"path": "README.md", "subsystem": "", "git_timestamp": OLD},
        {"path": "docs/kettle.md", "subsystem": "Kettle", "git_timestamp": OLD},
    ],
    "missing_tests": [{"subsystem": "Tea", "source_files": 1, "test_cases": 0}],
    "removed_artifacts": REMOVED,
    "stale_requirements": [
        {
            "id": MUST_BOIL.id,
            "full_path": MUST_BOIL.properties["full_path"],
            "level": "MUST",
            "status": "done",
            "text": MUST_BOIL.properties["text"],
            "files": [
                {"path": "src/kettle/boil.py", "git_timestamp": OLD},
                {"path": "tests/test_kettle.py", "git_timestamp": OLD},
            ],
        }
    ],
}


def test_the_lifecycle_report_lists_stale_entries() -> None:
    ##= man/spec/knowledge.md#reports
    ##% `km-lifecycle-report` MUST list stale documents, requirements that only stale files cite, files without links,
    ##% and subsystems without tests.
    assert plain(make_lifecycle_report(facts(), NOW)) == LIFECYCLE


def lifecycle(
    artifacts: Sequence[Artifact], nodes: Sequence[GraphNode] = NODES, edges: Sequence[GraphEdge] = EDGES
) -> LifecycleReport:
    return make_lifecycle_report(facts(IngestRule(), artifacts, nodes, edges, replace(RUN, removed=())), NOW)


def test_small_and_empty_files_need_no_tests_and_connections() -> None:
    files = [
        artifact("a/__init__.py", FileKind.CODE, "a", chunk_count=1),
        artifact("b/__init__.py", FileKind.CODE, "b", chunk_count=2),
        artifact("c/logo.svg", FileKind.CODE, "c", chunk_count=0),
        artifact("d/d.py", FileKind.CODE, "d", chunk_count=1),
        artifact("tests/d/__init__.py", FileKind.TEST, "d", chunk_count=0),
    ]
    found = lifecycle(files, [GraphNode(label=one.label, key=one.path) for one in files], ())
    assert [one.subsystem for one in found.missing_tests] == ["b", "d"]
    assert {label: [one.path for one in rows] for label, rows in found.isolated.items()} == {
        "SourceFile": ["a/__init__.py", "b/__init__.py", "d/d.py"]
    }


def test_fixed_and_fresh_entries_leave_the_report() -> None:
    fresh = [replace(one, git_timestamp=NEW) for one in ARTIFACTS]
    fresh.append(artifact("tests/test_tea.py", FileKind.TEST, "tea", chunk_count=1))
    links = [
        edge("DesignDoc:docs/tea.md", Relation.LINKS_TO, "DesignDoc:README.md"),
        edge("SourceFile:src/odd::name:1.py", Relation.CITES, MUST_BOIL.id),
    ]
    for found in (lifecycle(fresh, NODES, [*EDGES, *links]), lifecycle((), (), ())):
        assert set(plain(found.summary).values()) == {0}
        assert (*found.stale_docs, *found.missing_tests, *found.stale_requirements, *found.isolated) == ()
    # One new file, or one without a date, keeps a requirement from being stale.
    for time in (NEW, None):
        tested = [replace(one, git_timestamp=time) if one.kind is FileKind.TEST else one for one in ARTIFACTS]
        assert lifecycle(tested).stale_requirements == ()
    found = make_lifecycle_report(facts(IngestRule(stale_days=100)), NOW)
    assert (found.thresholds.stale_days, found.stale_docs, found.stale_requirements) == (100, (), ())
    assert len(make_lifecycle_report(facts(IngestRule(stale_days=99)), NOW).stale_docs) == 2


def test_the_coverage_report_lists_gaps() -> None:
    ##= man/spec/knowledge.md#reports
    ##% `km-coverage-summary` MUST list every indexed file, and give the reason if a file has no chunks.
    found: Any = plain(make_coverage_report(facts(IngestRule(include=("src/**",))), NOW))
    rows = found.pop("artifacts")
    assert [row["path"] for row in rows] == [one.path for one in ARTIFACTS]
    assert rows[3] == {
        "path": "src/kettle/boil.py",
        "artifact_type": "code",
        "subsystem": "Kettle",
        "subsystem_criticality": "high",
        "chunk_count": 2,
        "coverage_ratio": 1.0,
        "git_commit": "c1",
        "git_timestamp": OLD,
        "content_digest": "d-src/kettle/boil.py",
        "skipped": "",
    }
    assert found == {
        "status": "ok",
        "generated_at": NOW,
        "generated_at_iso": "2027-01-15T08:00:00+00:00",
        "run": BRIEF,
        "include_patterns": ["src/**"],
        "summary": {
            "artifact_total": 8,
            "artifact_breakdown": {"code": 4, "doc": 3, "test": 1},
            "chunk_count": 8,
            "missing_artifacts": 1,
            "removed_artifacts": 2,
            "freshness": {"ingested_at": NOW - 60, "newest_change": NEW, "oldest_change": OLD, "without_timestamp": 1},
        },
        "missing_artifacts": [rows[4]],
        "removed_artifacts": REMOVED,
    }
    assert (rows[4]["path"], rows[4]["skipped"]) == ("src/kettle/empty.py", "empty")
    nothing = facts(IngestRule(), (), (), ())
    assert make_coverage_report(nothing, NOW).summary.artifact_total == 0
