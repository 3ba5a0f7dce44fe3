"""What a recipe would do."""

from __future__ import annotations

from typing import Any

import pytest

from duvet.workflows.recipe import ORIGIN_FILE, plan_recipe_run, read_recipe
from tests.unit.workflows.recipes.made import steps

LITERAL = "${captures.c}"
SHOWN = {
    "${vars.q}": "$${captures.c}",
    "of ${vars.q}": "of $${captures.c}",
    "${vars.q} ${captures.c}": "$${captures.c} ${captures.c}",
    "${captures.c}": "${captures.c}",
    "$${vars.q}": "$${vars.q}",
    "${vars.deep}": {"a": ["$${captures.c}", 1]},
    "${vars.deep.a[1]}": 1,
}


@pytest.mark.parametrize("written", SHOWN)
def test_what_is_known_is_no_reference(written: str) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% With `--dry-run`, `duvet recipe run` MUST show what each step would call, with `${` for values that only a run
    ##% brings, and call nothing.
    text = "variables: { q: x, deep: {} }\n" + steps(
        "{ id: a, tool: pot-hold, capture: [{ name: c, path: value }] }",
        f"{{ id: b, wait: {{ tool: x, params: {{ value: '{written}' }}, until: {{ path: a, equals: '{written}' }} }} }}",
    )
    workflow = read_recipe(text.encode(), "x.yaml", ORIGIN_FILE).workflow
    assert workflow is not None
    told: dict[str, Any] = {"q": LITERAL, "deep": {"a": [LITERAL, 1]}}
    planned = plan_recipe_run(workflow, told)
    step = planned.steps[1]
    assert (step.params, getattr(step.until, "equals", None)) == ({"value": SHOWN[written]}, SHOWN[written])
    assert planned.vars == told


def test_keys_are_no_references() -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% With `--dry-run`, `duvet recipe run` MUST show what each step would call, with `${` for values that only a run
    ##% brings, and call nothing.
    text = "variables: { deep: {} }\n" + steps(
        "{ id: a, tool: pot-hold, params: { value: { '${captures.c}': 1, b: '${vars.deep}' } } }"
    )
    workflow = read_recipe(text.encode(), "x.yaml", ORIGIN_FILE).workflow
    assert workflow is not None
    planned = plan_recipe_run(workflow, {"deep": {LITERAL: {LITERAL: LITERAL}}})
    key = "$${captures.c}"
    assert planned.steps[0].params == {"value": {key: 1, "b": {key: {key: key}}}}
