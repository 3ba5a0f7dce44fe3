"""What is read in the file of a recipe, and what is wrong with it."""

from __future__ import annotations

import pytest

from duvet.config.workflow_tables import VariableType as Kind
from duvet.workflows.recipe import ORIGIN_FILE, read_recipe
from duvet.workflows.workflow import Capture, Check, ToolStep, Variable, WaitStep, Workflow
from tests.unit.workflows.recipes.made import Kitchen, steps

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


def test_a_whole_one() -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A wait MUST repeat its call every 5 seconds for up to 300 seconds, unless `interval_seconds` and
    ##% `timeout_seconds` differ.
    found = read_recipe(WHOLE.encode(), "recipes/x.yaml", ORIGIN_FILE)
    assert (found.name, found.problems, found.workflow and len(found.workflow.steps)) == ("release", (), 3)
    assert found.workflow == WORKFLOW


OK = "{ id: a, tool: pot-hold }"
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
    ##= man/spec/service.md#configuration
    ##= type=test
    ##% duvet MUST refuse a configuration or recipe that is larger than 1 MiB, is nested deeper than 64 levels, or
    ##% expands to more than 100,000 values or 4 Mi characters.
    text, line, message = HOSTILE[name]
    kitchen.write("brew", text)
    (found,) = kitchen.problems("brew")
    assert found[:3] == ("recipes/brew.yaml", line, message)
    assert kitchen.failure("brew").code == "invalid_request"


def test_what_is_no_text(kitchen: Kitchen) -> None:
    kitchen.write("brew", "").write_bytes(b"name: x\nsummary: \xff\n")
    assert kitchen.problems("brew")[0][:2] == ("recipes/brew.yaml", 2)
