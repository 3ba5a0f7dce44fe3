"""How much what is known of a file counts besides its words."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import asdict, replace

from duvet.errors import QueryError
from duvet.queries.names import nearest_hint


class Weights(Struct, frozen=True, kw_only=True):
    """Of each signal."""

    subsystem: float
    relationship: float
    support: float
    coverage_penalty: float
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
        _profile("default", 0.28, 0.05, 0.09, 0.15, 0.12),
        _profile("analysis", 0.38, 0.10, 0.08, 0.18, 0.18),
        _profile("operations", 0.22, 0.08, 0.06, 0.28, 0.10),
        _profile("docs-heavy", 0.26, 0.04, 0.22, 0.12, 0.08),
    )
}
DEFAULT = PROFILES["default"]


def profile(name: str = DEFAULT.name, **others: float) -> Profile:
    """The profile of that name, with other weights between 0 and 1 where these are given."""
    if name not in PROFILES:
        raise QueryError(f"there is no weight profile {name}", hint=nearest_hint(name, tuple(PROFILES)))
    known = PROFILES[name]
    if not others:
        return known
    weights = replace(known.weights, **{what: min(max(value, 0.0), 1.0) for what, value in others.items()})
    return Profile(f"{name}+overrides", weights)


def as_numbers(weights: Weights) -> dict[str, float]:
    return asdict(weights)
