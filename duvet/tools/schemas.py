"""What goes into a tool and what comes out, in JSON Schema, as briefly as that can be said: agents pay for each word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import json

from duvet.tools.tool import Tool

Schema = dict[str, Any]
_NOISE = ("title", "default", "additionalProperties")
_LIST = {"total": {"type": "integer"}, "next_cursor": {"type": "string"}}


def input_schema(tool: Tool) -> Schema:
    """The arguments of a tool."""
    return _brief(_whole(tool.input))


def output_schema(tool: Tool) -> Schema:
    """What a tool answers as structured content."""
    ##= man/spec/mcp.md#tools
    ##% The structured content of a result MUST be valid against the output schema of its tool.
    if not tool.is_list:
        whole = _whole(tool.output)
        found = _brief(whole)
        for name in found.get("required", ()):
            schema = found["properties"][name]
            if {"type": "null"} in whole["properties"][name].get("anyOf", ()) and isinstance(schema.get("type"), str):
                # What is always there may be null; anything else is left out.
                schema["type"] = [schema["type"], "null"]
        return found
    rows = _brief(_whole(tool.output.__args__[0]))
    found = {"type": "array", "items": {"type": "object", "required": rows.get("required", [])}}
    return {"type": "object", "properties": {"result": found, **_LIST}, "required": ["result", "total"]}


def _whole(kind: Any) -> Schema:
    """The schema with nothing outside of it; what records in it hold is left out."""
    (schema,), components = json.schema_components([kind], ref_template="{name}")

    def inlined(value: Any) -> Any:
        if isinstance(value, list):
            return [inlined(one) for one in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            # That of names to choose from says only these.
            return {"type": components[value["$ref"]].get("type", "string")}
        return {key: inlined(one) for key, one in value.items()}

    top: Schema = components[schema["$ref"]]
    return {key: inlined(value) for key, value in top.items() if key != "description"}


def _brief(schema: Mapping[str, Any]) -> Schema:
    found = {key: value for key, value in schema.items() if key not in _NOISE and value != []}
    if "properties" in found:
        needed = found.get("required", ())
        names = sorted(found["properties"], key=lambda name: name not in needed)
        found["properties"] = {name: _property(found["properties"][name]) for name in names}
    return found


def _property(schema: Mapping[str, Any]) -> Schema:
    # Null is the same as nothing.
    kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    whole = {**schema, **kinds[0]} if len(kinds) == 1 else schema
    found = {key: value for key, value in whole.items() if key not in (*_NOISE, "anyOf")}
    if "enum" in found:
        found = {"type": "string", **found, "enum": [one for one in found["enum"] if one is not None]}
    return found
