"""Profiles of weights"""

from __future__ import annotations

import pytest

from duvet.errors import QueryError
from duvet.knowledge.retrieval.weights import DEFAULT, as_numbers, profile


def test_profiles() -> None:
    assert profile() is DEFAULT
    assert {name: [*as_numbers(profile(name).weights).values()] for name in ("default", "analysis")} == {
        "default": [0.28, 0.05, 0.09, 0.15, 0.12],
        "analysis": [0.38, 0.10, 0.08, 0.18, 0.18],
    }
    with pytest.raises(QueryError) as raised:
        profile("analisys")
    assert raised.value.hint == "did you mean analysis?"


def test_other_weights_are_between_none_and_one() -> None:
    changed = profile("analysis", subsystem=3.0, support=-1.0)
    assert changed.name == "analysis+overrides"
    assert as_numbers(changed.weights) == as_numbers(profile("analysis").weights) | {"subsystem": 1.0, "support": 0.0}
