"""JSON Schemas of the arguments and answers of tools, kept short because agents pay for each word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Struct, json, structs

if TYPE_CHECKING:
    from duvet.tools.tool import Tool


Schema = dict[str, Any]
_NOISE = ("title", "additionalProperties")
_LIST = {"total": {"type": "integer"}, "next_cursor": {"type": "string"}}
_BOUNDS = {"minimum": "at least", "maximum": "at most"}


def input_schema(tool: Tool) -> Schema:
    """Return the schema of the arguments, with the fields of those that are records."""
    schema = _shorten(_inline(tool.input, depth=1))
    for field in structs.fields(tool.input):
        choices = _list_choices(field.type)
        if choices:
            schema["properties"][field.encode_name]["enum"] = choices
    return schema


def _list_choices(kind: Any) -> list[Any]:
    """Return the choices of a literal in the order of its declaration; msgspec sorts them."""
    if get_origin(kind) is Literal:
        return [one for one in get_args(kind) if one is not None]
    inner = [_list_choices(one) for one in get_args(kind)] if get_origin(kind) in (Annotated, Union, UnionType) else []
    return next(filter(None, inner), [])


def output_schema(tool: Tool) -> Schema:
    """Return the schema of the structured content of an answer."""
    ##= man/spec/mcp.md#tools
    ##% Structured content MUST conform to the output schema of its tool, and wrap a list in an object with `result`,
    ##% `total` and `next_cursor`.
    if not tool.is_list:
        whole = _inline(tool.output, depth=0)
        found = _shorten(whole, with_defaults=False)
        for name in found.get("required", ()):
            schema = found["properties"][name]
            if {"type": "null"} in whole["properties"][name].get("anyOf", ()) and isinstance(schema.get("type"), str):
                # A required value may be null; any other is left out instead.
                schema["type"] = [schema["type"], "null"]
        return found
    rows = _shorten(_inline(tool.output.__args__[0], depth=0), with_defaults=False)
    found = {"type": "array", "items": {"type": "object", "required": rows.get("required", [])}}
    return {"type": "object", "properties": {"result": found, **_LIST}, "required": ["result", "total"]}


def _inline(kind: Any, *, depth: int) -> Schema:
    """Return a schema without references; the fields of records deeper than `depth` are left out."""
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
            # An enumeration has no type.
            return {"type": inner.get("type", "string")}
        return {key: inlined(one, left) for key, one in value.items()}

    top: Schema = components[schema["$ref"]]
    return {key: inlined(value, depth) for key, value in top.items() if key != "description"}


def _shorten(schema: Mapping[str, Any], *, with_defaults: bool = True) -> Schema:
    found = {key: value for key, value in schema.items() if key not in _NOISE and value != []}
    if "properties" in found:
        needed = found.get("required", ())
        names = sorted(found["properties"], key=lambda name: name not in needed)
        found["properties"] = {name: _shorten_property(found["properties"][name], with_defaults) for name in names}
    return found


def _shorten_property(schema: Mapping[str, Any], with_defaults: bool) -> Schema:
    # A null argument counts as left out.
    kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    whole = {**schema, **kinds[0]} if len(kinds) == 1 else schema
    found = {key: value for key, value in whole.items() if key not in (*_NOISE, "anyOf")}
    if "properties" in found:
        found = _shorten(found)
    # 0 and False are defaults worth a word.
    if not with_defaults or found.get("default") in (None, "", {}, (), []):
        found.pop("default", None)
    if "enum" in found:
        found = {"type": "string", **found, "enum": [one for one in found["enum"] if one is not None]}
    return found


class ArgumentLine(Struct, frozen=True):
    name: str
    terms: str  # Its type or choices, its default, and its bounds.
    description: str


def make_argument_lines(schema: Schema, record: str = "") -> Iterator[ArgumentLine]:
    """Yield the arguments, required ones first, each followed by the fields in it."""
    for name, one in schema["properties"].items():
        terms = [_describe_type(one)]
        if name in schema.get("required", ()):
            terms.append("required")
        elif "default" in one:
            default = one["default"]
            terms.append(f"default {str(default).lower() if isinstance(default, bool) else default}")
        else:
            terms.append("optional")
        terms += [f"{words} {one[key]}" for key, words in _BOUNDS.items() if key in one]
        yield ArgumentLine(f"{record}{name}", "; ".join(terms), str(one.get("description", "")))
        if "properties" in one:
            yield from make_argument_lines(one, f"{record}{name}.")


def _describe_type(schema: Schema) -> str:
    if "enum" in schema:
        *first, last = map(str, schema["enum"])
        return f"{', '.join(first)} or {last}" if first else last
    if schema.get("type") == "array":
        return f"list of {_describe_type(schema.get('items', {}))}"
    return str(schema.get("type", "value"))
