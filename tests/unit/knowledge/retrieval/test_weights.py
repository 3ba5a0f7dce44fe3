"""Profiles of weights"""

from __future__ import annotations

from msgspec.structs import asdict

from duvet.config.service_tables import ProfileName, WeightsSection
from duvet.knowledge.relevance import DEFAULT_PROFILE, PROFILES, Weights, find_profile


def test_profiles() -> None:
    assert find_profile() is DEFAULT_PROFILE
    assert {name: [*asdict(find_profile(name).weights).values()] for name in ("default", "analysis")} == {
        "default": [0.28, 0.05, 0.09, 0.12],
        "analysis": [0.38, 0.10, 0.08, 0.18],
    }


def test_those_of_the_configuration_fit() -> None:
    assert WeightsSection.__struct_fields__ == Weights.__struct_fields__
    assert [name.value for name in ProfileName] == [*PROFILES]


def test_other_weights() -> None:
    changed = find_profile("analysis", subsystem=1.0, support=0.0)
    assert changed.name == "analysis+overrides"
    assert asdict(changed.weights) == asdict(find_profile("analysis").weights) | {
        "subsystem": 1.0,
        "support": 0.0,
    }
