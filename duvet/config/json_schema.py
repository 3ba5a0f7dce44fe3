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
    return _titled("Configuration of duvet", schema)


def service_schema() -> dict[str, Any]:
    """What the configuration of the service may hold."""
    from msgspec import json

    from duvet.config.service.tables import ServiceConfig

    ##= man/spec/service.md#configuration
    ##% The JSON Schema that `duvet config --schema service` prints MUST accept the files that are accepted, and no
    ##% others, as far as names that refer to one another and variables are left aside.
    return _titled("Configuration of the service of duvet", json.schema(ServiceConfig, schema_hook=_variable))


def _variable(kind: type) -> dict[str, Any]:
    """A secret, the only type that msgspec doesn't know."""
    from duvet.config.variables import VARIABLE

    return {"type": "string", "pattern": VARIABLE}


def _titled(title: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": DIALECT, "title": title, **_without_null(schema)}


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
