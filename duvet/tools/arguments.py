"""The arguments and answers of tools: checks, and JSON Schemas, which are short because agents pay for each token."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from posixpath import join, normpath
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import MsgspecError, Struct, ValidationError, convert, json, structs

from duvet.text import quote_text, shorten_text, suggest_nearest
from duvet.tools.tool import ErrorCode, MissingArgumentError, ResultPage, Scope, Tool, ToolAnswer, ToolError
from duvet.tree.files import leads_into_folder

Schema = dict[str, Any]


def is_record(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def input_schema(tool: Tool) -> Schema:
    schema = _shorten(_inline(tool.input, depth=1))
    for field in structs.fields(tool.input):
        choices = _list_choices(field.type)
        if choices:
            schema["properties"][field.encode_name]["enum"] = choices
    return schema


def make_client_schema(tool: Tool) -> Schema:
    """Optional arguments may be null, because some clients send null."""
    schema, whole = input_schema(tool), _inline(tool.input, depth=1)
    records = [(one, whole["properties"][name]) for name, one in schema["properties"].items() if "properties" in one]
    for found, given in ((schema, whole), *records):
        _allow_null(found, given, found["properties"])
    return schema


def _allow_null(schema: Schema, whole: Schema, names: Iterable[str]) -> None:
    for name in names:
        one = schema["properties"][name]
        if {"type": "null"} in whole["properties"][name].get("anyOf", ()) and isinstance(one.get("type"), str):
            one["type"] = [one["type"], "null"]
            if "enum" in one:
                one["enum"] = [*one["enum"], None]


def _list_choices(kind: Any) -> list[Any]:
    # msgspec's schema does not keep the order of the choices.
    if get_origin(kind) is Literal:
        return [one for one in get_args(kind) if one is not None]
    inner = [_list_choices(one) for one in get_args(kind)] if get_origin(kind) in (Annotated, Union, UnionType) else []
    return next(filter(None, inner), [])


def output_schema(tool: Tool) -> Schema:
    if not tool.is_list:
        whole = _inline(tool.output, depth=0)
        found = _shorten(whole, with_defaults=False)
        # A required value may be null; an optional one is omitted instead.
        _allow_null(found, whole, found.get("required", ()))
        return found
    rows = _shorten(_inline(tool.output.__args__[0], depth=0), with_defaults=False)
    found = {"type": "array", "items": {"type": "object", "required": rows.get("required", [])}}
    properties = {"result": found, "total": {"type": "integer"}, "next_cursor": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": ["result", "total"]}


def _inline(kind: Any, *, depth: int) -> Schema:
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
            # The schema of an enumeration has no type.
            return {"type": inner.get("type", "string")}
        return {key: inlined(one, left) for key, one in value.items()}

    top: Schema = components[schema["$ref"]]
    return {key: inlined(value, depth) for key, value in top.items() if key != "description"}


def _shorten(schema: Mapping[str, Any], *, with_defaults: bool = True) -> Schema:
    # A null argument counts as omitted.
    kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    whole = {**schema, **kinds[0]} if len(kinds) == 1 else schema
    noise = ("title", "additionalProperties", "anyOf")
    found = {key: value for key, value in whole.items() if key not in noise and value != []}
    if "properties" in found:
        needed, parts = found.get("required", ()), found["properties"]
        names = sorted(parts, key=lambda name: name not in needed)
        found["properties"] = {name: _shorten(parts[name], with_defaults=with_defaults) for name in names}
    # 0 and False are defaults worth showing.
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
    for name, one in schema["properties"].items():
        terms = [describe_type(one)]
        if name in schema.get("required", ()):
            terms.append("required")
        elif "default" in one:
            default = one["default"]
            terms.append(f"default {str(default).lower() if isinstance(default, bool) else default}")
        else:
            terms.append("optional")
        bounds = {"minimum": "at least", "maximum": "at most"}
        terms += [f"{words} {one[key]}" for key, words in bounds.items() if key in one]
        yield ArgumentLine(f"{record}{name}", "; ".join(terms), str(one.get("description", "")))
        if "properties" in one:
            yield from make_argument_lines(one, f"{record}{name}.")


def describe_type(schema: Schema) -> str:
    if "enum" in schema:
        *first, last = map(str, schema["enum"])
        return f"{', '.join(first)} or {last}" if first else last
    if schema.get("type") == "array":
        items = schema.get("items", {})
        return f"list of {describe_type(items)}{'' if items.keys() & {'enum', 'items'} else 's'}"
    return str(schema.get("type", "value"))


_MAX_DEPTH = 64
MAX_ARGUMENT_LENGTH = 20_000  # Maximum length of a text, unless the tool sets its own limit.
_CONVERSION_ERROR = re.compile(r"(?P<what>.*?)(?: - at `\$\.(?P<path>(?P<name>\w+)[^`]*)`)?\Z", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_TYPE_WORDS = {"int": "integer", "str": "string", "float": "number", "bool": "boolean"}
_TYPE_NAME = re.compile(rf"(?<=[`\s])(?:{'|'.join(_TYPE_WORDS)})(?=`| \|)")


def check_scope(tool: Tool, scopes: Collection[Scope]) -> None:
    ##= man/spec/gateway.md#access
    ##% The server MUST list and run tools that require the scope `maintainer` only for maintainers.
    if tool.withheld is not None:
        raise ToolError(tool.withheld.code, tool.withheld.message, tool.withheld.hint)
    if tool.scope not in scopes:
        hint = "use the maintainers' token; DUVET_ADMIN_TOKEN sets it"
        raise ToolError(ErrorCode.FORBIDDEN, f"{tool.name} requires the scope {tool.scope}", hint)


def check_input(tool: Tool, arguments: Mapping[str, object]) -> object:
    ##= man/spec/mcp.md#tools
    ##% The server MUST refuse an unknown, missing or invalid argument with the error `invalid_request` and the name of
    ##% the argument.
    # Some clients omit an argument, others send null.
    values = arguments
    if None in arguments.values():
        values = {name: value for name, value in arguments.items() if value is not None}
    if tool.record_of is not None:
        _check_texts(values, None)
        return tool.record_of(values)
    names, required = list_arguments(tool.input)
    for name in required:
        if name not in values:
            unknown = find_unknown_argument(tool.name, values, names)
            hint = f"{unknown.message}: {unknown.hint}" if unknown else _describe_argument(tool, name)
            raise MissingArgumentError(name, hint)
    if not all(map(names.__contains__, arguments)) and (unknown := find_unknown_argument(tool.name, arguments, names)):
        raise unknown
    _check_texts(values, tool.longest or MAX_ARGUMENT_LENGTH)
    try:
        return convert(values, tool.input)
    except ValidationError as error:
        found = _CONVERSION_ERROR.match(str(error))
        assert found is not None
        hint, path = _describe_argument(tool, found["name"] or ""), (found["path"] or "").replace("[...]", "")
        if missing := _MISSING.match(str(error)):
            # A missing argument was found above, so this is a field of an argument.
            raise MissingArgumentError(f"{path}.{missing[1]}", hint) from error
        message = describe_conversion_error(found["what"])
        raise ToolError(ErrorCode.INVALID_REQUEST, f"{path}: {message}", hint) from error


@cache  # Inspecting a record is slow.
def list_arguments(record: type[Struct]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = structs.fields(record)
    return tuple(one.encode_name for one in found), tuple(one.encode_name for one in found if one.required)


def find_unknown_argument(
    owner: str,
    names: Iterable[str],
    known: Collection[str],
    *,
    noun: str = "argument",
    if_none: str = "it has no arguments",
) -> ToolError | None:
    name = next((name for name in names if name not in known), None)
    if name is None:
        return None
    hint = suggest_nearest(shorten_text(name), list(known)) or (f"available: {', '.join(known)}" if known else if_none)
    return ToolError(ErrorCode.INVALID_REQUEST, f"{owner} has no {noun} {quote_text(shorten_text(name))}", hint)


def describe_conversion_error(text: str) -> str:
    text = _TYPE_NAME.sub(lambda match: _TYPE_WORDS[match[0]], text).replace("`", "").replace(" | null", "")
    return text[:1].lower() + text[1:]


def require_argument(name: str, value: str, hint: str) -> str:
    if not value.strip():
        raise MissingArgumentError(name, hint)
    return value.strip()


def _check_texts(values: Mapping[str, object], most: int | None) -> None:
    texts: list[tuple[str, str]] = []
    for name, value in values.items():
        level = [value]
        for _ in range(_MAX_DEPTH + 1):
            is_leaf, inner = True, list[object]()
            for one in level:
                if isinstance(one, str):
                    texts.append((name, one))
                elif isinstance(one, (dict, list)):
                    is_leaf = False
                    inner += one if isinstance(one, list) else [*one, *one.values()]
            if is_leaf:
                break
            level = inner
        else:
            message = f"{name} is nested more than {_MAX_DEPTH} levels deep"
            raise ToolError(ErrorCode.INVALID_REQUEST, message, "reduce its nesting")
    for name, text in texts:
        if _SURROGATE.search(text):
            message = f"{name} contains half a surrogate pair"
            raise ToolError(ErrorCode.INVALID_REQUEST, message, "send it as valid UTF-8")
    for name, text in texts:
        if most is not None and len(text) > most:
            raise ToolError(ErrorCode.INVALID_REQUEST, f"{name} has {len(text):,} characters; the limit is {most:,}")


def _describe_argument(tool: Tool, name: str) -> str:
    schema = input_schema(tool)["properties"].get(name, {})
    if "enum" in schema:
        return f"use one of {', '.join(schema['enum'])}"
    return str(schema.get("description", ""))


def is_inside_project(root: str, path: str) -> bool:
    ##= man/spec/mcp.md#tools
    ##% The server MUST refuse a path outside the project, and MUST NOT reveal whether a file exists there.
    whole = normpath(join(root, path))
    return "\0" not in path and whole.startswith(root.rstrip("/") + "/") and leads_into_folder(root, whole)


MAX_PLUGIN_RESULT_BYTES = 4 << 20  # Maximum size of an installed pack's answer as JSON.
MAX_OWN_RESULT_BYTES = 32 << 20  # Maximum size of a built-in pack's answer; such packs shorten long answers themselves.
_MAX_TEXT = 1000


def check_answer(tool: Tool, value: object, most: int = MAX_PLUGIN_RESULT_BYTES) -> ToolAnswer:
    answer = value if isinstance(value, ToolAnswer) else ToolAnswer(value=value)
    converted: Any = convert_value(tool, answer.value, tool.output, most)
    page = convert_value(tool, answer.page, ResultPage) if isinstance(answer.page, ResultPage) else None
    if tool.is_list:
        page = page or ResultPage(len(converted))
    next_step, warning = make_text(answer.next_step), make_text(answer.warning)
    return ToolAnswer(value=converted, next_step=next_step, warning=warning, page=page if tool.is_list else None)


def convert_value(tool: Tool, value: object, kind: Any = Any, most: int = MAX_PLUGIN_RESULT_BYTES) -> Any:
    try:
        encoded = json.encode(value)
        if len(encoded) > most:
            message = f"{tool.name} returned {len(encoded):,} bytes; the limit is {most:,}"
            raise ToolError(ErrorCode.TOOL_FAILED, message)
        return json.decode(encoded, type=kind)
    except (MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise ToolError(
            ErrorCode.TOOL_FAILED, f"{tool.name} returned a value that does not match its declared output"
        ) from error


def make_text(text: object) -> str:
    return str(text).encode(errors="replace").decode()[:_MAX_TEXT]
