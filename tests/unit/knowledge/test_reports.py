from collections.abc import Sequence

from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import IngestRule
from duvet.knowledge.reports import LifecycleReport, make_coverage_report, make_lifecycle_report
from duvet.store.records import Artifact, FileKind, GraphEdge, GraphNode, Relation
from tests.unit.knowledge import stored_project
from tests.unit.knowledge.stored_project import ARTIFACTS, EDGES, NODES, NOW, artifact, facts, format_json
from tests.unit.store.store_files import edge


def test_the_lifecycle_report_lists_stale_entries(snapshot: Snapshot) -> None:
    ##= man/spec/knowledge.md#reports
    ##% `km-lifecycle-report` MUST list stale documents, requirements that only stale files cite, files without links,
    ##% and subsystems without tests.
    snapshot.assert_match(format_json(make_lifecycle_report(facts(), NOW)), "knowledge/lifecycle.json")


def lifecycle(
    artifacts: Sequence[Artifact], nodes: Sequence[GraphNode] = NODES, edges: Sequence[GraphEdge] = EDGES
) -> LifecycleReport:
    return make_lifecycle_report(
        facts(IngestRule(), artifacts, nodes, edges, replace(stored_project.RUN, removed=())), NOW
    )


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
    isolated = {label: [one.path for one in rows] for label, rows in found.isolated.items()}
    assert isolated == {"SourceFile": ["a/__init__.py", "b/__init__.py", "d/d.py"]}


def test_fixed_and_fresh_entries_leave_the_report() -> None:
    fresh = [replace(one, git_timestamp=stored_project.NEW) for one in ARTIFACTS]
    fresh.append(artifact("tests/test_tea.py", FileKind.TEST, "tea", chunk_count=1))
    links = [
        edge("DesignDoc:docs/tea.md", Relation.LINKS_TO, "DesignDoc:README.md"),
        edge("SourceFile:src/odd::name:1.py", Relation.CITES, stored_project.MUST_BOIL.id),
    ]
    for found in (lifecycle(fresh, NODES, [*EDGES, *links]), lifecycle((), (), ())):
        assert set(stored_project.plain(found.summary).values()) == {0}
        assert (*found.stale_docs, *found.missing_tests, *found.stale_requirements, *found.isolated) == ()
    # One new file, or one without a date, keeps a requirement from being stale.
    for time in (stored_project.NEW, None):
        tested = [replace(one, git_timestamp=time) if one.kind is FileKind.TEST else one for one in ARTIFACTS]
        assert lifecycle(tested).stale_requirements == ()
    found = make_lifecycle_report(facts(IngestRule(stale_days=100)), NOW)
    assert (found.thresholds.stale_days, found.stale_docs, found.stale_requirements) == (100, (), ())
    assert len(make_lifecycle_report(facts(IngestRule(stale_days=99)), NOW).stale_docs) == 2


def test_the_coverage_report_lists_gaps(snapshot: Snapshot) -> None:
    ##= man/spec/knowledge.md#reports
    ##% `km-coverage-summary` MUST list every indexed file, and give the reason if a file has no chunks.
    report = make_coverage_report(facts(IngestRule(include=("src/**",))), NOW)
    snapshot.assert_match(format_json(report), "knowledge/coverage.json")
    assert make_coverage_report(facts(IngestRule(), (), (), ()), NOW).summary.artifact_total == 0
