"""What is read in the file of a recipe, and what is wrong with it."""

from __future__ import annotations

import pytest

from duvet.config.service.workflows import VariableType as Kind
from duvet.workflows.recipes.reading import FILE, read_recipe
from duvet.workflows.records import Capture, Check, ToolStep, Variable, WaitStep, Workflow
from tests.workflows.recipes.made import Kitchen, steps

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


def test_a_whole_one() -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A wait MUST call its tool every 5 seconds, and fail after 300, unless `interval_seconds`, at least 0.5, and
    ##% `timeout_seconds`, at least 1, say otherwise.
    found = read_recipe(WHOLE.encode(), "recipes/x.yaml", FILE)
    assert (found.name, found.problems, found.steps) == ("release", (), 3)
    assert found.workflow == Workflow(
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
                asserts=(
                    Check(path="result.results[0]", exists=True, not_equals=None),
                    Check(path="result.error", exists=False),
                    Check(path="result.note", equals=None),
                ),
                capture=(Capture("ingest_run", "result.run"),),
                time_limit=60,
            ),
            WaitStep(
                id="wait-ingest",
                tool="km-ingest-status",
                until=Check(path="status", equals="ok"),
                interval=10,
                time_limit=900,
            ),
            WaitStep(
                id="usual",
                tool="km-ingest-status",
                until=Check(path="status", not_equals="running"),
                interval=5,
                time_limit=300,
            ),
        ),
        outputs={"run": "${captures.ingest_run}"},
        time_limit=600 + 900 + 300,
    )


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
            (
                2,
                f"steps[0].{name}: unknown field `{name}`, expected one of {STEP_KEYS}",
                "",
            )
            for name in ("model", "prompt")
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
    ##% Everything that is wrong with a recipe MUST be listed with its file, its line and the path of its key, and no step
    ##% of it MUST be begun.
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% Each step MUST have an id of its own, and one of `tool` and `wait`.
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


BOMB = "".join(
    [
        "variables:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n",
        *(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)),
        steps(OK),
    ]
)
HOSTILE: dict[str, tuple[str, int, str]] = {
    "aliases": (BOMB, 6, "more than 100,000 values"),
    "long texts": (
        f"variables:\n  a: &a {'x' * 450_000}\n{steps(OK)}outputs:\n  b: [{'*a,' * 2_500}]\n",
        6,
        "more than 4,194,304 characters of texts and keys",
    ),
    "deep": (f"variables: {'[' * 70}{']' * 70}\n", 1, "nested too deeply: more than 64 levels"),
    "deeper": (f"variables: {'{a: ' * 100_000}", 1, "nested too deeply: more than 64 levels"),
    "large": (f"summary: {'x' * (1 << 20)}\n{steps(OK)}", 0, "larger than 1 MiB"),
    "itself": ("variables: &a\n  b: *a\n", 2, "an alias of nothing that is complete before it"),
    "a tag": (
        f"name: !!python/object/apply:os.system [ls]\n{steps(OK)}",
        1,
        "a tag, which begins with `!`, can't stand here",
    ),
    "merged": (f"a: &a {{ b: 1 }}\n<<: *a\n{steps(OK)}", 2, "`<<` merges nothing here"),
    "two documents": (f"{steps(OK)}---\n{steps(OK)}", 3, "more than one document in a file"),
    "many steps": (
        steps(*[f"{{ id: a{n}, tool: pot-hold }}" for n in range(101)]),
        2,
        "steps: there are 101 steps; 100 is the most",
    ),
    "a control": ("name: a\x1b[2Jb\n", 1, "YAML parse error at line 1, column 8: control characters are not allowed"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_ones(kitchen: Kitchen, name: str) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A recipe that is larger than 1 MiB, nested deeper than 64 levels, or holds more than 100,000 values or 4 Mi
    ##% characters of texts and keys once its aliases are followed, MUST be refused with its file and its line.
    text, line, message = HOSTILE[name]
    kitchen.write("brew", text)
    (found,) = kitchen.problems("brew")
    assert found[:3] == ("recipes/brew.yaml", line, message)
    assert kitchen.failure("brew").code == "invalid_request"


def test_what_is_no_text(kitchen: Kitchen) -> None:
    kitchen.write("brew", "").write_bytes(b"name: x\nsummary: \xff\n")
    assert kitchen.problems("brew")[0][:2] == ("recipes/brew.yaml", 2)
