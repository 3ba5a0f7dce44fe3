"""Every problem of a configuration that can't be read, each with its place and a way out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time
from math import isfinite
from typing import Any

from msgspec import Struct, ValidationError, convert, inspect
from msgspec.structs import replace

from duvet import rules
from duvet.config import wording
from duvet.config.at import At
from duvet.config.documents.document import Document
from duvet.config.documents.reading import Format, format_of
from duvet.config.expressions import ExpressionError, expand
from duvet.config.extended import ExtendedConfig, ExtendedHtmlReport, ExtendedSource
from duvet.config.fields import Option, fields_of, options
from duvet.config.read import as_table
from duvet.config.schema import HtmlReport, Table, TableError
from duvet.config.secret import Secret
from duvet.config.tables import ConfigTable, SchemaName, UpstreamConfig, UpstreamSource
from duvet.config.values import out_of_range, refused_secret
from duvet.model import Problem
from duvet.text import quoted

_ANY = frozenset({dict, list, str, bool, int, float, date, datetime, time, type(None)})
_TYPES: dict[type[inspect.Type], tuple[frozenset[type], str]] = {
    inspect.StructType: (frozenset({dict}), "a table"),
    inspect.DictType: (frozenset({dict}), "a table"),
    inspect.VarTupleType: (frozenset({list}), "a sequence"),
    inspect.EnumType: (frozenset({str}), "a string"),
    inspect.StrType: (frozenset({str}), "a string"),
    inspect.CustomType: (frozenset({str}), "a string"),
    inspect.BoolType: (frozenset({bool}), "a boolean"),
    inspect.IntType: (frozenset({int}), "an integer"),
    inspect.FloatType: (frozenset({int, float}), "a number"),
    inspect.DateType: (frozenset({date}), "a date"),
    inspect.AnyType: (_ANY, "what JSON can hold"),
}
_EXTENSIONS: dict[type, type[Table]] = {
    UpstreamConfig: ExtendedConfig,
    UpstreamSource: ExtendedSource,
    HtmlReport: ExtendedHtmlReport,
}
_EXTEND = f"this needs `'$schema' = \"{SchemaName.EXTENDED}\"`"
_LIST_OF_TABLES = {
    Format.TOML: "write `[[{}]]`, a table for each",
    Format.YAML: "write a list, with `- ` before each table",
    Format.JSON: "write a list, with `[` and `]` around the tables",
}
_ONE_TABLE = {
    Format.TOML: "write `[{}]`, one table only",
    Format.YAML: "write one table only, without `- `",
    Format.JSON: "write one table only, without `[` and `]`",
}
_DAY = "write a day as in `2027-12-31`"
_BEGIN = f"begin the file with `'$schema' = \"{SchemaName.V0_4_0}\"`"


def problems(document: Document, table: type[ConfigTable], environ: Mapping[str, str]) -> tuple[Problem, ...]:
    """What is wrong with a file that should hold such a table, in the order of the file."""
    return in_order(checked(table, At(document, environ)))


def in_order(found: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems in the order of the file."""
    return tuple(sorted(found, key=lambda problem: problem.sort_key))


def checked(table: type[Struct], at: At) -> Iterable[Problem]:
    """What is wrong with the values of a file that should hold such a table."""
    ##= man/spec/trace.md#configuration
    ##% Every key that is unknown, missing or of the wrong type MUST be reported with its place in the file.
    return _value(inspect.type_info(table), at.document.values, at)


def _value(kind: inspect.Type, value: Any, at: At) -> Iterable[Problem]:
    choices = options(kind)
    if isinstance(value, str) and any(isinstance(choice.type, inspect.DateType) for choice in choices):
        return _day(value, at)
    for choice in choices:
        # A date with a time is an instance of a date, too.
        if type(value) in _TYPES[type(choice.type)][0]:
            return _well_typed(choice, value, at)
    return [_wrong_type(choices, value, at)]


def _well_typed(choice: Option, value: Any, at: At) -> Iterable[Problem]:
    match choice.type:
        case inspect.StructType() as table:
            return _table(table, value, at)
        case inspect.DictType() as table:
            return _named(table, value, at)
        case inspect.VarTupleType() as array:
            return _array(array, value, at)
        case inspect.EnumType(cls=variants):
            return _variant([str(variant.value) for variant in variants], value, at)
        case inspect.AnyType():
            return _free(value, at)
        case inspect.CustomType(cls=kind):
            return refused_secret(value, at) if kind is Secret else ()
        case inspect.StrType() if choice.refuses(value):
            message = f"{quoted(value)} is not {choice.wanted}" if choice.wanted else "this is blank"
            more = f": {reason}" if (reason := choice.fault(value)) else ""
            return [at.problem(rules.CONFIG_BAD_VALUE, message + more)]
        case inspect.IntType() | inspect.FloatType() as number:
            return out_of_range(number, value, at)
    return _template(value, at) if choice.is_template else ()


def _day(value: str, at: At) -> Iterator[Problem]:
    """A day between quotes means the same as one without."""
    try:
        convert(value, date)
    except ValidationError:
        yield at.problem(rules.CONFIG_BAD_VALUE, f"{quoted(value)} is no day", _DAY)


def _wrong_type(choices: list[Option], value: Any, at: At) -> Problem:
    expected = " or ".join(_TYPES[type(choice.type)][1] for choice in choices)
    is_secret = any(isinstance(choice.type, inspect.CustomType) for choice in choices)
    message = f"invalid type, expected {expected}" if is_secret else wording.invalid_type(value, expected)
    return at.problem(rules.CONFIG_WRONG_TYPE, message, _rewritten(value, expected, at))


def _rewritten(value: Any, expected: str, at: At) -> str:
    """How to write a list of tables, where one table stands, or the other way around, or a date."""
    name = ".".join(key for key in at.keys if isinstance(key, str))
    ##= man/spec/service.md#configuration
    ##% What is said of how to write a list of tables, or one table, MUST be in the format of the file.
    format = format_of(at.document.path)
    match value, expected:
        case {}, "a sequence":
            return _LIST_OF_TABLES[format].format(name)
        case [{}, *_], "a table":
            return _ONE_TABLE[format].format(name)
        case _, "a date":
            return _DAY
        case None, _:
            return "leave the key out, or give it a value"
    return ""


def _array(kind: inspect.VarTupleType, values: list[Any], at: At) -> Iterator[Problem]:
    least = kind.min_length or 0
    if len(values) < least:
        yield at.problem(rules.CONFIG_BAD_VALUE, f"invalid length {len(values)}, expected at least {least}")
    for index, value in enumerate(values):
        yield from _value(kind.item_type, value, at / index)


def _named(kind: inspect.DictType, values: dict[str, Any], at: At) -> Iterator[Problem]:
    """Values by names of the user's own."""
    (name_kind,) = options(kind.key_type)
    pattern = name_kind.type.pattern if isinstance(name_kind.type, inspect.StrType) else None
    for name, value in values.items():
        below = at / name
        if pattern and not re.search(pattern, name):
            yield below.problem(rules.CONFIG_BAD_VALUE, f"this is not {name_kind.wanted}", at_key=True)
        yield from _value(kind.value_type, value, below)


def _free(value: Any, at: At) -> Iterator[Problem]:
    """A value of any kind, of which only what TOML and YAML have and JSON doesn't is wrong."""
    match value:
        case dict():
            for name, inner in value.items():
                yield from _free(inner, at / name)
        case list():
            for index, inner in enumerate(value):
                yield from _free(inner, at / index)
        case float() if not isfinite(value):
            yield at.problem(rules.CONFIG_BAD_VALUE, "this is no number")
        case date() | time():
            message = wording.invalid_type(value, _TYPES[inspect.AnyType][1])
            yield at.problem(rules.CONFIG_WRONG_TYPE, message, "write it between quotes")


def _variant(known: list[str], value: str, at: At) -> Iterator[Problem]:
    if value not in known:
        hint = wording.did_you_mean(value, known)
        yield at.problem(rules.CONFIG_BAD_VALUE, wording.unknown_variant(value, known), hint)


def _template(value: str, at: At) -> Iterator[Problem]:
    try:
        expand(value, at.environ)
    except ExpressionError as error:
        yield at.problem(rules.CONFIG_BAD_TEMPLATE, error.message, error.hint)


def _table(kind: inspect.StructType, values: dict[str, Any], at: At) -> list[Problem]:
    known = {field.encode_name: field for field in kind.fields}
    wider = fields_of(_EXTENSIONS[kind.cls]) if kind.cls in _EXTENSIONS else {}
    found = [_missing(name, at) for name, field in known.items() if field.required and name not in values]
    for name, value in values.items():
        below = at / name
        wrong = list(_value(known[name].type, value, below)) if name in known else [_unknown(below, known)]
        if wrong and name in wider and not any(_value(wider[name].type, value, below)):
            wrong = [replace(problem, hint=_EXTEND) for problem in wrong]
        found += wrong
    return found or list(_refused(kind.cls, values, at))


def _missing(name: str, at: At) -> Problem:
    hint = _BEGIN if name == "$schema" else ""
    return at.problem(rules.CONFIG_MISSING_KEY, wording.missing_field(name), hint)


def _unknown(at: At, known: Iterable[str]) -> Problem:
    name = str(at.keys[-1])
    message = wording.unknown_field(name, list(known))
    return at.problem(rules.CONFIG_UNKNOWN_KEY, message, wording.did_you_mean(name, known), at_key=True)


def _refused(table: type[Struct], values: dict[str, Any], at: At) -> Iterator[Problem]:
    """What a table says of itself when each of its values is right."""
    try:
        as_table(values, table, dec_hook=lambda kind, value: kind(value))
    except ValidationError as error:
        match error.__cause__:
            case TableError() as refusal:
                below = at / refusal.key if refusal.key else at
                yield below.problem(refusal.rule, str(refusal), refusal.hint)
            case _:
                yield at.problem(rules.CONFIG_BAD_VALUE, str(error))
