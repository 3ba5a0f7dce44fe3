"""Checks the keys and values of a configuration, and converts keys to their declared spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time
from functools import cache
from math import isfinite
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct, ValidationError, convert, inspect
from msgspec.structs import replace

from duvet import rules
from duvet.config import document
from duvet.config.document import DataDocument, DocumentLocation, ExpressionError, KeyPath
from duvet.config.duvet_tables import ExtendedConfig, ExtendedSource
from duvet.config.project_file import SchemaName, UpstreamConfig, UpstreamSource
from duvet.config.service_tables import Secret
from duvet.config.settings import EXTENDED_SCHEMA, ExtendedHtmlReport, HtmlReport, Table, TableError
from duvet.config.toml import TomlDocument
from duvet.model import Problem
from duvet.text import quote_text
from duvet.tree.files import find_file_ending

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-_]")

Document = TypeVar("Document", bound=DataDocument)


class FieldType(NamedTuple):
    type: inspect.Type
    template: bool = False  # Whether `${{ NAME }}` is replaced with an environment variable.
    expands: bool = False  # Whether `$NAME` is replaced with an environment variable.
    expected: str = ""  # A description of the values that match the pattern.
    fault: Callable[[str], str] = lambda value: ""  # Returns why a string that matches is still invalid.
    others: tuple[Any, ...] = ()  # The other types of a union.

    def refuses(self, value: str) -> bool:
        pattern = self.type.pattern if isinstance(self.type, inspect.StrType) else None
        return bool(pattern and not re.search(pattern, value)) or bool(self.fault(value))


inspect_table = cache(inspect.type_info)
"""Describes the fields of a record; cached, because that takes milliseconds."""


def list_fields(table: type[Struct]) -> dict[str, inspect.Field]:
    kind = inspect_table(table)
    return {field.encode_name: field for field in kind.fields} if isinstance(kind, inspect.StructType) else {}


def list_field_types(kind: inspect.Type) -> list[FieldType]:
    match kind:
        case inspect.Metadata(type=inner, extra=extra):
            return [option._replace(**(extra or {})) for option in list_field_types(inner)]
        case inspect.UnionType(types=types):
            options = [option for inner in types for option in list_field_types(inner)]
            return [one._replace(others=tuple(other for other in options if other is not one)) for one in options]
    return [] if isinstance(kind, inspect.NoneType) else [FieldType(kind)]


def list_spellings(key: str) -> tuple[str, str, str]:
    words = [word.lower() for word in _WORD_START.split(key)]
    return "-".join(words), words[0] + "".join(word.capitalize() for word in words[1:]), "_".join(words)


def respell_keys(read: Document, table: type[Struct]) -> Document:
    renamed: dict[KeyPath, str] = {}
    at = DocumentLocation(read, {})
    values = convert_values(inspect_table(table), read.values, at, lambda *_: UNCHANGED, renamed)
    return read.replace_values(values, renamed) if renamed else read


UNCHANGED, DROPPED = object(), object()
"""A converter returns UNCHANGED if it does not apply to a type, and DROPPED to remove the key."""


def convert_values(
    kind: inspect.Type,
    value: Any,
    at: DocumentLocation,
    convert_leaf: Callable[[FieldType, Any, DocumentLocation], Any],
    renamed: dict[KeyPath, str] | None = None,
) -> Any:
    """With `renamed`, respell keys, and record the changes there."""
    for choice in list_field_types(kind):
        match choice.type, value:
            case inspect.StructType(fields=fields), dict():
                known = {field.encode_name: field.type for field in fields}
                ##= man/spec/service.md#configuration
                ##% Except with awslabs duvet's schema, duvet MUST accept each key of a configuration or recipe in
                ##% kebab-case, camelCase and snake_case.
                spellings = {} if renamed is None else {one: name for name in known for one in list_spellings(name)}
                result: dict[str, Any] = {}
                for name, inner in value.items():
                    own = spellings.get(name) or name
                    if name in known or own in value or own in result:
                        own = name
                    elif renamed is not None:
                        renamed[*at.keys, name] = own
                    if own in known:
                        inner = convert_values(known[own], inner, at / name, convert_leaf, renamed)
                    if inner is not DROPPED:
                        result[own] = inner
                return result
            case inspect.DictType(value_type=inner_kind), dict() if not choice.expands:
                return {
                    name: convert_values(inner_kind, inner, at / name, convert_leaf, renamed)
                    for name, inner in value.items()
                }
            case inspect.VarTupleType(item_type=item), list():
                return [
                    convert_values(item, inner, at / index, convert_leaf, renamed) for index, inner in enumerate(value)
                ]
            case _ if (found := convert_leaf(choice, value, at)) is not UNCHANGED:
                return found
    return value


_ANY = frozenset({dict, list, str, bool, int, float, date, datetime, time, type(None)})
TYPES: dict[type[inspect.Type], tuple[frozenset[type], str]] = {
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
    inspect.AnyType: (_ANY, "a JSON value"),
}
_EXTENSIONS: dict[type, type[Table]] = {
    UpstreamConfig: ExtendedConfig,
    UpstreamSource: ExtendedSource,
    HtmlReport: ExtendedHtmlReport,
}
_EXTEND = f"set `'$schema' = \"{SchemaName.EXTENDED}\"` to use this"
# How to write a list of tables, and a single table.
_IN_YAML = ("write a list: put `- ` before each table", "remove `- `")
_IN_OTHERS = {
    "toml": ("write `[[{}]]` above each table", "write `[{}]`"),
    "json": ("write a list: put `[` and `]` around the tables", "remove `[` and `]`"),
}
_DATE_HINT = "write a date such as `2027-12-31`"
_SCHEMA_HINT = f"start the file with `'$schema' = \"{SchemaName.V0_4_0}\"`"


def check_table(table: type[Struct], at: DocumentLocation) -> Iterable[Problem]:
    ##= man/spec/trace.md#configuration
    ##% duvet MUST report each configuration key that is unknown, missing or of the wrong type, with its path and line.
    return check_value(inspect_table(table), at.document.values, at)


def check_value(kind: inspect.Type, value: Any, at: DocumentLocation) -> Iterator[Problem]:
    choices = list_field_types(kind)
    if isinstance(value, str) and any(isinstance(choice.type, inspect.DateType) for choice in choices):
        # A date in quotes means the same as a date without quotes.
        try:
            convert(value, date)
        except ValidationError:
            yield at.problem(rules.CONFIG_BAD_VALUE, f"{quote_text(value)} is not a date", _DATE_HINT)
        return
    for choice in choices:
        # A date with a time is an instance of a date, too.
        if type(value) in TYPES[type(choice.type)][0]:
            others = "".join(f" or {TYPES[type(one.type)][1]}" for one in choices if one is not choice)
            yield from _check_typed(choice, value, at, others)
            return
    expected = " or ".join(TYPES[type(choice.type)][1] for choice in choices)
    is_secret = any(isinstance(choice.type, inspect.CustomType) for choice in choices)
    message = f"invalid type, expected {expected}" if is_secret else document.describe_invalid_type(value, expected)
    yield at.problem(rules.CONFIG_WRONG_TYPE, message, _suggest_rewrite(value, choices, expected, at))


def _check_typed(choice: FieldType, value: Any, at: DocumentLocation, others: str) -> Iterator[Problem]:
    match choice.type:
        case inspect.StructType() as table:
            yield from _check_struct(table, value, at)
        case inspect.DictType(key_type=key_type, value_type=value_type):
            (name_kind,) = list_field_types(key_type)
            for name, inner in value.items():
                if name_kind.refuses(name):
                    message = f"the key is not {name_kind.expected}"
                    yield (at / name).problem(rules.CONFIG_BAD_VALUE, message, at_key=True)
                yield from check_value(value_type, inner, at / name)
        case inspect.VarTupleType(min_length=least, item_type=item):
            if len(value) < (least or 0):
                yield at.problem(rules.CONFIG_BAD_VALUE, f"invalid length {len(value)}, expected at least {least}")
            for index, inner in enumerate(value):
                yield from check_value(item, inner, at / index)
        case inspect.AnyType():
            yield from _check_free(value, at)
        case inspect.IntType(ge=least, le=most) | inspect.FloatType(ge=least, le=most) as number:
            if not is_in_range(number, value):
                hint = f"write {least} or more" if most is None else f"write a number {describe_range(number)}"
                yield at.problem(rules.CONFIG_BAD_VALUE, f"{document.describe_value(value)} is out of range", hint)
        case _:
            yield from _check_text(choice, value, at, others)


def _check_text(choice: FieldType, value: str, at: DocumentLocation, others: str) -> Iterator[Problem]:
    match choice.type:
        case inspect.EnumType(cls=variants):
            known = [str(variant.value) for variant in variants]
            if value not in known:
                hint = document.did_you_mean(value, known)
                message = document.describe_unknown_field(value, known, noun="variant") + others
                yield at.problem(rules.CONFIG_BAD_VALUE, message, hint)
        case inspect.CustomType(cls=kind):
            if kind is Secret and not document.is_variable(value):
                hint = "set an environment variable, and refer to it here, for example as `$API_KEY`"
                yield at.problem(rules.CONFIG_BAD_VALUE, "this file must not contain secrets", hint)
        case inspect.StrType() if choice.refuses(value):
            message = f"{quote_text(value)} is not {choice.expected}" if choice.expected else "the value is blank"
            more = f": {reason}" if (reason := choice.fault(value)) else ""
            yield at.problem(rules.CONFIG_BAD_VALUE, message + more)
        case _ if choice.template:
            try:
                document.expand_template(value, at.environ)
            except ExpressionError as error:
                yield at.problem(rules.CONFIG_BAD_TEMPLATE, error.message, error.hint)


def describe_range(kind: inspect.Type) -> str:
    least, above, most = (getattr(kind, name, None) for name in ("ge", "gt", "le"))
    return f"from {least} to {most}" if above is None else f"greater than {above} and up to {most}"


def is_in_range(kind: inspect.Type, value: float) -> bool:
    least, above, most = (getattr(kind, name, None) for name in ("ge", "gt", "le"))
    # NaN is out of range, because every comparison with it is false.
    return (least is None or value >= least) and (above is None or value > above) and (most is None or value <= most)


def _suggest_rewrite(value: Any, choices: list[FieldType], expected: str, at: DocumentLocation) -> str:
    name = ".".join(key for key in at.keys if isinstance(key, str))
    several, single = _IN_OTHERS.get(find_file_ending(at.document.path), _IN_YAML)
    lists = [one.type.item_type for one in choices if isinstance(one.type, inspect.VarTupleType)]
    holds_tables = any(isinstance(one.type, inspect.StructType) for item in lists for one in list_field_types(item))
    match value, expected:
        case {}, "a sequence" if holds_tables:
            return several.format(name)
        case [{}, *_], "a table" if any(isinstance(one.type, inspect.DictType) for one in choices):
            return "write a table instead of a list, with a name for each entry"
        case [{}, *_], "a table":
            return f"{single.format(name)}: only one table is allowed"
        case _, "a date":
            return _DATE_HINT
        case None, _:
            return "remove the key, or give it a value"
    return ""


def _check_free(value: Any, at: DocumentLocation) -> Iterator[Problem]:
    match value:
        case dict():
            for name, inner in value.items():
                yield from _check_free(inner, at / name)
        case list():
            for index, inner in enumerate(value):
                yield from _check_free(inner, at / index)
        case float() if not isfinite(value):
            yield at.problem(rules.CONFIG_BAD_VALUE, "the number is not finite")
        case date() | time():
            message = document.describe_invalid_type(value, TYPES[inspect.AnyType][1])
            yield at.problem(rules.CONFIG_WRONG_TYPE, message, "put it in quotes")


def _check_struct(kind: inspect.StructType, values: dict[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    known = {field.encode_name: field for field in kind.fields}
    wider = list_fields(_EXTENSIONS[kind.cls]) if kind.cls in _EXTENSIONS else {}
    found: list[Problem] = []
    for name in (name for name, field in known.items() if field.required and name not in values):
        hint = _SCHEMA_HINT if name == "$schema" else ""
        found.append(at.problem(rules.CONFIG_MISSING_KEY, f"missing field `{name}`", hint))
    for name, value in values.items():
        below = at / name
        if name in known:
            wrong = list(check_value(known[name].type, value, below))
        else:
            spellings = next((found for found in map(list_spellings, known) if name in found), ())
            other = next((one for one in spellings if one != name and one in values), "")
            if other and kind.cls not in _EXTENSIONS:
                message, hint = f"`{name}` and `{other}` are two spellings of one key", "remove one of them"
                wrong = [below.problem(rules.CONFIG_BAD_VALUE, message, hint, at_key=True)]
            else:
                message, hint = document.describe_unknown_field(name, list(known)), document.did_you_mean(name, known)
                wrong = [below.problem(rules.CONFIG_UNKNOWN_KEY, message, hint, at_key=True)]
        if wrong and name in wider and not any(check_value(wider[name].type, value, below)):
            wrong = [replace(problem, hint=_EXTEND) for problem in wrong]
        found += wrong
    yield from found or _check_whole_table(kind.cls, values, at)


def _check_whole_table(table: type[Struct], values: dict[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    try:
        convert(values, table, dec_hook=lambda kind, value: kind(value))
    except ValidationError as error:
        if isinstance(refusal := error.__cause__, TableError):
            below = at / refusal.key if refusal.key else at
            yield below.problem(refusal.rule, str(refusal), refusal.hint)
        else:
            yield at.problem(rules.CONFIG_BAD_VALUE, str(error))


def respell_project_keys(toml: TomlDocument) -> TomlDocument:
    return respell_keys(toml, ExtendedConfig) if toml.values.get("$schema") == EXTENDED_SCHEMA else toml


TABLES_OF_NAMES = ("providers", "toolPacks", "workflows", "routing")


def find_unresolved_names(at: DocumentLocation) -> Iterator[Problem]:
    tables = {name: select_tables(at.document.values.get(name)) for name in TABLES_OF_NAMES}
    for name, named in tables.items():
        table_at = at / name
        seen: dict[str, str] = {}
        for one in named:
            other = seen.setdefault(one.lower().replace("-", "_"), one)
            if other != one:
                line = table_at.document.key_place(*table_at.keys, other).line
                message = f"`{one}` is too similar to `{other}` at line {line}"
                yield (table_at / one).problem(rules.CONFIG_BAD_VALUE, message, "choose another name", at_key=True)
    providers, tasks = tables["providers"], tables["routing"]
    for task, route in tasks.items():
        route_at = at / "routing" / task
        if task in providers:
            message = f"`{task}` is also the name of a provider"
            yield route_at.problem(rules.CONFIG_BAD_VALUE, message, "rename one of them", at_key=True)
        yield from _check_model(route.get("model"), providers, providers, route_at / "model")
        fallbacks = route.get("fallbacks")
        for index, model in enumerate(fallbacks if isinstance(fallbacks, list) else ()):
            yield from _check_model(model, providers, providers, route_at / "fallbacks" / index)
    for name, workflow in tables["workflows"].items():
        below = at / "workflows" / name
        for step, here in list_tables(workflow.get("steps"), below / "steps"):
            yield from _check_model(step.get("model"), {**providers, **tasks}, providers, here / "model")
        yield from find_repeated_names(workflow, below)


def select_tables(value: Any) -> dict[str, dict[str, Any]]:
    return {name: inner for name, inner in value.items() if isinstance(inner, dict)} if isinstance(value, dict) else {}


def list_tables(value: Any, at: DocumentLocation) -> list[tuple[dict[str, Any], DocumentLocation]]:
    items = enumerate(value) if isinstance(value, list) else ()
    return [(item, at / index) for index, item in items if isinstance(item, dict)]


def _check_model(
    model: Any, names: dict[str, Any], providers: dict[str, Any], at: DocumentLocation
) -> Iterator[Problem]:
    if not isinstance(model, str) or not model.strip():
        return
    name, slash, _ = model.partition("/")
    known = providers if slash else names
    if name not in known:
        noun, tables = ("provider", "`providers`") if known is providers else ("model", "`providers` or `routing`")
        hint = document.did_you_mean(name, known) or f"add it to {tables}"
        yield at.problem(rules.CONFIG_BAD_VALUE, f"unknown {noun} `{name}`", hint)


def find_repeated_names(workflow: dict[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    steps = list_tables(workflow.get("steps"), at / "steps")
    captures = [found for step, here in steps for found in list_tables(step.get("capture"), here / "capture")]
    for key, tables in (("id", steps), ("name", captures)):
        seen: dict[str, DocumentLocation] = {}
        for table, here in tables:
            name, where = table.get(key), here / key
            if isinstance(name, str) and (first := seen.setdefault(name, where)) is not where:
                message = f"duplicate name `{name}`, first used at line {first.place.line}"
                yield where.problem(rules.CONFIG_BAD_VALUE, message, "choose another name")
