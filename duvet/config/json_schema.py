"""The JSON Schema of a configuration file, for editors."""

from __future__ import annotations

from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, extended: bool) -> dict[str, Any]:
    """What a configuration file may hold, in upstream's schema or in our own."""
    from msgspec import json

    from duvet.config.extended import ExtendedConfig
    from duvet.config.tables import UpstreamConfig

    ##= man/spec/trace.md#configuration
    ##% The JSON Schema that `duvet config --schema` prints MUST accept the keys and the types of values that are
    ##% accepted, and no others.
    schema = json.schema(ExtendedConfig if extended else UpstreamConfig)
    return {"$schema": DIALECT, "title": "Configuration of duvet", **_without_null(schema)}


def _without_null(node: Any) -> Any:
    """The schema without null, which stands for an absent value in our records and which TOML can't write."""
    if isinstance(node, (list, tuple)):
        return [_without_null(item) for item in node if item != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    clean = {key: _without_null(value) for key, value in node.items() if value is not None}
    match clean.get("anyOf"):
        case [only]:
            del clean["anyOf"]
            clean |= only
    return clean
