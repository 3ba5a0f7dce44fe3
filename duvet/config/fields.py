"""Declarations of configuration keys, and the wording of errors about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct, inspect

from duvet.text import quote_text


class FieldType(NamedTuple):
    """One of the types that a key accepts, with attributes that msgspec doesn't support."""

    type: inspect.Type
    template: bool = False  # Whether `${{ NAME }}` is replaced with an environment variable.
    expands: bool = False  # Whether `$NAME` is replaced with an environment variable.
    expected: str = ""  # A description of the values that match the pattern.
    fault: Callable[[str], str] = lambda value: ""  # Returns why a string that matches is still invalid.

    def refuses(self, value: str) -> bool:
        pattern = self.type.pattern if isinstance(self.type, inspect.StrType) else None
        return bool(pattern and not re.search(pattern, value)) or bool(self.fault(value))


inspect_table = cache(inspect.type_info)
"""Describes the fields of a record; cached, because that takes milliseconds."""


def list_fields(table: type[Struct]) -> dict[str, inspect.Field]:
    kind = inspect_table(table)
    return {field.encode_name: field for field in kind.fields} if isinstance(kind, inspect.StructType) else {}


def list_field_types(kind: inspect.Type) -> list[FieldType]:
    """Return the types that a field accepts, without null, which stands for a missing value."""
    match kind:
        case inspect.Metadata(type=inner, extra=extra):
            return [option._replace(**(extra or {})) for option in list_field_types(inner)]
        case inspect.UnionType(types=types):
            return [option for inner in types for option in list_field_types(inner)]
    return [] if isinstance(kind, inspect.NoneType) else [FieldType(kind)]


def format_key_path(keys: Iterable[str | int]) -> str:
    """Format the path of a value, as in `workflows.audit.steps[0].tool`."""
    parts = (
        f"[{key}]"
        if isinstance(key, int)
        else f".{key if key.replace('-', '_').replace('$', '_').isidentifier() else quote_text(key)}"
        for key in keys
    )
    return "".join(parts).removeprefix(".")


def describe_unknown_field(name: str, known: Sequence[str], *, noun: str = "field") -> str:
    names = [f"`{one}`" for one in known]
    expected = f"one of {', '.join(names)}" if len(names) > 2 else " or ".join(names)
    return f"unknown {noun} `{name}`, {f'expected {expected}' if names else 'there are no fields'}"


def describe_invalid_type(value: Any, expected: str) -> str:
    """Describe a value of the wrong type; `expected` names the right one, as in `a string`."""
    return f"invalid type: {describe_value(value)}, expected {expected}"


def describe_value(value: Any) -> str:
    """Return the type of a value and, for most scalars, the value or its beginning."""
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            # Python refuses to convert integers with thousands of digits to text.
            return f"integer `{value}`" if value.bit_length() < 64 else "integer"
        case float():
            return f"floating point `{value}`"
        case str():
            return f"string {quote_text(value)}"
        case datetime() | date() | time():
            return "datetime"
        case list():
            return "sequence"
        case _:
            return "map"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_lower, 1)
    return f"did you mean `{by_lower[near[0]]}`?" if near else ""
