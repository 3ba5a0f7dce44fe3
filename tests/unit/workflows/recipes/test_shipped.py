"""The recipes that come with duvet, over a real store."""

from __future__ import annotations

from typing import Any

import pytest

from duvet.workflows.recipes import RecipeCatalogue
from tests.unit.knowledge.stored import fill
from tests.unit.workflows.recipes.made import SHIPPED, Kitchen, states


@pytest.fixture
def filled(kitchen: Kitchen) -> Kitchen:
    fill(kitchen.folder)
    return kitchen


def test_they_say_what_they_are_for(kitchen: Kitchen) -> None:
    found = {name: one for name, one in RecipeCatalogue(kitchen.disk).every().items() if one.workflow}
    assert list(found) == SHIPPED
    assert all(one.workflow and one.workflow.description for one in found.values())


def test_daily_health(filled: Kitchen) -> None:
    found = filled.run("daily-health")
    assert states(found) == [(name, "success") for name in ("status", "coverage", "lifecycle", "help")]
    outputs = found["outputs"]
    assert outputs["run"]["run_id"] == "r1"
    assert (outputs["coverage"]["artifact_total"], len(outputs["missing_artifacts"])) == (8, 1)
    assert outputs["lifecycle"].keys() == {
        "stale_docs",
        "isolated_nodes",
        "subsystems_missing_tests",
        "removed_artifacts",
        "stale_requirements",
    }


def test_daily_health_of_nothing(kitchen: Kitchen) -> None:
    found = kitchen.failure("daily-health")
    assert found.code == "assert_failed"
    assert found.message == ('daily-health failed in the step status: result.status is "not_found"; it was to be "ok"')


def test_stale_audit(filled: Kitchen) -> None:
    found = filled.run("stale-audit", most=1)
    assert states(found) == [("lifecycle", "success")]
    outputs = found["outputs"]
    assert outputs.keys() == {"summary", "stale_days", "stale_docs", "missing_tests", "isolated"}
    cut = "Lists are cut, to 1 of 2 stale_docs, 1 of 2 removed_artifacts; limit gives as many as it says."
    assert found["warnings"] == [f"lifecycle: {cut}"]
    assert (outputs["stale_days"], outputs["summary"]["stale_docs"]) == (30, 2)
    assert [one["path"] for one in outputs["stale_docs"]] == ["README.md"]
    assert [one["subsystem"] for one in outputs["missing_tests"]] == ["Tea"]


def test_subsystem_freshness(filled: Kitchen) -> None:
    found = filled.run("subsystem-freshness", subsystem="kettle", days=36_500)
    assert states(found) == [("graph", "success"), ("search", "success")]
    outputs = found["outputs"]
    assert (outputs["subsystem"], len(outputs["artifacts"]) > 0) == ("Kettle", True)
    assert {one["chunk"]["subsystem"] for one in outputs["recent"]} == {"Kettle"}
    assert filled.failure("subsystem-freshness").message == "the variable subsystem is missing"
    missing = filled.failure("subsystem-freshness", subsystem="Teapot")
    details: Any = missing.details
    assert (missing.code, details["error"]["cause"], details["error"]["step"]) == ("tool_failed", "not_found", "graph")
