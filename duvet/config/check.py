"""Every problem of a configuration that can't be read, each with its place and a way out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from msgspec import Struct, ValidationError, convert, inspect
from msgspec.structs import replace

from duvet import rules
from duvet.config import wording
from duvet.config.expressions import ExpressionError, expand
from duvet.config.extended import ExtendedConfig, ExtendedHtmlReport, ExtendedSource
from duvet.config.fields import Option, fields_of, options
from duvet.config.read import as_table
from duvet.config.schema import HtmlReport, Table, TableError
from duvet.config.tables import ConfigTable, SchemaName, UpstreamConfig, UpstreamSource
from duvet.config.toml import Toml
from duvet.model import Place, Problem
from duvet.text import quoted

_TYPES: dict[type[inspect.Type], tuple[type, str]] = {
    inspect.StructType: (dict, "a table"),
    inspect.VarTupleType: (list, "a sequence"),
    inspect.EnumType: (str, "a string"),
    inspect.StrType: (str, "a string"),
    inspect.BoolType: (bool, "a boolean"),
    inspect.IntType: (int, "an integer"),
    inspect.DateType: (date, "a date"),
}
_EXTENSIONS: dict[type, type[Table]] = {
    UpstreamConfig: ExtendedConfig,
    UpstreamSource: ExtendedSource,
    HtmlReport: ExtendedHtmlReport,
}
_EXTEND = f"this needs `'$schema' = \"{SchemaName.EXTENDED}\"`"
_DAY = "write a day as in `2027-12-31`"
_BEGIN = f"begin the file with `'$schema' = \"{SchemaName.V0_4_0}\"`"


class _At(NamedTuple):
    """A place in the file, by the keys that lead to it."""

    toml: Toml
    environ: Mapping[str, str]
    keys: tuple[str | int, ...] = ()

    def __truediv__(self, key: str | int) -> _At:
        return self._replace(keys=(*self.keys, key))

    @property
    def place(self) -> Place:
        return self.toml.value_place(*self.keys)

    def problem(self, rule: rules.Rule, message: str, hint: str = "", *, at_key: bool = False) -> Problem:
        place = self.toml.key_place(*self.keys) if at_key else self.place
        return rule.problem(message, self.toml.path, place, hint=hint)


def problems(toml: Toml, table: type[ConfigTable], environ: Mapping[str, str]) -> tuple[Problem, ...]:
    """What is wrong with a file that should hold such a table, in the order of the file."""
    ##= man/spec/trace.md#configuration
    ##% Every key that is unknown, missing or of the wrong type MUST be reported with its place in the file.
    found = _value(inspect.type_info(table), toml.values, _At(toml, environ))
    return tuple(sorted(found, key=lambda problem: problem.sort_key))


def _value(kind: inspect.Type, value: Any, at: _At) -> Iterable[Problem]:
    choices = options(kind)
    if isinstance(value, str) and any(isinstance(choice.type, inspect.DateType) for choice in choices):
        return _day(value, at)
    for choice in choices:
        # A date with a time is an instance of a date, too.
        if type(value) is _TYPES[type(choice.type)][0]:
            return _well_typed(choice, value, at)
    return [_wrong_type(choices, value, at)]


def _well_typed(choice: Option, value: Any, at: _At) -> Iterable[Problem]:
    match choice.type:
        case inspect.StructType() as table:
            return _table(table, value, at)
        case inspect.VarTupleType() as array:
            return _array(array, value, at)
        case inspect.EnumType(cls=variants):
            return _variant([str(variant.value) for variant in variants], value, at)
        case inspect.StrType(pattern=str() as pattern) if not re.search(pattern, value):
            return [at.problem(rules.CONFIG_BAD_VALUE, "this is blank")]
        case inspect.IntType(ge=int() as least, le=int() as most) if not least <= value <= most:
            hint = f"write a number from {least} to {most}"
            return [at.problem(rules.CONFIG_BAD_VALUE, f"{wording.described(value)} is out of range", hint)]
    return _template(value, at) if choice.is_template else ()


def _day(value: str, at: _At) -> Iterator[Problem]:
    """A day between quotes means the same as one without."""
    try:
        convert(value, date)
    except ValidationError:
        yield at.problem(rules.CONFIG_BAD_VALUE, f"{quoted(value)} is no day", _DAY)


def _wrong_type(choices: list[Option], value: Any, at: _At) -> Problem:
    expected = " or ".join(_TYPES[type(choice.type)][1] for choice in choices)
    return at.problem(rules.CONFIG_WRONG_TYPE, wording.invalid_type(value, expected), _rewritten(value, expected, at))


def _rewritten(value: Any, expected: str, at: _At) -> str:
    """How to write the header of a table, where one with the wrong brackets stands, or a date."""
    name = ".".join(key for key in at.keys if isinstance(key, str))
    match value, expected:
        case {}, "a sequence":
            return f"write `[[{name}]]`, a table for each"
        case [{}, *_], "a table":
            return f"write `[{name}]`, one table only"
        case _, "a date":
            return _DAY
    return ""


def _array(kind: inspect.VarTupleType, values: list[Any], at: _At) -> Iterator[Problem]:
    least = kind.min_length or 0
    if len(values) < least:
        yield at.problem(rules.CONFIG_BAD_VALUE, f"invalid length {len(values)}, expected at least {least}")
    for index, value in enumerate(values):
        yield from _value(kind.item_type, value, at / index)


def _variant(known: list[str], value: str, at: _At) -> Iterator[Problem]:
    if value not in known:
        hint = wording.did_you_mean(value, known)
        yield at.problem(rules.CONFIG_BAD_VALUE, wording.unknown_variant(value, known), hint)


def _template(value: str, at: _At) -> Iterator[Problem]:
    try:
        expand(value, at.environ)
    except ExpressionError as error:
        yield at.problem(rules.CONFIG_BAD_TEMPLATE, error.message, error.hint)


def _table(kind: inspect.StructType, values: dict[str, Any], at: _At) -> list[Problem]:
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


def _missing(name: str, at: _At) -> Problem:
    hint = _BEGIN if name == "$schema" else ""
    return at.problem(rules.CONFIG_MISSING_KEY, wording.missing_field(name), hint)


def _unknown(at: _At, known: Iterable[str]) -> Problem:
    name = str(at.keys[-1])
    message = wording.unknown_field(name, list(known))
    return at.problem(rules.CONFIG_UNKNOWN_KEY, message, wording.did_you_mean(name, known), at_key=True)


def _refused(table: type[Struct], values: dict[str, Any], at: _At) -> Iterator[Problem]:
    """What a table says of itself when each of its values is right."""
    try:
        as_table(values, table)
    except ValidationError as error:
        match error.__cause__:
            case TableError() as refusal:
                yield at.problem(refusal.rule, str(refusal), refusal.hint)
            case _:
                yield at.problem(rules.CONFIG_BAD_VALUE, str(error))
