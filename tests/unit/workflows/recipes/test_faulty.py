"""Recipes with faults: what else is told of them, and what is told of those that call them."""

from __future__ import annotations

import pytest

from tests.unit.workflows.recipes.made import Kitchen, steps
from tests.unit.workflows.recipes.test_faults import KEYS

CALLS = "{ id: go, tool: km-recipe-run, params: { recipe: %s } }"
UNKNOWN = (1, f"sumary: unknown field `sumary`, expected one of {KEYS}", "did you mean `summary`?")


def test_one_with_faults_that_calls_itself(kitchen: Kitchen) -> None:
    kitchen.write("x", f"sumary: y\n{steps(CALLS % 'x')}")
    itself = (3, "steps[0].tool: recipe x calls itself: recipe x > recipe x", "")
    assert kitchen.problems("x") == [("recipes/x.yaml", *one) for one in (UNKNOWN, itself)]
    kitchen.write("x", f"sumary: y\n{steps(CALLS % 'z')}")
    kitchen.write("z", steps(CALLS % "x"))
    itself = (3, "steps[0].tool: recipe x calls itself: recipe x > recipe z > recipe x", "")
    assert kitchen.problems("x") == [("recipes/x.yaml", *one) for one in (UNKNOWN, itself)]


@pytest.mark.parametrize("text", ["sumary: y\nsteps: []\n", "steps: [\n", "- a\n"])
def test_one_that_calls_one_with_faults(kitchen: Kitchen, text: str) -> None:
    kitchen.write("x", text)
    kitchen.write("z", steps(CALLS % "x"))
    message = 'steps[0].params.recipe: there are faults in the recipe "x"'
    assert kitchen.problems("z") == [("recipes/z.yaml", 2, message, "`duvet recipe validate` tells them")]
    assert (kitchen.failure("z").code, kitchen.runs) == ("invalid_request", [])


LIST = "write a list, with `- ` before each table"
CAPTURES = {
    "{ name: q, path: value }": ("invalid type: map, expected a sequence", LIST),
    "{ path: value }": ("invalid type: map, expected a sequence", LIST),
    "q": ('invalid type: string "q", expected a sequence', ""),
}


@pytest.mark.parametrize("capture", CAPTURES)
def test_nothing_is_said_of_captures_that_nobody_can_read(kitchen: Kitchen, capture: str) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% duvet MUST list every problem of a recipe with file, line and path of the key, and run no step of it or of a
    ##% recipe that calls it.
    used = '{ id: b, tool: pot-hold, params: { value: "${captures.q}" } }'
    kitchen.write("brew", steps(f"{{ id: a, tool: pot-hold, capture: {capture} }}", used))
    message, hint = CAPTURES[capture]
    assert kitchen.problems("brew") == [("recipes/brew.yaml", 2, f"steps[0].capture: {message}", hint)]


def test_what_can_be_read_of_captures_is_known(kitchen: Kitchen) -> None:
    capture = "{ id: a, tool: pot-hold, capture: { name: q, path: value } }"
    kitchen.write("brew", steps(capture, '{ id: b, tool: pot-hold, params: { value: "${captures.p}" } }'))
    assert kitchen.problems("brew")[1:] == [
        ("recipes/brew.yaml", 3, 'steps[1].params.value: "${captures.p}": there is no captures.p', "there are q")
    ]


def test_one_without_a_name(kitchen: Kitchen) -> None:
    for item in ("[{ path: value }]", "[q]"):
        used = '{ id: b, tool: pot-hold, params: { value: "${captures.q}" } }'
        kitchen.write("brew", steps(f"{{ id: a, tool: pot-hold, capture: {item} }}", used))
        (problem,) = kitchen.problems("brew")
        assert problem[1] == 2


def test_a_variable_that_is_too_long(kitchen: Kitchen) -> None:
    kitchen.write("brew", f"variables:\n  a: 1\n  b: {'x' * 1_000_001}\n" + steps("{ id: a, tool: pot-hold }"))
    wanted = ("recipes/brew.yaml", 3, "variables.b: it has more than 1,000,000 bytes", "")
    assert kitchen.problems("brew") == [wanted]


def test_keys_of_the_same_name_as_those_of_a_check(kitchen: Kitchen) -> None:
    kitchen.write("brew", steps('{ id: a, tool: pot-hold, params: { value: { notEquals: "${vars.x}" } } }'))
    (problem,) = kitchen.problems("brew")
    assert problem[2] == 'steps[0].params.value.notEquals: "${vars.x}": there is no vars.x'
