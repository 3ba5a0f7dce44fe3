"""Recipes and workflows that call each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from duvet.config.workflow_tables import WorkflowSection
from duvet.workflows.workflow import make_configured_workflow
from tests.unit.workflows.recipes.made import Kitchen, steps

CIRCLES: dict[str, tuple[dict[str, str], str]] = {
    "itself": ({"a": "a"}, "recipe a calls itself: recipe a > recipe a"),
    "another": ({"a": "b", "b": "a"}, "recipe a calls itself: recipe a > recipe b > recipe a"),
    "deep": (
        {"a": "b", "b": "c", "c": "d", "d": "e", "e": "f", "f": "daily-health"},
        "workflows stand in each other 6 deep, 5 is the most: recipe a > recipe b > recipe c > recipe d > recipe e > recipe f",
    ),
}


@pytest.mark.parametrize("name", CIRCLES)
@pytest.mark.parametrize("is_written", [True, False])
def test_circles(kitchen: Kitchen, name: str, is_written: bool) -> None:
    ##= man/spec/workflows.md#limits
    ##= type=test
    ##% The engine MUST refuse a workflow with more than 100 steps, one that calls itself, and one that is nested more
    ##% than five deep.
    ways, message = CIRCLES[name]
    for one, other in ways.items():
        # What is told when it is run can't be told before.
        text = f"variables: {{ next: {other} }}\n"
        called = other if is_written else '"${vars.next}"'
        kitchen.write(one, text + steps(f"{{ id: go, tool: km-recipe-run, params: {{ recipe: {called} }} }}"))
    found = kitchen.failure("a")
    if is_written:
        assert (found.code, found.message) == ("invalid_request", f"recipes/a.yaml:3: steps[0].tool: {message}")
        assert kitchen.runs == []
    else:
        assert found.code == "tool_failed" and found.message.endswith(message)
        assert [run.status for run in kitchen.runs] == ["error"] * len(kitchen.runs)


AROUND = {
    "description": "Calls a recipe.",
    "variables": {"recipe": {}},
    "steps": [{"id": "go", "tool": "km-recipe-run", "params": {"recipe": "${vars.recipe}"}}],
    "outputs": {"of": "${steps.go.result.outputs}"},
}


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Kitchen]:
    """Recipes, and a workflow of the configuration."""
    section = msgspec.json.decode(json.dumps(AROUND), type=WorkflowSection)
    found = Kitchen(tmp_path, {"around": make_configured_workflow("around", section)})
    yield found
    found.knowledge.close()


def test_workflows_and_tools_of_any_pack(both: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A recipe MUST be able to call every enabled tool and workflow, with the rights of its caller.
    both.write("inner", f"{steps('{ id: a, tool: km-help, params: { tool: km-help } }')}outputs: {{ x: 1 }}\n")
    both.write(
        "outer",
        "variables: { to: inner }\n"
        + steps(
            '{ id: one, tool: workflow.around, params: { recipe: "${vars.to}" } }',
            "{ id: two, tool: pot-hold }",
            more=['outputs: { x: "${steps.one.result.outputs.of.x}" }'],
        ),
    )
    assert both.run("outer")["outputs"] == {"x": 1}
    assert [run.workflow for run in both.runs] == ["recipe inner", "around", "recipe outer"]
    found = both.failure("outer", to="outer")
    assert found.code == "tool_failed"
    assert found.message.endswith("recipe outer calls itself: recipe outer > around > recipe outer")


def test_what_inner_ones_warn_of(both: Kitchen) -> None:
    both.write("inner", steps("{ id: a, tool: pot-leak }"))
    wait = "{ tool: pot-leak, params: { value: 1 }, until: { path: value, equals: 1 }, timeout_seconds: 1 }"
    both.write(
        "outer",
        steps(
            "{ id: one, tool: workflow.around, params: { recipe: inner } }",
            "{ id: two, tool: km-recipe-run, params: { recipe: inner } }",
            f"{{ id: three, wait: {wait} }}",
        ),
    )
    assert both.run("outer")["warnings"] == [
        "one: go: a: half of it is lost",
        "two: a: half of it is lost",
        "three: half of it is lost",
    ]
