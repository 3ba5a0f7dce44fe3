"""Recipes being run by `km-recipe-run`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from duvet.config.service.workflows import WorkflowSection
from duvet.tools.errors import ToolError
from duvet.tools.tool import Scope
from duvet.workflows.from_config import from_config
from tests.workflows.recipes.made import SHIPPED, Kitchen, states, steps

FILLED = """\
name: brew
variables: { tea: green, cups: 2, pot: null }
steps:
  - id: fill
    tool: pot-fill
    params: { value: { tea: "${vars.tea}", pot: "${vars.pot}" }, count: "${vars.cups}" }
    expect: { result.value.tea: green, "items[1].number": 1 }
    assert:
      - { path: result.value.sugar, exists: false }
      - { path: result.value.pot, equals: null }
      - { path: result.value.tea, not_equals: black }
    capture: [{ name: last, path: "result.items[1]" }]
  - id: pour
    tool: pot-hold
    params: { value: "${captures.last.number} of ${steps.fill.result.items}" }
outputs: { last: "${captures.last}", words: "${steps.pour.result.value}", cups: "${vars.cups}", status: "${steps.fill.status}" }
"""


def test_a_run(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% `km-recipe-run` MUST answer the status `success`, the outputs, and of each step its id, its status, how many
    ##% seconds it took, a message and its result.
    kitchen.write("brew", FILLED)
    found = kitchen.run("brew", pot=None)
    assert found == {
        "status": "success",
        "recipe": "brew",
        "outputs": {
            "last": {"number": 1},
            "words": '1 of [{"number":0},{"number":1}]',
            "cups": 2,
            "status": "success",
        },
        "steps": [
            {
                "id": "fill",
                "status": "success",
                "duration_seconds": found["steps"][0]["duration_seconds"],
                "message": "",
                "result": {
                    "value": {"tea": "green", "pot": None},
                    "items": [{"number": 0}, {"number": 1}],
                    "face": "workflow",
                    "scopes": ["maintainer", "reader"],
                },
            },
            {
                "id": "pour",
                "status": "success",
                "duration_seconds": found["steps"][1]["duration_seconds"],
                "message": "",
                "result": {
                    "value": '1 of [{"number":0},{"number":1}]',
                    "items": [{"number": 0}],
                    "face": "workflow",
                    "scopes": ["maintainer", "reader"],
                },
            },
        ],
        "started_at": found["started_at"],
        "finished_at": found["finished_at"],
        "duration_seconds": found["duration_seconds"],
        "warnings": [],
    }
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% The record of a run of a recipe MUST go where those of workflows go.
    assert [(run.workflow, run.status, len(run.steps)) for run in kitchen.runs] == [("recipe brew", "success", 2)]


CHECKS = {
    "{ path: result.none, exists: false }": "",
    "{ path: result.value, exists: false }": "result.value is null; nothing was to stand there",
    "{ path: result.value, equals: null }": "",
    "{ path: result.none, equals: null }": "result.none is not there; it was to be null",
    "{ path: result.value, exists: true }": "",
    "{ path: result.none, exists: true }": "result.none is not there",
    "{ path: result.value, not_equals: null }": "result.value is null; it was to be something else",
    "{ path: 'result.items[0].number', equals: 0 }": "",
    "{ path: 'result.items[0].number', equals: false }": "result.items[0].number is 0; it was to be false",
    "{ path: 'result.items[1]', exists: true }": "result.items[1] is not there",
    "{ path: 'result.items[0].number', exists: true, not_equals: 0 }": "result.items[0].number is 0; it was to be something "
    "else",
}
"""What is asserted, and why it doesn't hold of `{"value": null, "items": [{"number": 0}]}`."""


@pytest.mark.parametrize("check", CHECKS)
def test_what_is_asserted(kitchen: Kitchen, check: str) -> None:
    kitchen.write("brew", steps("{ id: a, tool: pot-blank, assert: [CHECK] }").replace("CHECK", check))
    if not CHECKS[check]:
        assert kitchen.run("brew")["status"] == "success"
        return
    found = kitchen.failure("brew")
    assert (found.code, found.message) == ("assert_failed", f"brew failed in the step a: {CHECKS[check]}")


FAILURES: dict[str, tuple[str, str, str, str]] = {
    "{ id: b, tool: pot-spill }": ("tool_failed", "pot-spill: there is no pot", "put one there", "not_found"),
    "{ id: b, tool: pot-hold, expect: { result.value: 1 } }": (
        "assert_failed",
        "result.value is not there; it was to be 1",
        "",
        "",
    ),
    "{ id: b, tool: pot-hold, capture: [{ name: c, path: 'items[3]' }] }": (
        "assert_failed",
        "capture[0].path: items[3]: there is no result.items[3]",
        "result.items is a list of 1",
        "",
    ),
    "{ id: b, tool: pot-boil, timeout_seconds: 0.01 }": ("timeout", "it took longer than 0.01 s", "", ""),
    "{ id: b, wait: { tool: pot-hold, until: { path: value, equals: 1 }, interval_seconds: 2, timeout_seconds: 1 } }": (
        "timeout",
        "not as wanted after 2 calls: value is not there; it was to be 1",
        "",
        "",
    ),
    "{ id: b, wait: { tool: pot-spill, until: { path: value, equals: 1 } } }": (
        "tool_failed",
        "pot-spill: there is no pot",
        "put one there",
        "not_found",
    ),
}


@pytest.mark.parametrize("step", FAILURES)
def test_failures(kitchen: Kitchen, step: str) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A recipe that fails MUST be answered with `tool_failed`, `assert_failed` or `timeout`, with the step that failed, and
    ##% with what became of every step as the details, those that were not begun as `skipped`.
    code, message, hint, cause = FAILURES[step]
    kitchen.write("brew", steps("{ id: a, tool: pot-hold }", step, "{ id: c, tool: pot-hold }"))
    found = kitchen.failure("brew")
    assert (found.code, found.message, found.hint) == (code, f"brew failed in the step b: {message}", hint)
    told: Any = found.details
    assert (told["status"], told["recipe"], told["outputs"]) == ("error", "brew", {})
    assert states(told) == [("a", "success"), ("b", "error"), ("c", "skipped")]
    assert told["steps"][1]["message"] == message
    wanted = {"code": code, "message": message, "hint": hint, "step": "b", "cause": cause}
    assert told["error"] == {name: value for name, value in wanted.items() if value}


def test_one_that_there_is_not(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A recipe that there isn't MUST be refused as `recipe_not_found`, with the names of those that there are, which files
    ##% that are no recipes are not.
    kitchen.write("a-broken-one", "steps: 3")
    there = f"there are {', '.join(SHIPPED)}"
    for name, hint in {
        "daily-helth": f"did you mean daily-health? {there}",
        "../recipes/brew": there,
        "/etc/passwd": there,
        "x" * 19_000: there,
    }.items():
        found = kitchen.failure(name)
        assert (found.code, found.hint) == ("recipe_not_found", hint)
        assert len(found.message) < 200
    assert kitchen.failure(" ").code == "invalid_request"
    for number in range(10, 30):
        kitchen.write(f"brew{number}", steps("{ id: a, tool: pot-hold }"))
    assert kitchen.failure("x").hint == f"there are {', '.join(f'brew{n}' for n in range(10, 30))} and 4 more"


VARIABLES: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({}, "the variable pot is missing"),
    "unknown": ({"pot": 1, "cup": 3}, 'recipe brew has no variable "cup"'),
    "another type": ({"pot": 1, "cups": "2"}, "the variable cups has to be a whole number"),
    "text": ({"pot": 1, "tea": None}, "the variable tea has to be a text"),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_what_it_is_told(kitchen: Kitchen, name: str) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% What a recipe is told for a variable that it doesn't have, or that is of another type than what stands in its file,
    ##% MUST be refused before any step.
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A variable that is null MUST be given when the recipe is run, and may be of any type.
    kitchen.write("brew", FILLED.replace("equals: null", "exists: true"))
    told, message = VARIABLES[name]
    found = kitchen.failure("brew", **told)
    assert (found.code, found.message, found.details, kitchen.runs) == ("invalid_request", message, None, [])
    for pot in ("blue", 3, [1], {"a": 1}, False):
        assert kitchen.run("brew", pot=pot)["steps"][0]["result"]["value"]["pot"] == pot


def test_what_it_is_told_is_not_looked_through(kitchen: Kitchen) -> None:
    kitchen.write(
        "brew", "variables: { a: x, b: secret }\n" + steps('{ id: s, tool: pot-hold, params: { value: "${vars.a}" } }')
    )
    assert kitchen.run("brew", a="${vars.b}")["steps"][0]["result"]["value"] == "${vars.b}"


def test_who_may(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% The tools of a recipe MUST be called as whoever runs it: nobody may do more by a recipe than without.
    kitchen.write("brew", steps("{ id: a, tool: pot-fill }"))
    kitchen.write("look", steps("{ id: a, tool: pot-hold }"))
    for name in ("brew", "look"):
        with pytest.raises(ToolError) as refused:
            kitchen.answer(name, scopes=[Scope.READER])
        assert (refused.value.code, kitchen.runs) == ("forbidden", [])
    # One who may run recipes, and do nothing else.
    with pytest.raises(ToolError) as failed:
        kitchen.answer("look", scopes=[Scope.MAINTAINER])
    assert (failed.value.code, failed.value.message) == (
        "tool_failed",
        "look failed in the step a: pot-hold: pot-hold needs the scope reader",
    )


def test_edits(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% An edit of a recipe MUST be in force with the next run.
    path = kitchen.write("brew", f"{steps('{ id: a, tool: pot-hold }')}outputs: {{ x: 1 }}\n")
    assert kitchen.run("brew")["outputs"] == {"x": 1}
    path.write_text(path.read_text().replace("x: 1", "x: 2"))
    assert kitchen.run("brew")["outputs"] == {"x": 2}
    path.unlink()
    assert kitchen.failure("brew").code == "recipe_not_found"


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
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A recipe that calls itself, be it through other recipes or through workflows, MUST be stopped with an error that
    ##% shows the way.
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
    found = Kitchen(tmp_path, {"around": from_config("around", section)})
    yield found
    found.knowledge.close()


def test_workflows_and_tools_of_any_pack(both: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A recipe MUST be able to call every tool that is switched on, of whichever pack, and workflows.
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


def test_a_long_record_is_cut(kitchen: Kitchen) -> None:
    kitchen.write("brew", steps(*[f"{{ id: a{n}, tool: pot-hold, params: {{ count: 20000 }} }}" for n in range(2)]))
    found = kitchen.run("brew")
    assert found["warnings"] == ["cut, for a record has 200,000 bytes at most: steps.a0, steps.a1"]
    assert len(json.dumps(found)) < 210_000
