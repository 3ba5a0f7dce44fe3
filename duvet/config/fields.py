"""What the tables of the configuration declare of their keys."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import inspect

from duvet.config.schema import Table


class Option(NamedTuple):
    """One of the types that a value may have."""

    type: inspect.Type
    is_template: bool = False


def fields_of(table: type[Table]) -> dict[str, inspect.Field]:
    """The fields of a table by their keys in the file."""
    kind = inspect.type_info(table)
    return {field.encode_name: field for field in kind.fields} if isinstance(kind, inspect.StructType) else {}


def options(kind: inspect.Type) -> list[Option]:
    """The types that a field takes, but for the absence of a value, which TOML can't write."""
    match kind:
        case inspect.Metadata(type=inner, extra=extra):
            is_template = bool(extra and extra.get("template"))
            return [Option(option.type, is_template or option.is_template) for option in options(inner)]
        case inspect.UnionType(types=types):
            return [option for inner in types for option in options(inner)]
        case inspect.NoneType():
            return []
    return [Option(kind)]


def holds_tables(kind: inspect.Type) -> bool:
    """Whether a field is an array of tables."""
    arrays = [choice.type for choice in options(kind) if isinstance(choice.type, inspect.VarTupleType)]
    return any(isinstance(item.type, inspect.StructType) for array in arrays for item in options(array.item_type))
