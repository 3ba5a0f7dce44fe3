"""Recipes being run by `km-recipe-run`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duvet.tools.tool import Scope, ToolError
from tests.unit.workflows.recipes.made import FILLED, SHIPPED, Kitchen, states, steps

WORDS = '1 of [{"number":0},{"number":1}]'
STEPS = [
    {
        "id": "fill",
        "status": "success",
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
        "message": "",
        "result": {
            "value": WORDS,
            "items": [{"number": 0}],
            "face": "workflow",
            "scopes": ["maintainer", "reader"],
        },
    },
]


def test_a_run(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% `km-recipe-run` MUST return the status, the outputs, and the id, status, duration, message and result of each
    ##% step, and record the run like a workflow's.
    kitchen.write("brew", FILLED)
    found = kitchen.run("brew", pot=None)
    seconds = [step.pop("duration_seconds") for step in found["steps"]]
    assert all(isinstance(one, float) for one in seconds)
    assert found == {
        "status": "success",
        "recipe": "brew",
        "outputs": {"last": {"number": 1}, "words": WORDS, "cups": 2, "status": "success"},
        "steps": STEPS,
        "started_at": found["started_at"],
        "finished_at": found["finished_at"],
        "duration_seconds": found["duration_seconds"],
        "warnings": [],
    }
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
    ##% `km-recipe-run` MUST answer `tool_failed`, `assert_failed` or `timeout` with the status of all steps for a
    ##% recipe that fails, and `recipe_not_found` with the available names for an unknown one.
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
    ##% `km-recipe-run` MUST answer `tool_failed`, `assert_failed` or `timeout` with the status of all steps for a
    ##% recipe that fails, and `recipe_not_found` with the available names for an unknown one.
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


def test_who_may(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A recipe MUST be able to call every enabled tool and workflow, with the rights of its caller.
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
    ##% For each run, duvet MUST read the recipes in `recipes` and `.duvet/recipes`, except through links out of the
    ##% project, and prefer them to its own recipes of the same name.
    path = kitchen.write("brew", f"{steps('{ id: a, tool: pot-hold }')}outputs: {{ x: 1 }}\n")
    assert kitchen.run("brew")["outputs"] == {"x": 1}
    path.write_text(path.read_text().replace("x: 1", "x: 2"))
    assert kitchen.run("brew")["outputs"] == {"x": 2}
    path.unlink()
    assert kitchen.failure("brew").code == "recipe_not_found"


def test_a_long_record_is_cut(kitchen: Kitchen) -> None:
    kitchen.write("brew", steps(*[f"{{ id: a{n}, tool: pot-hold, params: {{ count: 20000 }} }}" for n in range(2)]))
    found = kitchen.run("brew")
    assert found["warnings"] == ["cut, for a record has 200,000 bytes at most: steps.a0, steps.a1"]
    assert len(json.dumps(found)) < 210_000
