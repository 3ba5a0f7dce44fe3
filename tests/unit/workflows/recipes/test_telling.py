"""What recipes are told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workflows.recipes.made import FILLED, Kitchen, steps

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
    ##% Before the first step, duvet MUST refuse a variable that is unknown or mistyped, and require one whose value in
    ##% the file is null.
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
