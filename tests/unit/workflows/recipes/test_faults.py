"""What is wrong with a recipe, all of it at once."""

from __future__ import annotations

import pytest

from tests.unit.workflows.recipes.made import Kitchen, steps

OK = "{ id: a, tool: pot-hold }"
KEYS = "`version`, `name`, `summary`, `variables`, `steps`, `outputs`, `timeout_seconds`"
STEP_KEYS = "`id`, `description`, `tool`, `wait`, `params`, `expect`, `assert`, `capture`, `timeout_seconds`"
FAULTS: dict[str, tuple[str, list[tuple[int, str, str]]]] = {
    "nothing": ("", [(1, "missing field `steps`", "")]),
    "no table": ("- a\n", [(1, "expected a table, lines such as `key: value`", "")]),
    "no YAML": ("steps: [\n", [(2, "YAML parse error at line 2, column 1: did not find expected node content", "")]),
    "a key": (
        f"sumary: x\n{steps(OK)}",
        [
            (
                1,
                f"sumary: unknown field `sumary`, expected one of {KEYS}",
                "did you mean `summary`?",
            )
        ],
    ),
    "a version": (
        f"version: 2\n{steps(OK)}",
        [(1, "version: version 2 of recipes is not known here", "write it as one of version 1")],
    ),
    "a name": (
        f"name: a b\n{steps(OK)}",
        [(1, 'name: "a b" is not a name: a letter, and up to 63 letters, digits, `-` and `_` after it', "")],
    ),
    "no steps": ("steps: []\n", [(1, "steps: invalid length 0, expected at least 1", "")]),
    "no id": (steps("{ tool: pot-hold }"), [(2, "steps[0]: missing field `id`", "")]),
    "the same id": (
        steps(OK, OK),
        [(3, "steps[1].id: `a` is the name of another at line 2 already", "choose another name")],
    ),
    "neither": (steps("{ id: a }"), [(2, "steps[0]: one of `tool`, `wait` has to be here", "")]),
    "both": (
        steps("{ id: a, tool: pot-hold, wait: { tool: pot-hold, until: { path: a, exists: true } } }"),
        [(2, "steps[0].wait: only one of `tool`, `wait` can be here", "keep one of them")],
    ),
    "a model": (
        steps("{ id: a, model: small, prompt: Say }"),
        [
            (2, "steps[0]: one of `tool`, `wait` has to be here", ""),
            *(
                (
                    2,
                    f"steps[0].{name}: unknown field `{name}`, expected one of {STEP_KEYS}",
                    "",
                )
                for name in ("model", "prompt")
            ),
        ],
    ),
    "arguments beside a wait": (
        steps("{ id: a, params: { b: 1 }, wait: { tool: pot-hold, until: { path: a, exists: true } } }"),
        [(2, "steps[0].params: the arguments of the tool stand in `wait`", "move them there")],
    ),
    "waits": (
        steps(
            "{ id: a, wait: { tool: pot-hold, until: { path: a, exists: true }, interval_seconds: 0.4 } }",
            "{ id: b, wait: { tool: pot-hold, until: { path: a, exists: true }, timeout_seconds: 0.9 } }",
        ),
        [
            (
                2,
                "steps[0].wait.interval_seconds: floating point `0.4` is out of range",
                "write a number from 0.5 to 3600",
            ),
            (
                3,
                "steps[1].wait.timeout_seconds: floating point `0.9` is out of range",
                "write a number from 1 to 86400",
            ),
        ],
    ),
    "checks": (
        steps("{ id: a, tool: pot-hold, assert: [{ path: b }, { path: c, exists: false, equals: 1 }] }"),
        [
            (
                2,
                "steps[0].assert[0]: one of `equals`, `not_equals`, `exists` has to be here",
                "say what has to hold",
            ),
            (2, "steps[0].assert[1].exists: what is not there can't be compared", "keep `exists` alone"),
        ],
    ),
    "tools and arguments": (
        steps("{ id: a, tool: pot-hodl }", "id: b\n    tool: pot-hold\n    params:\n      cuont: 1"),
        [
            (2, 'steps[0].tool: there is no tool "pot-hodl"', "did you mean pot-hold or pot-boil or pot-fill?"),
            (6, 'steps[1].params.cuont: pot-hold has no argument "cuont"', "did you mean count?"),
        ],
    ),
    "references": (
        steps(
            '{ id: a, tool: pot-hold, params: { value: "${steps.b.result}" } }',
            '{ id: b, tool: pot-hold, params: { value: "${vars.x} ${env.HOME} ${result}" } }',
            '{ id: c, tool: pot-hold, assert: [{ path: result.value, not_equals: "${captures.d}" }] }',
        ),
        [
            (2, 'steps[0].params.value: "${steps.b.result}": that step is not done then', "move the step up"),
            (
                3,
                'steps[1].params.value: "${env.HOME}" begins with none of vars, steps, captures, result',
                "",
            ),
            (
                3,
                'steps[1].params.value: "${result}" is for what is expected and captured',
                "${steps.ID.result} is the result of a step",
            ),
            (3, 'steps[1].params.value: "${vars.x}": there is no vars.x', ""),
            (4, 'steps[2].assert[0].not_equals: "${captures.d}": there is no captures.d', ""),
        ],
    ),
    "recipes": (
        steps("{ id: a, tool: km-recipe-run, params: { recipe: daily-helth } }"),
        [(2, 'steps[0].params.recipe: there is no recipe "daily-helth"', "did you mean daily-health?")],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong(kitchen: Kitchen, name: str) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% duvet MUST list every problem of a recipe with file, line and path of the key, and run no step of it or of a
    ##% recipe that calls it.
    text, wanted = FAULTS[name]
    kitchen.write("brew", text)
    assert kitchen.problems("brew") == [("recipes/brew.yaml", *one) for one in wanted]
    found = kitchen.failure("brew")
    assert (found.code, kitchen.runs) == ("invalid_request", [])
    assert found.message.startswith(f"recipes/brew.yaml:{wanted[0][0]}: {wanted[0][1]}")
    assert isinstance(found.details, dict)
    assert [one["message"] for one in found.details["problems"]] == [message for _, message, _ in wanted]


def test_a_wait_for_a_tool_that_writes_is_a_warning(kitchen: Kitchen) -> None:
    kitchen.write("brew", steps("{ id: a, wait: { tool: pot-fill, until: { path: items, exists: true } } }"))
    message = "steps[0].wait.tool: pot-fill writes, and is called again and again"
    assert kitchen.problems("brew") == [("recipes/brew.yaml", 2, message, "wait for one that only reads")]
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
NO_POT = "did you mean pot-hold or pot-boil or pot-fill?"
ALL = [
    (2, "version: version 2 of recipes is not known here", "write it as one of version 1"),
    (5, 'steps[0].tool: there is no tool "pot-hlod"', NO_POT),
    (6, "steps[1].params: km-search needs the argument query", ""),
    (6, 'steps[1].params.qurey: "${vars.x}": there is no vars.x', "there are a"),
    (6, 'steps[1].params.qurey: km-search has no argument "qurey"', "did you mean query?"),
    (7, "steps[2].assert[0]: one of `equals`, `not_equals`, `exists` has to be here", "say what has to hold"),
    (7, 'steps[2].assert[1].path: "vars.y": there is no vars.y', "there are a"),
    (8, "steps[3]: one of `tool`, `wait` has to be here", ""),
    (9, "steps[4]: missing field `id`", ""),
    (9, "steps[4].capture[0]: missing field `path`", ""),
    (10, "steps[5].id: `a` is the name of another at line 5 already", "choose another name"),
    (10, 'steps[5].wait.tool: there is no tool "pot-hodl"', NO_POT),
    (10, "steps[5].wait.until: missing field `path`", ""),
    (10, 'steps[5].wait.until.equals: "${captures.g}": there is no captures.g', "there are e"),
    (11, "steps[6].tool: invalid type: integer `3`, expected a string", ""),
    (11, "steps[6].params: invalid type: integer `4`, expected a table", ""),
    (11, f"steps[6].sumary: unknown field `sumary`, expected one of {STEP_KEYS}", ""),
    (12, "steps[7]: invalid type: integer `5`, expected a table", ""),
    (13, 'outputs.all: "${steps.none.result}": there is no steps.none', "there are a, b, c, d, f"),
]


def test_all_that_is_wrong_is_told_at_once(kitchen: Kitchen) -> None:
    kitchen.write("brew", AT_ONCE)
    assert kitchen.problems("m") == [("recipes/brew.yaml", *one) for one in ALL]


@pytest.mark.parametrize("part", ["variables: 3", "steps: { a: b }", "steps: 3", "variables: [a]"])
def test_nothing_is_said_of_what_nobody_can_tell(kitchen: Kitchen, part: str) -> None:
    text = "name: m\n" + ("" if part.startswith("steps") else steps('{ id: a, tool: x, params: { a: "${vars.b}" } }'))
    kitchen.write("brew", f"{text}{part}\n")
    assert [message.split(":")[0] for _, _, message, _ in kitchen.problems("m")] == [part.split(":")[0]]


def test_two_of_one_name_are_read_all_the_same(kitchen: Kitchen) -> None:
    kitchen.write("brew", steps("{ id: a, tool: pot-hodl }"))
    kitchen.write("other", f"name: brew\n{steps(OK)}")
    assert [line for _, line, _, _ in kitchen.problems("brew")] == [1, 2]
