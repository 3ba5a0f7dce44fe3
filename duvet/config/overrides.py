"""Environment variables such as `DUVET_SERVER__PORT`, which override keys of the service's configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from msgspec import DecodeError, Struct, ValidationError, convert, inspect, json
from msgspec.structs import replace

from duvet.config.fields import FieldType, did_you_mean, list_field_types, list_fields
from duvet.config.settings import Secret
from duvet.config.variables import describe_scalar, is_scalar, parse_scalar
from duvet.errors import DuvetError
from duvet.text import join_names

PREFIX, SEPARATOR = "DUVET_", "__"

Record = TypeVar("Record", bound=Struct)


def list_overrides(environ: Mapping[str, str]) -> list[str]:
    return sorted(name for name in environ if name.startswith(PREFIX) and SEPARATOR in name[len(PREFIX) :])


def apply_overrides(config: Record, environ: Mapping[str, str], *, whole: bool = True) -> Record:
    """Return the configuration with the values of these variables; raise DuvetError for an invalid one.

    With `whole=False`, variables for tables that `config` lacks are skipped.
    """
    tables = {_fold(name) for name in config.__struct_encode_fields__}
    for name in list_overrides(environ):
        path = name.removeprefix(PREFIX).split(SEPARATOR)
        if whole or _fold(path[0]) in tables:
            config = _set_value(config, path, environ[name], name)
    return config


def _fold(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _set_value(record: Record, path: list[str], text: str, variable: str) -> Record:
    ##= man/spec/service.md#configuration
    ##% `DUVET_TABLE__KEY` MUST override the key in that table of the configuration, with one more `__` for each nested
    ##% table.
    fields = {_fold(key): field for key, field in list_fields(type(record)).items()}  # type: ignore[arg-type]
    field = fields.get(_fold(path[0]))
    if field is None:
        known = [key for key in list_fields(type(record)) if key != "$schema"]  # type: ignore[arg-type]
        hint = did_you_mean(path[0], known) or f"available: {join_names(known, 20)}"
        raise DuvetError(f"{variable} names no key of the configuration", hint=hint)
    value = getattr(record, field.name)
    return replace(record, **{field.name: _make_value(field.type, value, path[1:], text, variable)})


def _make_value(kind: inspect.Type, value: Any, path: list[str], text: str, variable: str) -> Any:
    choices = list_field_types(kind)
    for choice in choices:
        match choice.type:
            case inspect.StructType(cls=table) if path:
                return _set_value(table() if value is None else value, path, text, variable)
            case inspect.DictType(value_type=inner) if path:
                name = next((one for one in value if _fold(one) == _fold(path[0])), path[0].lower())
                return {**value, name: _make_entry(inner, value.get(name), path[1:], text, variable)}
    if path:
        raise DuvetError(f"{variable} names a key below a value", hint=f"remove `{SEPARATOR}{SEPARATOR.join(path)}`")
    for choice in choices:
        found = list(_parse_leaf(choice, text))
        if found:
            return found[0]
    expected = " or ".join(map(_describe, choices))
    raise DuvetError(f"the value of {variable} is not valid", hint=f"set it to {expected}")


def _describe(choice: FieldType) -> str:
    if is_scalar(choice):
        return describe_scalar(choice)
    is_text = isinstance(choice.type, inspect.StrType | inspect.CustomType)
    return (choice.expected or "a text") if is_text else "JSON"


def _make_entry(kind: inspect.Type, value: Any, path: list[str], text: str, variable: str) -> Any:
    (choice, *_) = list_field_types(kind)
    if value is None and isinstance(choice.type, inspect.StructType):
        try:
            value = convert({}, choice.type.cls)
        except ValidationError as error:
            message = f"{variable} names an entry that the configuration doesn't have"
            raise DuvetError(message, hint="add the entry to the configuration") from error
    return _make_value(kind, value, path, text, variable)


def _parse_leaf(choice: FieldType, text: str) -> Iterator[Any]:
    match choice.type:
        case inspect.StrType():
            if not choice.refuses(text):
                yield text
        case inspect.CustomType(cls=kind) if kind is Secret:
            if text.strip() and text.isprintable():
                yield Secret(text)
        case inspect.VarTupleType(item_type=item):
            yield from _parse_list(item, text)
        case _ if is_scalar(choice):
            try:
                value = parse_scalar(choice, text)
            except ValueError:
                return
            yield choice.type.cls(value) if isinstance(choice.type, inspect.EnumType) else value
        case inspect.StructType(cls=kind):
            yield from _decode(text, kind)
        case inspect.DictType() | inspect.AnyType():
            yield from _decode(text, Any)


def _parse_list(item: inspect.Type, text: str) -> Iterator[Any]:
    """Yield the list in JSON or, for strings, in comma-separated text; yield nothing if the JSON is invalid."""
    (inner,) = list_field_types(item)
    if isinstance(inner.type, inspect.StructType):
        yield from _decode(text, tuple[inner.type.cls, ...])  # type: ignore[name-defined]
    elif text.startswith("["):
        yield from _decode(text, tuple[str, ...])
    else:
        yield tuple(part.strip() for part in text.split(",") if part.strip())


def _decode(text: str, kind: Any) -> Iterator[Any]:
    try:
        yield convert(json.decode(text), kind)
    except (DecodeError, ValidationError):
        return
