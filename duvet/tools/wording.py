"""Arguments of tools in words, made from what their schemas say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from duvet.tools.schemas import Schema

_BOUNDS = {"minimum": "at least", "maximum": "at most"}


class ArgumentLine(Struct, frozen=True):
    """What there is to know of an argument."""

    name: str
    terms: str
    """Its type, or what there is to choose from; whether it is needed, what it is otherwise, and what it may be."""
    description: str


def argument_lines(schema: Schema, record: str = "") -> Iterator[ArgumentLine]:
    """The arguments, those that are needed first, each followed by what stands in it."""
    for name, one in schema["properties"].items():
        terms = "; ".join(_terms(one, is_needed=name in schema.get("required", ())))
        yield ArgumentLine(f"{record}{name}", terms, str(one.get("description", "")))
        if "properties" in one:
            yield from argument_lines(one, f"{record}{name}.")


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
