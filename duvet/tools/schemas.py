"""What goes into a tool and what comes out, in JSON Schema, as briefly as that can be said: agents pay for each word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Struct, json
from msgspec.structs import fields

from duvet.tools.tool import Tool

Schema = dict[str, Any]
_NOISE = ("title", "additionalProperties")
_LIST = {"total": {"type": "integer"}, "next_cursor": {"type": "string"}}


def input_schema(tool: Tool) -> Schema:
    """The arguments of a tool, and what stands in those that are records."""
    schema = _brief(_whole(tool.input, depth=1))
    for field in fields(tool.input):
        choices = _choices(field.type)
        if choices:
            schema["properties"][field.encode_name]["enum"] = choices
    return schema


def _choices(kind: Any) -> list[Any]:
    """What there is to choose from, in the order in which it was said; a schema has it sorted."""
    if get_origin(kind) is Literal:
        return [one for one in get_args(kind) if one is not None]
    inner = [_choices(one) for one in get_args(kind)] if get_origin(kind) in (Annotated, Union, UnionType) else []
    return next(filter(None, inner), [])


def output_schema(tool: Tool) -> Schema:
    """What a tool answers as structured content."""
    ##= man/spec/mcp.md#tools
    ##% Structured content MUST conform to the output schema of its tool, and wrap a list in an object with `result`,
    ##% `total` and `next_cursor`.
    if not tool.is_list:
        whole = _whole(tool.output, depth=0)
        found = _brief(whole, with_defaults=False)
        for name in found.get("required", ()):
            schema = found["properties"][name]
            if {"type": "null"} in whole["properties"][name].get("anyOf", ()) and isinstance(schema.get("type"), str):
                # What is always there may be null; anything else is left out.
                schema["type"] = [schema["type"], "null"]
        return found
    rows = _brief(_whole(tool.output.__args__[0], depth=0), with_defaults=False)
    found = {"type": "array", "items": {"type": "object", "required": rows.get("required", [])}}
    return {"type": "object", "properties": {"result": found, **_LIST}, "required": ["result", "total"]}


def _whole(kind: Any, *, depth: int) -> Schema:
    """The schema with nothing outside of it; what records hold that are deeper in it is left out."""
    (schema,), components = json.schema_components([kind], ref_template="{name}")

    def inlined(value: Any, left: int) -> Any:
        if isinstance(value, list):
            return [inlined(one, left) for one in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            inner = components[value["$ref"]]
            if left and "properties" in inner:
                return {**inlined(inner, left - 1), **{key: one for key, one in value.items() if key != "$ref"}}
            # That of names to choose from says only these.
            return {"type": inner.get("type", "string")}
        return {key: inlined(one, left) for key, one in value.items()}

    top: Schema = components[schema["$ref"]]
    return {key: inlined(value, depth) for key, value in top.items() if key != "description"}


def _brief(schema: Mapping[str, Any], *, with_defaults: bool = True) -> Schema:
    found = {key: value for key, value in schema.items() if key not in _NOISE and value != []}
    if "properties" in found:
        needed = found.get("required", ())
        names = sorted(found["properties"], key=lambda name: name not in needed)
        found["properties"] = {name: _property(found["properties"][name], with_defaults) for name in names}
    return found


def _property(schema: Mapping[str, Any], with_defaults: bool) -> Schema:
    # Null is the same as nothing.
    kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    whole = {**schema, **kinds[0]} if len(kinds) == 1 else schema
    found = {key: value for key, value in whole.items() if key not in (*_NOISE, "anyOf")}
    if "properties" in found:
        found = _brief(found)
    # A number of 0 is something, and nothing else that is false but False is.
    if not with_defaults or found.get("default") in (None, "", {}, (), []):
        found.pop("default", None)
    if "enum" in found:
        found = {"type": "string", **found, "enum": [one for one in found["enum"] if one is not None]}
    return found


_BOUNDS = {"minimum": "at least", "maximum": "at most"}


class ArgumentLine(Struct, frozen=True):
    """What there is to know of an argument."""

    name: str
    terms: str
    """Its type, or what there is to choose from; whether it is needed, what it is otherwise, and what it may be."""
    description: str


def make_argument_lines(schema: Schema, record: str = "") -> Iterator[ArgumentLine]:
    """The arguments, those that are needed first, each followed by what stands in it."""
    for name, one in schema["properties"].items():
        terms = "; ".join(_terms(one, is_needed=name in schema.get("required", ())))
        yield ArgumentLine(f"{record}{name}", terms, str(one.get("description", "")))
        if "properties" in one:
            yield from make_argument_lines(one, f"{record}{name}.")


def _terms(schema: Schema, *, is_needed: bool) -> Iterator[str]:
    yield _kind(schema)
    if is_needed:
        yield "required"
    elif "default" in schema:
        yield f"default {_plain(schema['default'])}"
    else:
        yield "optional"
    yield from (f"{words} {schema[key]}" for key, words in _BOUNDS.items() if key in schema)


def _kind(schema: Schema) -> str:
    if "enum" in schema:
        *first, last = map(str, schema["enum"])
        return f"{', '.join(first)} or {last}" if first else last
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "value"))


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
