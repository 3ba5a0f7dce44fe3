from typing import Any

from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet.workflows.recipe import ORIGIN_FILE, plan_recipe_run, read_recipe
from duvet.workflows.workflow import Workflow
from tests.conftest import ROOT
from tests.unit.workflows.recipe_project import FILES, Kitchen, steps


def read(text: str) -> Workflow:
    found = read_recipe(text.encode(), "recipes/x.yaml", ORIGIN_FILE)
    assert found.problems == () and found.workflow is not None
    return found.workflow


def test_a_recipe_becomes_a_workflow(snapshot: Snapshot) -> None:
    found = read_recipe((FILES / "release.yaml").read_bytes(), "recipes/x.yaml", ORIGIN_FILE)
    snapshot.snapshot_dir = ROOT / "tests/gold/workflows"
    snapshot.assert_match(json.format(json.encode(found.workflow)), "recipe.json")
    assert (found.name, found.problems) == ("release", ())


OK = "{ id: a, tool: pot-hold }"
WAIT = "wait: { tool: pot-hold, until: { path: a, exists: true }"
CAPTURES = '{ id: b, tool: pot-hold, params: { value: "${captures.%s}" } }'
CALL = steps("{ id: a, tool: pot-hold, params: { a: '${vars.b}' } }")
FAULTS: dict[str, str | bytes] = {
    "nothing": "",
    "no table": "- a\n",
    "no YAML": "steps: [\n",
    "no UTF-8": b"name: x\nsummary: \xff\n",
    "a large file": f"summary: {'x' * (1 << 20)}\n{steps(OK)}",
    "many steps": steps(*[f"{{ id: a{n}, tool: pot-hold }}" for n in range(101)]),
    "a key": f"sumary: x\n{steps(OK)}",
    "a name": f"name: a b\n{steps(OK)}",
    "no steps": "steps: []\n",
    "both": steps(f"{{ id: a, tool: pot-hold, {WAIT} }} }}"),
    "a model": steps("{ id: a, model: small, prompt: Say }"),
    "arguments beside a wait": steps(f"{{ id: a, params: {{ b: 1 }}, {WAIT} }} }}"),
    "waits": steps(f"{{ id: a, {WAIT}, interval_seconds: 0.4 }} }}", f"{{ id: b, {WAIT}, timeout_seconds: 0.9 }} }}"),
    "a check of nothing": steps("{ id: a, tool: pot-hold, assert: [{ path: c, exists: false, equals: 1 }] }"),
    "an argument on its own line": steps("id: b\n    tool: pot-hold\n    params:\n      cuont: 1"),
    "references": steps(
        '{ id: a, tool: pot-hold, params: { value: "${steps.b.result}" } }',
        '{ id: b, tool: pot-hold, params: { value: { notEquals: "${env.HOME} ${result}" } } }',
        '{ id: c, tool: pot-hold, assert: [{ path: result.value, not_equals: "${captures.d}" }] }',
    ),
    "recipes": steps("{ id: a, tool: km-recipe-run, params: { recipe: daily-helth } }"),
    "a long variable": f"variables:\n  a: 1\n  b: {'x' * 1_000_001}\n{steps(OK)}",
    "a map of captures": steps("{ id: a, tool: pot-hold, capture: { name: q, path: value } }", CAPTURES % "p"),
    # Of captures and variables without names that can be read, no reference is reported.
    "a capture without a name": steps("{ id: a, tool: pot-hold, capture: { path: value } }", CAPTURES % "q"),
    "a captured word": steps("{ id: a, tool: pot-hold, capture: q }", CAPTURES % "q"),
    "captures without names": steps("{ id: a, tool: pot-hold, capture: [{ path: value }] }", CAPTURES % "q"),
    "captured words": steps("{ id: a, tool: pot-hold, capture: [q] }", CAPTURES % "q"),
    "no table of variables": f"{CALL}variables: 3\n",
    "a list of variables": f"{CALL}variables: [a]\n",
    "a table of steps": "steps: { a: b }\noutputs: { a: '${vars.b}' }\n",
    "it calls itself": f"sumary: y\n{steps('{ id: go, tool: km-recipe-run, params: { recipe: brew } }')}",
    "many faults": (FILES / "faulty.yaml").read_bytes(),
}


def test_recipes_with_faults_are_not_run(kitchen: Kitchen, problem_files: Snapshot) -> None:
    ##= man/spec/gateway.md#recipes
    ##% duvet MUST list every problem of a recipe with its line, and MUST NOT run a recipe that has problems.
    lines: list[str] = []
    for name, text in FAULTS.items():
        kitchen.write("brew", "").write_bytes(text.encode() if isinstance(text, str) else text)
        problems = kitchen.problems("brew")
        failure: Any = kitchen.failure("brew")
        path, line, message, _ = problems[0]
        assert (failure.code, kitchen.runs) == ("invalid_request", [])
        assert failure.message.startswith(f"{path}:{line}: {message}" if line else f"{path}: {message}")
        assert [one["message"] for one in failure.details["problems"]] == [one[2] for one in problems]
        shown = (f"{path}:{line}: {message}" + (f"; {hint}" if hint else "") for path, line, message, hint in problems)
        lines += [f"# {name}", *shown, ""]
    problem_files.assert_match("\n".join(lines), "recipes.txt")


def test_a_recipe_that_calls_itself_or_one_with_faults_is_not_run(kitchen: Kitchen) -> None:
    kitchen.write("x", f"sumary: y\n{steps('{ id: go, tool: km-recipe-run, params: { recipe: z } }')}")
    kitchen.write("z", steps("{ id: go, tool: km-recipe-run, params: { recipe: x } }"))
    itself = "steps[0].tool: recipe x calls itself: recipe x > recipe z > recipe x"
    assert kitchen.problems("x")[1:] == [("recipes/x.yaml", 3, itself, "")]
    for text in ("sumary: y\nsteps: []\n", "steps: [\n", "- a\n"):
        kitchen.write("x", text)
        message = 'steps[0].params.recipe: the recipe "x" has errors'
        assert kitchen.problems("z") == [("recipes/z.yaml", 2, message, "run `duvet recipe check` to list them")]
        assert (kitchen.failure("z").code, kitchen.runs) == ("invalid_request", [])


def test_a_wait_for_a_tool_that_writes_is_a_warning(kitchen: Kitchen) -> None:
    kitchen.write("brew", steps("{ id: a, wait: { tool: pot-fill, until: { path: items, exists: true } } }"))
    message = "steps[0].wait.tool: pot-fill writes, and this wait calls it repeatedly"
    assert kitchen.problems("brew") == [("recipes/brew.yaml", 2, message, "in `wait`, call a tool that only reads")]
    assert kitchen.run("brew")["status"] == "success"


LITERAL = "${captures.c}"


PLANNED: dict[str, object] = {
    "${vars.q}": "$${captures.c}",
    "of ${vars.q}": "of $${captures.c}",
    "${vars.q} ${captures.c}": "$${captures.c} ${captures.c}",
    "${captures.c}": "${captures.c}",
    "$${vars.q}": "$${vars.q}",
    "${vars.deep}": {"a": ["$${captures.c}", 1]},
    "${vars.deep.a[1]}": 1,
}


def test_a_plan_keeps_references_that_only_a_run_can_fill() -> None:
    ##= man/spec/gateway.md#recipes
    ##% With `--dry-run`, `duvet recipe run` MUST print the call that each step would make, and call nothing.
    for written, shown in PLANNED.items():
        wait = f"{{ tool: x, params: {{ value: '{written}' }}, until: {{ path: a, equals: '{written}' }} }}"
        capture = "{ id: a, tool: pot-hold, capture: [{ name: c, path: value }] }"
        text = "variables: { q: x, deep: {} }\n" + steps(capture, f"{{ id: b, wait: {wait} }}")
        told: dict[str, Any] = {"q": LITERAL, "deep": {"a": [LITERAL, 1]}}
        planned = plan_recipe_run(read(text), told)
        found = planned.steps[1].params, getattr(planned.steps[1].until, "equals", None), planned.vars
        assert found == ({"value": shown}, shown, told)
    # Keys are literal.
    step = "{ id: a, tool: pot-hold, params: { value: { '${captures.c}': 1, b: '${vars.deep}' } } }"
    text = "variables: { deep: {} }\n" + steps(step)
    planned = plan_recipe_run(read(text), {"deep": {LITERAL: {LITERAL: LITERAL}}})
    key = "$${captures.c}"
    assert planned.steps[0].params == {"value": {key: 1, "b": {key: {key: key}}}}
