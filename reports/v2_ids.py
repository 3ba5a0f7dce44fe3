"""The ids of upstream's second JSON report: a prefix and the FNV-1a hash of what an entity is made of."""

from __future__ import annotations

from fnv_c import fnv1a_64  # type: ignore[import-untyped]


def bytes_id(prefix: str, data: bytes) -> str:
    """The id of an entity that is these bytes."""
    return f"{prefix}-{fnv1a_64(data):016x}"


def entity_id(prefix: str, *fields: str | int) -> str:
    """The id of an entity that has these fields."""
    return bytes_id(prefix, "\0".join(map(str, fields)).encode())
