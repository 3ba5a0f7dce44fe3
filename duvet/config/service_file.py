"""Reads a service configuration: checks its tables, expands variables, and applies overrides."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import DecodeError, Struct, ValidationError, convert, inspect, json
from msgspec.structs import replace

from duvet import rules
from duvet.config import check, document_formats, settings
from duvet.config.document import (
    CONVENTIONAL_NAME,
    DataDocument,
    DocumentError,
    DocumentLocation,
    ExpressionError,
    KeyPath,
    did_you_mean,
    expand_variables,
    is_variable,
)
from duvet.config.service import OVERRIDE_PREFIX, OVERRIDE_SEPARATOR, Service, find_service_file
from duvet.config.service_tables import SHARED_KEYS, Secret, ServerSection, ServiceConfig
from duvet.config.toml import TomlDocument, parse_toml_bytes
from duvet.errors import DuvetError, ProblemsError
from duvet.model import Problem, Severity, sort_problems
from duvet.text import join_names, quote_text
from duvet.tree.files import Tree

_SCALARS = (inspect.IntType, inspect.FloatType, inspect.BoolType, inspect.EnumType)
_JSON_TYPES = {
    inspect.VarTupleType: "a JSON array",
    inspect.StructType: "a JSON object",
    inspect.DictType: "a JSON object",
}


def _parse_scalar(kind: inspect.Type, text: str) -> Any:
    if isinstance(kind, inspect.EnumType):
        return kind.cls(text.strip()).value
    wanted = {inspect.BoolType: bool, inspect.IntType: int}.get(type(kind), float)
    value: float = convert(json.decode(text.strip().lower()), wanted)
    if not check.is_in_range(kind, value):
        raise ValueError(text)
    return value


def _describe_choice(choice: check.FieldType) -> str:
    kind = choice.type
    if isinstance(kind, inspect.CustomType):
        return "text that is not blank and contains only printable characters"
    if isinstance(kind, inspect.StrType):
        return choice.expected or "text that is not blank"
    if isinstance(kind, inspect.VarTupleType) and not isinstance(
        check.list_field_types(kind.item_type)[0].type, inspect.StructType
    ):
        return "a JSON array of strings"
    if not isinstance(kind, _SCALARS):
        return _JSON_TYPES.get(type(kind), "JSON")
    if isinstance(kind, inspect.EnumType):
        return f"{'one of ' * (len(kind.cls) > 1)}{', '.join(f'`{one.value}`' for one in kind.cls)}"
    return check.TYPES[type(kind)][1] + ("" if getattr(kind, "le", None) is None else f" {check.describe_range(kind)}")


def _is_secret(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.CustomType) and kind.cls is Secret


class VariableExpander:
    def __init__(self, unneeded: Collection[KeyPath] = ()) -> None:
        """Below the keys in `unneeded`, a variable that can't be expanded is only a warning."""
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.failed: set[KeyPath] = set()  # The keys in `unneeded` with such a variable.
        self._unneeded = unneeded

    def convert_scalar(self, choice: check.FieldType, value: Any, at: DocumentLocation) -> Any:
        if not (isinstance(choice.type, _SCALARS) and isinstance(value, str) and "$" in value):
            return check.UNCHANGED
        text = self._expand_text(value, at)
        # An unset variable is already reported.
        if text != value:
            choices = [choice, *(other for other in choice.others if isinstance(other.type, _SCALARS))]
            for one in choices:
                with suppress(ValueError, DecodeError):
                    return _parse_scalar(one.type, text)
            expected = " or ".join(map(_describe_choice, choices))
            self._report(f"the value is not {expected} after its variables are expanded", at)
        return check.DROPPED

    def expand(self, choice: check.FieldType, value: Any, at: DocumentLocation) -> Any:
        if not (_is_secret(choice.type) and isinstance(value, str)):
            return self._expand_all(value, choice, at) if choice.expands else check.UNCHANGED
        # `check_table` reports a value that is no variable.
        if not is_variable(value):
            return value
        text = self._expand_text(value, at)
        ##= man/spec/service.md#configuration
        ##% duvet MUST NOT show the values of secrets and environment variables in messages.
        if text != value and not (text.strip() and text.isprintable()):
            self._report("the variable is blank or contains unprintable characters", at)
        return Secret(text)

    def _expand_all(self, value: Any, choice: check.FieldType, at: DocumentLocation) -> Any:
        match value:
            case dict():
                return {name: self._expand_all(inner, choice, at / name) for name, inner in value.items()}
            case list():
                return [self._expand_all(inner, choice, at / index) for index, inner in enumerate(value)]
            case str():
                text = self._expand_text(value, at)
                if text != value and choice.refuses(text):
                    what = f"not {choice.expected}" if choice.expected else "blank"
                    self._report(f"the value is {what} after its variables are expanded", at)
                return text
        return value

    def _expand_text(self, text: str, at: DocumentLocation) -> str:
        try:
            return expand_variables(text, at.environ)
        except ExpressionError as error:
            problem = at.problem(rules.CONFIG_BAD_TEMPLATE, error.message, error.hint)
            part = next((keys for keys in self._unneeded if at.keys[: len(keys)] == keys), None)
            if part is None:
                self.problems.append(problem)
            else:
                self.warnings.append(replace(problem, severity=Severity.WARNING))
                self.failed.add(part)
            return text

    def _report(self, message: str, at: DocumentLocation) -> None:
        self.problems.append(at.problem(rules.CONFIG_BAD_VALUE, message, "set the variable to a valid value"))


def _list_unneeded_parts(values: Mapping[str, Any]) -> Collection[KeyPath]:
    providers, packs, workflows, routes = (check.select_tables(values.get(name)) for name in check.TABLES_OF_NAMES)
    enabled = [name for name, one in providers.items() if one.get("enabled", True) is not False]
    lists = [one.get(name) for name, some in (("steps", workflows), ("fallbacks", routes)) for one in some.values()]
    inner = [one for some in lists if isinstance(some, list) for one in some]
    models = [one.get("model") if isinstance(one, dict) else one for one in [*routes.values(), *inner]]
    used = {*enabled[:1], *(model.partition("/")[0] for model in models if isinstance(model, str))}
    disabled = [("toolPacks", name) for name, one in packs.items() if one.get("enabled", True) is False]
    return [*disabled, *(("providers", name) for name in providers if name not in enabled or name not in used)]


Record = TypeVar("Record", bound=Struct)


def _apply_overrides(config: Record, environ: Mapping[str, str], names: Sequence[str]) -> Record:
    tables, is_whole = {_fold(name) for name in config.__struct_encode_fields__}, isinstance(config, ServiceConfig)
    for name in names:
        path = name.removeprefix(OVERRIDE_PREFIX).split(OVERRIDE_SEPARATOR)
        if is_whole or _fold(path[0]) in tables:
            config = _set_value(config, path, environ[name], name)
    return config


def _fold(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _set_value(record: Record, path: list[str], text: str, variable: str) -> Record:
    ##= man/spec/service.md#configuration
    ##% An environment variable `DUVET_TABLE__KEY` MUST override `KEY` in `TABLE` of the service configuration, with one
    ##% more `__` for each nested table.
    fields = check.list_fields(type(record))
    field = next((field for key, field in fields.items() if _fold(key) == _fold(path[0])), None)
    if field is None:
        known = [key for key in fields if key != "$schema"]
        hint = did_you_mean(path[0], known) or f"available: {join_names(known, 20)}"
        raise DuvetError(f"{variable} names no key of the configuration", hint=hint)
    value = getattr(record, field.name)
    return replace(record, **{field.name: _make_value(field.type, value, path[1:], text, variable)})


def _make_value(kind: inspect.Type, value: Any, path: list[str], text: str, variable: str) -> Any:
    choices = check.list_field_types(kind)
    for choice in choices:
        match choice.type:
            case inspect.StructType(cls=table) if path:
                return _set_value(table() if value is None else value, path, text, variable)
            case inspect.DictType(value_type=inner) if path:
                name = next((one for one in value if _fold(one) == _fold(path[0])), path[0].lower())
                entry, (kind_of_entry, *_) = value.get(name), check.list_field_types(inner)
                if entry is None and isinstance(kind_of_entry.type, inspect.StructType):
                    try:
                        entry = convert({}, kind_of_entry.type.cls)
                    except ValidationError as error:
                        message = f"{variable} names an entry that the configuration doesn't have"
                        raise DuvetError(message, hint="add the entry to the configuration") from error
                return {**value, name: _make_value(inner, entry, path[1:], text, variable)}
    if path:
        below = f"{OVERRIDE_SEPARATOR}{OVERRIDE_SEPARATOR.join(path)}"
        above = variable.removesuffix(below)
        message, hint = f"{variable} names no key: {above} sets a value, not a table", f"remove `{below}` from the name"
        # A variable overrides only a key inside a table.
        if OVERRIDE_SEPARATOR not in above:
            message, hint = f"{variable} names no key of the configuration", "set the key in the service configuration"
        raise DuvetError(message, hint=hint)
    for choice in choices:
        with suppress(ValueError, DecodeError):
            return _parse_leaf(choice, text)
    expected = " or ".join(map(_describe_choice, choices))
    raise DuvetError(f"the value of {variable} is not valid", hint=f"set it to {expected}")


def _parse_leaf(choice: check.FieldType, text: str) -> Any:
    match choice.type:
        case inspect.StrType() if not choice.refuses(text):
            return text
        case _ if _is_secret(choice.type) and text.strip() and text.isprintable():
            return Secret(text)
        case inspect.VarTupleType(item_type=item):
            (inner,) = check.list_field_types(item)
            if isinstance(inner.type, inspect.StructType):
                return convert(json.decode(text), tuple[inner.type.cls, ...])  # type: ignore[name-defined]
            # A list of strings may be separated by commas.
            parts = json.decode(text) if text.startswith("[") else filter(None, map(str.strip, text.split(",")))
            return convert(list(parts), tuple[str, ...])
        case inspect.EnumType(cls=kind) as enum:
            return kind(_parse_scalar(enum, text))
        case inspect.IntType() | inspect.FloatType() | inspect.BoolType() as scalar:
            return _parse_scalar(scalar, text)
        case inspect.StructType(cls=kind):
            return convert(json.decode(text), kind)
        case inspect.DictType() | inspect.AnyType():
            return json.decode(text)
    raise ValueError(text)


def read_tables(
    kind: type[Record],
    tree: Tree,
    environ: Mapping[str, str],
    path: str,
    overrides: Sequence[str],
    project_path: str,
    project_data: bytes,
) -> tuple[Record, DataDocument | None, tuple[str, ...], tuple[Problem, ...]]:
    project, document, config = None, None, kind()
    packs: tuple[str, ...] = settings.DEFAULT_PACKS
    warnings: tuple[Problem, ...] = ()
    with suppress(DuvetError):
        toml = parse_toml_bytes(project_data, project_path)
        if toml.values.get("$schema") == settings.EXTENDED_SCHEMA:
            project = check.respell_project_keys(toml)
    if path:
        document = _read_service_document(tree, path, kind)
        config, warnings = _resolve_tables(kind, document, environ, project)
    if project and "server" in project.values and isinstance(config, ServiceConfig):
        with suppress(ValidationError):
            table = convert(project.values["server"], settings.ServerTable)
            server = ServerSection(**{name: getattr(table, name) for name in SHARED_KEYS})
            config, packs = replace(config, server=server), tuple(table.packs)
    return _apply_overrides(config, environ, overrides), document, packs, warnings


def _read_service_document(tree: Tree, path: str, kind: type[Struct]) -> DataDocument:
    try:
        return check.respell_keys(document_formats.read_document(tree.read(path), path), kind)
    except DocumentError as error:
        raise ProblemsError((replace(error.make_problem(), is_private=True),)) from None


def _find_duplicate_tables(at: DocumentLocation, project: TomlDocument) -> Iterator[Problem]:
    for name in sorted(at.document.values.keys() & project.values.keys() - {"$schema"}):
        ##= man/spec/service.md#configuration
        ##% If the same table is in the service configuration and in `.duvet/config.toml`, duvet MUST report an error
        ##% that names both places.
        place = project.key_place(name)
        message = f"this table is also in `{project.path}:{place.line}:{place.column}`"
        yield (at / name).problem(rules.CONFIG_BAD_VALUE, message, "remove one of the tables", at_key=True)


def salvage_service(
    tree: Tree, environ: Mapping[str, str], service_path: str | None = None, folder: str | None = ""
) -> Service:
    """Return the valid parts of an invalid configuration."""
    found = find_service_file(tree, environ, service_path, folder)
    document = _read_service_document(tree, found.path, ServiceConfig)
    values: dict[str, Any] = {}
    fields = check.list_fields(ServiceConfig)
    for name, table in document.values.items():
        if name not in fields:
            continue
        kind, has_entries = fields[name].type, name in check.TABLES_OF_NAMES and isinstance(table, dict)
        for part in [{key: one} for key, one in table.items()] if has_entries else [table]:
            if name == "workflows" and has_entries:
                part |= {key: {"description": "missing", **one} for key, one in check.select_tables(part).items()}
            at = DocumentLocation(document, environ, (name,), is_private=True)
            expander = VariableExpander()
            part = check.convert_values(kind, part, at, expander.convert_scalar)
            if not any(check.check_value(kind, part, at)) and not expander.problems:
                part = check.convert_values(kind, part, at, expander.expand)
                # A variable may make a value invalid.
                with suppress(ValidationError):
                    convert({name: part}, ServiceConfig)
                    values[name] = {**values.get(name, {}), **part} if has_entries else part
    config = convert(values, ServiceConfig)
    return Service(config=config, path=found.path, origin=found.origin, document=document, packs=config.packs())


def _resolve_tables(
    kind: type[Record], document: DataDocument, environ: Mapping[str, str], project: TomlDocument | None
) -> tuple[Record, tuple[Problem, ...]]:
    is_whole = kind is ServiceConfig
    names = document.values if is_whole else kind.__struct_encode_fields__
    tables = document.replace_values({name: value for name, value in document.values.items() if name in names})
    info, expander = check.inspect_table(kind), VariableExpander(_list_unneeded_parts(document.values))
    place = DocumentLocation(tables, environ, is_private=True)
    converted = check.convert_values(info, tables.values, place, expander.convert_scalar)
    at = place._replace(document=tables.replace_values(converted))
    values = check.convert_values(info, converted, at, expander.expand)
    problems = [
        *check.check_table(kind, at),
        *(check.find_unresolved_names(at) if is_whole else ()),
        *(_find_duplicate_tables(at, project) if project else ()),
        *expander.problems,
    ]
    found = sort_problems(_redact_secrets([*problems, *expander.warnings], place._replace(document=document)))
    if problems:
        raise ProblemsError(found)
    for table, name in expander.failed:
        values[table][name]["enabled"] = False
    return convert(values, kind), found


_MOST_SECRETS = 100  # Searching for more secrets would take too long.


def _redact_secrets(problems: list[Problem], at: DocumentLocation) -> list[Problem]:
    secrets: set[str] = set()

    def note(choice: check.FieldType, value: Any, at: DocumentLocation) -> object:
        if _is_secret(choice.type):
            secrets.update(_list_leaves(value))
        return check.UNCHANGED

    check.convert_values(check.inspect_table(ServiceConfig), at.document.values, at, note)
    if not secrets:
        return problems
    if len(secrets) > _MOST_SECRETS:
        message = f"details hidden, because this file contains more than {_MOST_SECRETS} secrets"
        hint = "replace the secrets with environment variables, such as `$API_KEY`"
        return [replace(one, message=message, hint=hint) for one in problems]
    written: set[str] = set()
    for secret in secrets:
        shown = quote_text(secret)
        # A shorter secret could be part of many words, so it is hidden only between quotes.
        written |= {shown, f"`{secret}`", *((secret, shown[1:-1]) if len(secret) >= 4 else ())}
    pieces = re.compile("|".join(map(re.escape, sorted(written, key=len, reverse=True))))
    return [replace(one, message=pieces.sub("***", one.message), hint=pieces.sub("***", one.hint)) for one in problems]


def _list_leaves(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                yield name
                yield from _list_leaves(inner)
        case list():
            for inner in value:
                yield from _list_leaves(inner)
        case str() if value and not (is_variable(value) and re.fullmatch(CONVENTIONAL_NAME, value.strip("${}"))):
            yield value
        # Messages never show larger integers.
        case int() if value.bit_length() < 64 and not isinstance(value, bool):
            yield str(value)
        case float():
            yield str(value)
