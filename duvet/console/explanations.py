"""The topics of `duvet explain`: rules, states, levels and configuration keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct, json

from duvet.config.check import list_spellings
from duvet.config.schema import json_schema, service_schema
from duvet.config.settings import EXTENDED_SCHEMA
from duvet.errors import NotFoundError
from duvet.queries.records import STATES_BY_WORD, fold_word
from duvet.rules import list_rules
from duvet.templates.guide_pages import example_specification, load_level_pages, load_rule_page, load_state_pages
from duvet.text import join_names, quote_text, suggest_nearest


class Topic(Struct, frozen=True):
    name: str
    kind: str
    summary: str


class RuleRow(Struct, frozen=True):
    code: str
    name: str
    severity: str
    summary: str


def list_rule_rows() -> list[RuleRow]:
    return [
        RuleRow(rule.code, rule.name, rule.severity.value, load_rule_page(rule.code).summary)
        for rule in list_rules().values()
    ]


def list_topics() -> list[Topic]:
    pages = (("state", load_state_pages()), ("level", load_level_pages()))
    # If both files have the same key, list the project's.
    keys = {key.path: key.description for key in reversed(list_keys())}
    return [
        *(Topic(row.code, "rule", row.summary) for row in list_rule_rows()),
        *(
            Topic(name, kind, " ".join(text.split("\n\n")[1].split()))
            for kind, found in pages
            for name, text in found.items()
        ),
        *(Topic(path, "key", description) for path, description in reversed(keys.items())),
    ]


def explain_topic(name: str) -> str:
    ##= man/spec/problems.md#rules
    ##% `duvet explain` MUST explain a rule, a state, a level or a configuration key.
    if page := find_page(name):
        return page
    keys = find_keys(name)
    if state := find_state_page(name):
        # The state `not applicable` and the table `not-applicable` share their name.
        keys = tuple(key for key in keys if simplify_key(key.path) == simplify_key(name.replace(" ", "")))
    paths = {simplify_key(key.path): key.path for key in keys}
    if len(paths) > 1:
        message = f"{len(paths)} keys end with {quote_text(name)}"
        raise NotFoundError(message, hint=f"available: {join_names(tuple(paths.values()), 10)}")
    pages = [state] if state else []
    for key in keys:
        lines = [f"# {key.path}", "", f"{key.description.rstrip('.')}." if key.description else "", ""]
        facts = {
            "type": key.type,
            "default": f"`{key.default}`" if key.default else "" if key.below else "none",
            "keys": ", ".join(key.below),
            "file": key.file,
            "schema": key.schema,
        }
        lines += [f"- {name}: {value}" for name, value in facts.items() if value]
        if key.example:
            lines += ["", "Example, as TOML:", "", *(f"    {line}" for line in key.example.splitlines())]
        pages.append("".join(f"{line}\n" for line in lines))
    if pages:
        return "\n".join(pages)
    code = f"DUV{name.strip():0>3}"
    aliases = [alias for rule in list_rules().values() for alias in (rule.code, rule.name)]
    names = [*aliases, *load_state_pages(), *(key.path for key in list_keys())]
    hint = (
        f"did you mean {code}?"
        if code in aliases
        else suggest_nearest(name, names)
        or "run `duvet explain` to list all topics, or `duvet show` for a requirement or a file"
    )
    raise NotFoundError(f"no rule, state, level or key is named {quote_text(name)}", hint=hint)


def find_page(name: str) -> str:
    key = name.strip().casefold()
    codes = [rule.code for rule in list_rules().values() if key in (rule.code.casefold(), rule.name)]
    text = load_rule_page(codes[0]).text if codes else load_level_pages().get(key.upper(), "")
    if "spec.md#" in text and "```markdown spec.md" not in text:
        return text.replace("## Bad\n", f"{example_specification()}## Bad\n")
    return text


def find_state_page(name: str) -> str:
    # Some former names mean several states; the most typical one comes first.
    states = STATES_BY_WORD.get(fold_word(name))
    return load_state_pages().get(states[0].words, "") if states else ""


_ANY_NAME = "NAME"  # The part of a path that stands for a name chosen by users.

JsonSchema = Mapping[str, Any]


class ConfigurationKey(Struct, frozen=True):
    path: str  # For example `report.html.path`; NAME stands for a name that users choose.
    file: str
    schema: str  # The schemas that contain the key.
    description: str
    type: str
    default: str
    example: str
    below: tuple[str, ...] = ()  # The keys of a table.


def find_keys(path: str) -> tuple[ConfigurationKey, ...]:
    """Return the keys with this path, or else those whose path ends with it."""
    wanted = [simplify_key(part) for part in re.sub(r"\[\d*\]|[][\"' ]", "", path).split(".")]
    if not all(wanted):
        return ()
    parts = {key: key.path.split(".") for key in list_keys()}
    # NAME matches any word, so the end of a path must not begin with it.
    ends = ((key, found[-len(wanted) :]) for key, found in parts.items())
    return tuple(key for key, found in parts.items() if _matches(found, wanted)) or tuple(
        key for key, end in ends if end[0] != _ANY_NAME and _matches(end, wanted)
    )


def _matches(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(parts) == len(wanted) and all(
        own == _ANY_NAME or simplify_key(own) == part for own, part in zip(parts, wanted, strict=True)
    )


def simplify_key(part: str) -> str:
    return part.lower().replace("-", "").replace("_", "")


@cache
def list_keys() -> tuple[ConfigurationKey, ...]:
    upstream = json_schema(extended=False)
    shared = {path for path, *_ in _walk(upstream, upstream, ())}
    own, both = f'only "{EXTENDED_SCHEMA}"', f'awslabs duvet\'s schema, and "{EXTENDED_SCHEMA}"'
    project, service = json_schema(extended=True), service_schema()
    return (
        *(
            _make_key(parts, arrays, node, ".duvet/config.toml", both if parts in shared else own, project)
            for parts, arrays, node in _walk(project, project, ())
        ),
        *(
            _make_key(parts, arrays, node, "duvet.config.toml, .yaml or .json", "", service)
            for parts, arrays, node in _walk(service, service, ())
        ),
    )


_Parts = tuple[str, ...]


def _walk(
    node: JsonSchema, schema: JsonSchema, parts: _Parts, arrays: int = 0
) -> Iterator[tuple[_Parts, int, JsonSchema]]:
    for name, value in _resolve(node, schema).get("properties", {}).items():
        inner, path = _resolve(value, schema), (*parts, name)
        yield path, arrays, inner
        yield from _walk(inner, schema, path, arrays)
        if "items" in inner:
            yield from _walk(inner["items"], schema, path, len(path))
        if isinstance(more := inner.get("additionalProperties"), dict):
            yield from _walk(more, schema, (*path, _ANY_NAME), arrays)


def _resolve(node: JsonSchema, schema: JsonSchema) -> JsonSchema:
    return {**schema["$defs"][node["$ref"].rpartition("/")[2]], **node} if "$ref" in node else node


def _make_key(
    parts: _Parts, arrays: int, node: JsonSchema, file: str, own_schema: str, schema: JsonSchema
) -> ConfigurationKey:
    is_table = "properties" in node
    has_items = "properties" in _resolve(node.get("items", {}), schema)
    default = "" if is_table or has_items or "default" not in node else _encode(node["default"])
    inner = _resolve(node.get("items", {}), schema) if has_items else node
    # TOML keys are in kebab-case; names that users choose are unchanged.
    written = tuple(part if part == _ANY_NAME else list_spellings(part)[0] for part in parts)
    heading = written if is_table or has_items else written[:-1]
    arrays = len(heading) if has_items else arrays
    lines = [f"[[{'.'.join(heading[:arrays])}]]"] if arrays else []
    lines += [f"[{'.'.join(heading)}]"] if arrays < len(heading) else []
    shown = {parts[-1]: node}
    if is_table or has_items:
        # A table can be empty, but an entry of a list needs a key.
        needed = inner.get("required") or list(inner["properties"])[:has_items]
        shown = {part: _resolve(inner["properties"][part], schema) for part in needed}
    for part, one in shown.items():
        name = part if part == _ANY_NAME else list_spellings(part)[0]
        name = name if name.replace("-", "_").isidentifier() else f"'{name}'"
        value = _make_sample(one, schema) if one.get("default", "") == "" else _encode(one["default"])
        lines.append(f"{name} = {value}")
    return ConfigurationKey(
        path=".".join(parts),
        file=file,
        schema=own_schema,
        description=node.get("description", ""),
        type=_describe_type(node, schema),
        default=default,
        example="\n".join(lines),
        below=tuple(inner.get("properties", ())),
    )


def _encode(value: Any) -> str:
    return json.encode(value).decode().replace('","', '", "')


def _make_sample(node: JsonSchema, schema: JsonSchema) -> str:
    if "anyOf" in node:
        return _make_sample(_resolve(node["anyOf"][0], schema), schema)
    if "enum" in node:
        return _encode(node["enum"][0])
    if node.get("format") == "date":
        return "2027-12-31"
    samples = {"integer": "1", "number": "0.5", "boolean": "true", "array": "[]", "object": "{}"}
    return samples.get(node.get("type", ""), '"…"')


def _describe_type(node: JsonSchema, schema: JsonSchema) -> str:
    if "properties" in node:
        return "table"
    if "anyOf" in node and "type" not in node:
        return " or ".join(_describe_type(_resolve(one, schema), schema) for one in node["anyOf"])
    if "enum" in node:
        return f"one of {', '.join(map(_encode, node['enum']))}" if len(node["enum"]) > 1 else _encode(node["enum"][0])
    match node.get("type"):
        case "array":
            items = _resolve(node.get("items", {}), schema)
            kind = _describe_type(items, schema)
            return f"list, each item {kind}" if "enum" in items else f"list of {kind}s"
        case "object":
            return "table with names that you choose"
        case "string":
            return "date" if node.get("format") == "date" else "string"
        case "integer" | "number" as kind:
            low = f" from {node['minimum']:,}" if "minimum" in node else ""
            low = low or (f" above {node['exclusiveMinimum']:,}, up" if "exclusiveMinimum" in node else "")
            return f"{kind}{low}{' to ' if low else ''}{node['maximum']:,}" if "maximum" in node else f"{kind}{low}"
        case kind:
            return kind or "any value"
