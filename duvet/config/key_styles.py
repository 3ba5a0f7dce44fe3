"""Spellings of keys: kebab-case, camelCase and snake_case mean the same key."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from msgspec import Struct, inspect

from duvet.config.document import DataDocument, KeyPath
from duvet.config.fields import list_field_types

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-_]")

Document = TypeVar("Document", bound=DataDocument)


def list_spellings(key: str) -> tuple[str, str, str]:
    words = [word.lower() for word in _WORD_START.split(key)]
    return "-".join(words), words[0] + "".join(word.capitalize() for word in words[1:]), "_".join(words)


def respell_keys(document: Document, table: type[Struct]) -> Document:
    """Convert the keys of a table to their declared spelling, except keys that users choose.

    A key that occurs in two spellings is left unchanged and later reported as unknown.
    """
    ##= man/spec/service.md#configuration
    ##% duvet MUST accept each key of a configuration or recipe in kebab-case, camelCase and snake_case.
    renamed: dict[KeyPath, str] = {}
    values = _respell_value(inspect.type_info(table), document.values, (), renamed)
    return document.rename_keys(values, renamed) if renamed else document


def _respell_value(kind: inspect.Type, value: Any, path: KeyPath, renamed: dict[KeyPath, str]) -> Any:
    for choice in list_field_types(kind):
        match choice.type, value:
            case inspect.StructType(fields=fields), dict():
                return _respell_table(fields, value, path, renamed)
            case inspect.DictType(value_type=inner), dict():
                return {name: _respell_value(inner, one, (*path, name), renamed) for name, one in value.items()}
            case inspect.VarTupleType(item_type=item), list():
                return [_respell_value(item, one, (*path, index), renamed) for index, one in enumerate(value)]
    return value


def _respell_table(
    fields: tuple[inspect.Field, ...], values: dict[str, Any], path: KeyPath, renamed: dict[KeyPath, str]
) -> dict[str, Any]:
    known = {field.encode_name: field for field in fields}
    declared = {spelling: name for name in known for spelling in list_spellings(name)}
    result: dict[str, Any] = {}
    for name, value in values.items():
        own = declared.get(name, name)
        if name not in known and own in known:
            own = name if own in values or own in result else own
            if own != name:
                renamed[*path, name] = own
        result[own] = _respell_value(known[own].type, value, (*path, name), renamed) if own in known else value
    return result
