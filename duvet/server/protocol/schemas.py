"""JSON Schema of records, as short as it can be: agents pay for every word of it."""

from __future__ import annotations

from typing import Any

from msgspec import json

Schema = dict[str, Any]
_REFERENCE = "#/$defs/{name}"


def schema_of(kind: Any) -> Schema:
    """The schema of a type. It stands alone: every record in it is written out where it is used."""
    (schema,), components = json.schema_components([kind], ref_template=_REFERENCE)
    short = _short(schema, components)
    assert isinstance(short, dict)
    return short


def list_of(items: Any) -> Schema:
    """That of the structured content of a list; `items` is the type of the whole tuple."""
    return {
        "type": "object",
        "properties": {
            "result": schema_of(items),
            "total": {"type": "integer"},
            "next_cursor": {"type": "string"},
        },
        "required": ["result", "total"],
    }


def _short(node: Any, components: Schema) -> Any:
    match node:
        case {"$ref": str(reference)}:
            return _short(components[reference.rpartition("/")[2]], components)
        case {"anyOf": [{"type": "null"}, rest] | [rest, {"type": "null"}], "default": None, **others}:
            # What may be left out need not be null as well.
            return _short({**rest, **{key: value for key, value in others.items()}}, components)
        case dict():
            return {key: _short(value, components) for key, value in node.items() if key != "title"}
        case list():
            return [_short(value, components) for value in node]
    return node
