"""How much what is known of a file counts besides its words."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import asdict, replace


class Weights(Struct, frozen=True, kw_only=True):
    """Of each signal."""

    subsystem: float
    relationship: float
    support: float
    criticality: float


class Profile(Struct, frozen=True):
    """Weights by a name."""

    name: str
    weights: Weights


def _profile(name: str, *values: float) -> Profile:
    return Profile(name, Weights(**dict(zip(Weights.__struct_fields__, values, strict=True))))


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        _profile("default", 0.28, 0.05, 0.09, 0.12),
        _profile("analysis", 0.38, 0.10, 0.08, 0.18),
        _profile("operations", 0.22, 0.08, 0.06, 0.10),
        _profile("docs-heavy", 0.26, 0.04, 0.22, 0.08),
    )
}
DEFAULT = PROFILES["default"]


def profile(name: str = DEFAULT.name, **others: float) -> Profile:
    """One of these profiles, with other weights where they are given."""
    known = PROFILES[name]
    return Profile(f"{name}+overrides", replace(known.weights, **others)) if others else known


def as_numbers(weights: Weights) -> dict[str, float]:
    return asdict(weights)
