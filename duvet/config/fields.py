"""What the tables of the configuration declare of their keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import inspect

from duvet.config.schema import Table
from duvet.text import quoted


class Option(NamedTuple):
    """One of the types that a value may have."""

    type: inspect.Type
    extra: Mapping[str, Any] = {}
    """What the type says of itself beside what msgspec knows."""

    @property
    def is_template(self) -> bool:
        """Whether `${{ NAME }}` in it stands for an environment variable."""
        return bool(self.extra.get("template"))

    @property
    def expands(self) -> bool:
        """Whether `$NAME` in it stands for an environment variable."""
        return bool(self.extra.get("expands"))

    @property
    def wanted(self) -> str:
        """What its pattern looks for, in words."""
        return str(self.extra.get("wanted", ""))

    def fault(self, value: str) -> str:
        """What is wrong with a string, in words, that its pattern doesn't tell."""
        found = self.extra.get("fault")
        return found(value) if found else ""

    def refuses(self, value: str) -> bool:
        """Whether a string is not what is wanted."""
        pattern = self.type.pattern if isinstance(self.type, inspect.StrType) else None
        return bool(pattern and not re.search(pattern, value)) or bool(self.fault(value))


def fields_of(table: type[Table]) -> dict[str, inspect.Field]:
    """The fields of a table by their keys in the file."""
    kind = inspect.type_info(table)
    return {field.encode_name: field for field in kind.fields} if isinstance(kind, inspect.StructType) else {}


def options(kind: inspect.Type) -> list[Option]:
    """The types that a field takes, but for null, which stands for the absence of a value."""
    match kind:
        case inspect.Metadata(type=inner, extra=extra):
            return [Option(option.type, {**(extra or {}), **option.extra}) for option in options(inner)]
        case inspect.UnionType(types=types):
            return [option for inner in types for option in options(inner)]
        case inspect.NoneType():
            return []
    return [Option(kind)]


def key_path(keys: Iterable[str | int]) -> str:
    """The keys that lead to a value, as `workflows.audit.steps[0].tool`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{_key(key)}" for key in keys).removeprefix(".")


def _key(key: str) -> str:
    return key if key.replace("-", "_").replace("$", "_").isidentifier() else quoted(key)


def holds_tables(kind: inspect.Type) -> bool:
    """Whether a field is an array of tables."""
    arrays = [choice.type for choice in options(kind) if isinstance(choice.type, inspect.VarTupleType)]
    return any(isinstance(item.type, inspect.StructType) for array in arrays for item in options(array.item_type))
