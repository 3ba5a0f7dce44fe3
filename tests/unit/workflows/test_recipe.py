"""Recipe files: how they are read, their problems, and their plans."""

from __future__ import annotations

from typing import Any

import pytest

from duvet.config.service_tables import CaptureSection, VariableType as Kind
from duvet.workflows.recipe import ORIGIN_FILE, plan_recipe_run, read_recipe
from duvet.workflows.workflow import Check, ToolStep, Variable, Workflow
from tests.unit.workflows.recipe_project import Kitchen, steps
from tests.unit.workflows.workflow_backend import waiting

WHOLE = """\
version: 1
name: release
summary: Gets everything ready.
variables: { profile: release, most: 5, share: 1.0, deep: true, only: [a], extra: { b: 1 }, who: null }
steps:
  - id: trigger-ingest
    description: takes everything in
    tool: km-ingest-trigger
    params: { profile: "${vars.profile}", dry_run: false }
    expect: { result.status: success }
    assert:
      - { path: "result.results[0]", exists: true, not_equals: null }
      - { path: result.error, exists: false }
      - { path: result.note, equals: null }
    capture: [{ name: ingest_run, path: result.run }]
    timeout_seconds: 60
  - id: wait-ingest
    wait: { tool: km-ingest-status, params: {}, until: { path: status, equals: ok }, interval_seconds: 10, timeout_seconds: 900 }
  - { id: usual, wait: { tool: km-ingest-status, until: { path: status, not_equals: running } } }
outputs: { run: "${captures.ingest_run}" }
"""
CHECKS = (
    Check(path="result.results[0]", exists=True, not_equals=None),
    Check(path="result.error", exists=False),
    Check(path="result.note", equals=None),
)
OK_OR_NOT = Check(path="status", equals="ok"), Check(path="status", not_equals="running")
WORKFLOW = Workflow(
    name="recipe release",
    description="Gets everything ready.",
    variables={
        "profile": Variable(Kind.STRING, "", "release"),
        "most": Variable(Kind.INTEGER, "", 5),
        "share": Variable(Kind.NUMBER, "", 1.0),
        "deep": Variable(Kind.BOOLEAN, "", True),
        "only": Variable(Kind.ARRAY, "", ["a"]),
        "extra": Variable(Kind.OBJECT, "", {"b": 1}),
        "who": Variable(None),
    },
    steps=(
        ToolStep(
            id="trigger-ingest",
            description="takes everything in",
            tool="km-ingest-trigger",
            params={"profile": "${vars.profile}", "dry_run": False},
            expect={"result.status": "success"},
            asserts=CHECKS,
            capture=(CaptureSection(name="ingest_run", path="result.run"),),
            time_limit=60,
        ),
        waiting("km-ingest-status", OK_OR_NOT[0], "wait-ingest", interval=10, time_limit=900),
        waiting("km-ingest-status", OK_OR_NOT[1], "usual", interval=5, time_limit=300),
    ),
    outputs={"run": "${captures.ingest_run}"},
    time_limit=600 + 900 + 300,
)


def read(text: str) -> Workflow:
    found = read_recipe(text.encode(), "recipes/x.yaml", ORIGIN_FILE)
    assert found.problems == () and found.workflow is not None
    return found.workflow


def test_a_recipe_becomes_a_workflow() -> None:
    assert read(WHOLE) == WORKFLOW
    assert read_recipe(WHOLE.encode(), "recipes/x.yaml", ORIGIN_FILE).name == "release"


OK = "{ id: a, tool: pot-hold }"
TOO_MANY = "steps: the workflow has 101 steps; the limit is 100"
HOSTILE: dict[str, tuple[str, int, str]] = {
    "large": (f"summary: {'x' * (1 << 20)}\n{steps(OK)}", 0, "the file is larger than 1 MiB"),
    "many steps": (steps(*[f"{{ id: a{n}, tool: pot-hold }}" for n in range(101)]), 2, TOO_MANY),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(kitchen: Kitchen, name: str) -> None:
    text, line, message = HOSTILE[name]
    kitchen.write("brew", text)
    (found,) = kitchen.problems("brew")
    assert found[:3] == ("recipes/brew.yaml", line, message)
    assert kitchen.failure("brew").code == "invalid_request"


def test_a_file_that_is_not_utf_8_is_refused(kitchen: Kitchen) -> None:
    kitchen.write("brew", "").write_bytes(b"name: x\nsummary: \xff\n")
    assert kitchen.problems("brew")[0][:2] == ("recipes/brew.yaml", 2)


KEYS = "`version`, `name`, `summary`, `variables`, `steps`, `outputs`, `timeout_seconds`"
STEP_KEYS = "`id`, `description`, `tool`, `wait`, `params`, `expect`, `assert`, `capture`, `timeout_seconds`"
UNKNOWN_KEY = (1, f"sumary: unknown field `sumary`, expected one of {KEYS}", "did you mean `summary`?")
CAPTURES = '{ id: b, tool: pot-hold, params: { value: "${captures.%s}" } }'
OUT_OF_RANGE = "floating point `{}` is out of range"
EXPECTED = "can be used only in `expect`, `assert`, `until` and `capture`"
LIST = "write a list: put `- ` before each table"
WAIT = "wait: { tool: pot-hold, until: { path: a, exists: true }"
FAULTS: dict[str, tuple[str, list[tuple[int, str, str]]]] = {
    "nothing": ("", [(1, "missing field `steps`", "")]),
    "no table": ("- a\n", [(1, "expected a table: write lines such as `key: value`", "")]),
    "no YAML": ("steps: [\n", [(2, "YAML parse error at line 2, column 1: did not find expected node content", "")]),
    "a key": (f"sumary: x\n{steps(OK)}", [UNKNOWN_KEY]),
    "a name": (
        f"name: a b\n{steps(OK)}",
        [(1, 'name: "a b" is not a name: a letter, then up to 63 letters, digits, `-` or `_`', "")],
    ),
    "no steps": ("steps: []\n", [(1, "steps: invalid length 0, expected at least 1", "")]),
    "both": (
        steps(f"{{ id: a, tool: pot-hold, {WAIT} }} }}"),
        [(2, "steps[0].wait: only one of `tool`, `wait` is allowed", "keep one of them")],
    ),
    "a model": (
        steps("{ id: a, model: small, prompt: Say }"),
        [
            (2, "steps[0]: missing one of `tool`, `wait`", ""),
            (2, f"steps[0].model: unknown field `model`, expected one of {STEP_KEYS}", ""),
            (2, f"steps[0].prompt: unknown field `prompt`, expected one of {STEP_KEYS}", ""),
        ],
    ),
    "arguments beside a wait": (
        steps(f"{{ id: a, params: {{ b: 1 }}, {WAIT} }} }}"),
        [(2, "steps[0].params: `params` can't be used with `wait`", "move `params` into `wait`")],
    ),
    "waits": (
        steps(f"{{ id: a, {WAIT}, interval_seconds: 0.4 }} }}", f"{{ id: b, {WAIT}, timeout_seconds: 0.9 }} }}"),
        [
            (2, f"steps[0].wait.interval_seconds: {OUT_OF_RANGE.format(0.4)}", "write a number from 0.5 to 3600"),
            (3, f"steps[1].wait.timeout_seconds: {OUT_OF_RANGE.format(0.9)}", "write a number from 1 to 86400"),
        ],
    ),
    "a check of nothing": (
        steps("{ id: a, tool: pot-hold, assert: [{ path: c, exists: false, equals: 1 }] }"),
        [
            (
                2,
                "steps[0].assert[0].exists: `exists: false` can't be combined with a comparison",
                "remove `equals` and `not_equals`",
            )
        ],
    ),
    "an argument on its own line": (
        steps("id: b\n    tool: pot-hold\n    params:\n      cuont: 1"),
        [(5, 'steps[0].params.cuont: pot-hold has no argument "cuont"', "did you mean count?")],
    ),
    "references": (
        steps(
            '{ id: a, tool: pot-hold, params: { value: "${steps.b.result}" } }',
            '{ id: b, tool: pot-hold, params: { value: { notEquals: "${env.HOME} ${result}" } } }',
            '{ id: c, tool: pot-hold, assert: [{ path: result.value, not_equals: "${captures.d}" }] }',
        ),
        [
            (2, 'steps[0].params.value: "${steps.b.result}": this step runs later', "move that step up"),
            (
                3,
                'steps[1].params.value.notEquals: "${env.HOME}" must begin with one of vars, steps, captures, result',
                "",
            ),
            (
                3,
                f'steps[1].params.value.notEquals: "${{result}}" {EXPECTED}',
                "use ${steps.ID.result} for the result of an earlier step",
            ),
            (4, 'steps[2].assert[0].not_equals: "${captures.d}": captures.d does not exist', ""),
        ],
    ),
    "recipes": (
        steps("{ id: a, tool: km-recipe-run, params: { recipe: daily-helth } }"),
        [(2, 'steps[0].params.recipe: unknown recipe "daily-helth"', "did you mean daily-health?")],
    ),
    "a long variable": (
        f"variables:\n  a: 1\n  b: {'x' * 1_000_001}\n{steps(OK)}",
        [(3, "variables.b: it is larger than 1,000,000 bytes", "")],
    ),
    "a map of captures": (
        steps("{ id: a, tool: pot-hold, capture: { name: q, path: value } }", CAPTURES % "p"),
        [
            (2, "steps[0].capture: invalid type: map, expected a sequence", LIST),
            (3, 'steps[1].params.value: "${captures.p}": captures.p does not exist', "available: q"),
        ],
    ),
    # Of captures and variables without names that can be read, no reference is reported.
    "a capture without a name": (
        steps("{ id: a, tool: pot-hold, capture: { path: value } }", CAPTURES % "q"),
        [(2, "steps[0].capture: invalid type: map, expected a sequence", LIST)],
    ),
    "a captured word": (
        steps("{ id: a, tool: pot-hold, capture: q }", CAPTURES % "q"),
        [(2, 'steps[0].capture: invalid type: string "q", expected a sequence', "")],
    ),
    "a list of captures without names": (
        steps("{ id: a, tool: pot-hold, capture: [{ path: value }] }", CAPTURES % "q"),
        [(2, "steps[0].capture[0]: missing field `name`", "")],
    ),
    "a list of captured words": (
        steps("{ id: a, tool: pot-hold, capture: [q] }", CAPTURES % "q"),
        [(2, 'steps[0].capture[0]: invalid type: string "q", expected a table', "")],
    ),
    "it calls itself": (
        f"sumary: y\n{steps('{ id: go, tool: km-recipe-run, params: { recipe: brew } }')}",
        [UNKNOWN_KEY, (3, "steps[0].tool: recipe brew calls itself: recipe brew > recipe brew", "")],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_recipe_with_faults_is_not_run(kitchen: Kitchen, name: str) -> None:
    ##= man/spec/gateway.md#recipes
    ##% duvet MUST list every problem of a recipe with its line, and MUST NOT run a recipe that has problems.
    text, wanted = FAULTS[name]
    kitchen.write("brew", text)
    assert kitchen.problems("brew") == [("recipes/brew.yaml", *one) for one in wanted]
    found = kitchen.failure("brew")
    assert (found.code, kitchen.runs) == ("invalid_request", [])
    assert found.message.startswith(f"recipes/brew.yaml:{wanted[0][0]}: {wanted[0][1]}")
    assert isinstance(found.details, dict)
    assert [one["message"] for one in found.details["problems"]] == [message for _, message, _ in wanted]


def test_a_recipe_with_faults_that_calls_itself_through_another(kitchen: Kitchen) -> None:
    kitchen.write("x", f"sumary: y\n{steps('{ id: go, tool: km-recipe-run, params: { recipe: z } }')}")
    kitchen.write("z", steps("{ id: go, tool: km-recipe-run, params: { recipe: x } }"))
    itself = (3, "steps[0].tool: recipe x calls itself: recipe x > recipe z > recipe x", "")
    assert kitchen.problems("x") == [("recipes/x.yaml", *one) for one in (UNKNOWN_KEY, itself)]


@pytest.mark.parametrize("text", ["sumary: y\nsteps: []\n", "steps: [\n", "- a\n"])
def test_a_recipe_that_calls_one_with_faults_is_not_run(kitchen: Kitchen, text: str) -> None:
    kitchen.write("x", text)
    kitchen.write("z", steps("{ id: go, tool: km-recipe-run, params: { recipe: x } }"))
    message = 'steps[0].params.recipe: the recipe "x" has errors'
    assert kitchen.problems("z") == [("recipes/z.yaml", 2, message, "run `duvet recipe check` to list them")]
    assert (kitchen.failure("z").code, kitchen.runs) == ("invalid_request", [])


def test_a_wait_for_a_tool_that_writes_is_a_warning(kitchen: Kitchen) -> None:
    kitchen.write("brew", steps("{ id: a, wait: { tool: pot-fill, until: { path: items, exists: true } } }"))
    message = "steps[0].wait.tool: pot-fill writes, and this wait calls it repeatedly"
    assert kitchen.problems("brew") == [("recipes/brew.yaml", 2, message, "wait for a tool that only reads")]
    assert kitchen.run("brew")["status"] == "success"


AT_ONCE = """\
name: m
version: 2
variables: { a: b }
steps:
  - { id: a, tool: pot-hlod }
  - { id: b, tool: km-search, params: { qurey: "${vars.x}" } }
  - { id: c, tool: pot-hold, assert: [{ path: x }, { path: "vars.y", exists: true }] }
  - { id: d }
  - { tool: pot-hold, params: { value: "${steps.d.result}" }, capture: [{ name: e }] }
  - { id: a, wait: { tool: pot-hodl, params: { cuont: 1 }, until: { equals: "${captures.g}" } } }
  - { id: f, tool: 3, params: 4, sumary: x, expect: { "captures.e": 1 } }
  - 5
outputs: { all: "${steps.none.result}" }
"""
NO_POT = "did you mean pot-hold or pot-fill or pot-leak?"
ALL = [
    (2, "version: unsupported recipe version 2", "write `version: 1`"),
    (5, 'steps[0].tool: unknown tool "pot-hlod"', NO_POT),
    (6, "steps[1].params: km-search requires the argument query", ""),
    (6, 'steps[1].params.qurey: "${vars.x}": vars.x does not exist', "available: a"),
    (6, 'steps[1].params.qurey: km-search has no argument "qurey"', "did you mean query?"),
    (7, "steps[2].assert[0]: missing one of `equals`, `not_equals`, `exists`", "add one of them"),
    (7, 'steps[2].assert[1].path: "vars.y": vars.y does not exist', "available: a"),
    (8, "steps[3]: missing one of `tool`, `wait`", ""),
    (9, "steps[4]: missing field `id`", ""),
    (9, "steps[4].capture[0]: missing field `path`", ""),
    (10, "steps[5].id: duplicate name `a`, first used at line 5", "choose another name"),
    (10, 'steps[5].wait.tool: unknown tool "pot-hodl"', NO_POT),
    (10, "steps[5].wait.until: missing field `path`", ""),
    (10, 'steps[5].wait.until.equals: "${captures.g}": captures.g does not exist', "available: e"),
    (11, "steps[6].tool: invalid type: integer `3`, expected a string", ""),
    (11, "steps[6].params: invalid type: integer `4`, expected a table", ""),
    (11, f"steps[6].sumary: unknown field `sumary`, expected one of {STEP_KEYS}", ""),
    (12, "steps[7]: invalid type: integer `5`, expected a table", ""),
    (13, 'outputs.all: "${steps.none.result}": steps.none does not exist', "available: a, b, c, d, f"),
]


def test_all_faults_are_listed_at_once(kitchen: Kitchen) -> None:
    kitchen.write("brew", AT_ONCE)
    assert kitchen.problems("m") == [("recipes/brew.yaml", *one) for one in ALL]


@pytest.mark.parametrize("part", ["variables: 3", "steps: { a: b }", "steps: 3", "variables: [a]"])
def test_references_to_an_unreadable_part_are_not_reported(kitchen: Kitchen, part: str) -> None:
    text = "name: m\n" + ("" if part.startswith("steps") else steps('{ id: a, tool: x, params: { a: "${vars.b}" } }'))
    kitchen.write("brew", f"{text}{part}\n")
    assert [message.split(":")[0] for _, _, message, _ in kitchen.problems("m")] == [part.split(":")[0]]


LITERAL = "${captures.c}"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("${vars.q}", "$${captures.c}"),
        ("of ${vars.q}", "of $${captures.c}"),
        ("${vars.q} ${captures.c}", "$${captures.c} ${captures.c}"),
        ("${captures.c}", "${captures.c}"),
        ("$${vars.q}", "$${vars.q}"),
        ("${vars.deep}", {"a": ["$${captures.c}", 1]}),
        ("${vars.deep.a[1]}", 1),
    ],
)
def test_a_plan_keeps_references_that_only_a_run_can_fill(written: str, shown: object) -> None:
    ##= man/spec/gateway.md#recipes
    ##% With `--dry-run`, `duvet recipe run` MUST print the call that each step would make, and call nothing.
    text = "variables: { q: x, deep: {} }\n" + steps(
        "{ id: a, tool: pot-hold, capture: [{ name: c, path: value }] }",
        f"{{ id: b, wait: {{ tool: x, params: {{ value: '{written}' }}, until: {{ path: a, equals: '{written}' }} }} }}",
    )
    told: dict[str, Any] = {"q": LITERAL, "deep": {"a": [LITERAL, 1]}}
    planned = plan_recipe_run(read(text), told)
    step = planned.steps[1]
    assert (step.params, getattr(step.until, "equals", None)) == ({"value": shown}, shown)
    assert planned.vars == told


def test_keys_in_a_plan_are_literal() -> None:
    text = "variables: { deep: {} }\n" + steps(
        "{ id: a, tool: pot-hold, params: { value: { '${captures.c}': 1, b: '${vars.deep}' } } }"
    )
    planned = plan_recipe_run(read(text), {"deep": {LITERAL: {LITERAL: LITERAL}}})
    key = "$${captures.c}"
    assert planned.steps[0].params == {"value": {key: 1, "b": {key: {key: key}}}}
