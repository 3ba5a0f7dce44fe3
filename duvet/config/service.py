"""Finds and reads the service configuration, and applies environment variables to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import DecodeError, Struct, ValidationError, convert, inspect, json
from msgspec.structs import replace

from duvet import rules
from duvet.config import check, document_formats, duvet_tables, project_file, settings
from duvet.config.document import (
    CONVENTIONAL_NAME,
    DataDocument,
    DocumentError,
    ExpressionError,
    KeyPath,
    did_you_mean,
    expand_variables,
    is_variable,
)
from duvet.config.service_tables import (
    SHARED_KEYS,
    IngestSection,
    LogFormat,
    PagesSection,
    ServerSection,
    ServiceConfig,
)
from duvet.config.toml import TomlDocument, parse_toml_bytes
from duvet.errors import DuvetError, ProblemsError, UnreadableError
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
    if isinstance(kind, inspect.StrType | inspect.CustomType):
        return choice.expected or "text that is not blank"
    if not isinstance(kind, _SCALARS):
        return _JSON_TYPES.get(type(kind), "JSON")
    if isinstance(kind, inspect.EnumType):
        return f"one of {', '.join(f'`{one.value}`' for one in kind.cls)}"
    least, most = getattr(kind, "ge", None), getattr(kind, "le", None)
    return check.TYPES[type(kind)][1] + (f" from {least} to {most}" if least is not None and most is not None else "")


def _is_secret(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.CustomType) and kind.cls is settings.Secret


class VariableExpander:
    def __init__(self, unneeded: Collection[KeyPath] = ()) -> None:
        """Below the keys in `unneeded`, a variable that can't be expanded is only a warning."""
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.failed: set[KeyPath] = set()  # The keys in `unneeded` with such a variable.
        self._unneeded = unneeded

    def convert_scalar(self, choice: check.FieldType, value: Any, at: check.DocumentLocation) -> Any:
        """Expand variables where a number, boolean or word is expected; drop the key if that fails."""
        if not (isinstance(choice.type, _SCALARS) and isinstance(value, str) and "$" in value):
            return check.UNCHANGED
        text = self._expand_text(value, at)
        # An unset variable is already reported.
        if text != value:
            try:
                return _parse_scalar(choice.type, text)
            except (ValueError, DecodeError):
                self._report(f"the value is not {_describe_choice(choice)} after its variables are expanded", at)
        return check.DROPPED

    def expand(self, choice: check.FieldType, value: Any, at: check.DocumentLocation) -> Any:
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
        return settings.Secret(text)

    def _expand_all(self, value: Any, choice: check.FieldType, at: check.DocumentLocation) -> Any:
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

    def _expand_text(self, text: str, at: check.DocumentLocation) -> str:
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

    def _report(self, message: str, at: check.DocumentLocation) -> None:
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


_PREFIX, _SEPARATOR = "DUVET_", "__"

Record = TypeVar("Record", bound=Struct)


def _list_overrides(environ: Mapping[str, str]) -> list[str]:
    return sorted(name for name in environ if name.startswith(_PREFIX) and _SEPARATOR in name[len(_PREFIX) :])


def _apply_overrides(config: Record, environ: Mapping[str, str], *, whole: bool = True) -> Record:
    tables = {_fold(name) for name in config.__struct_encode_fields__}
    for name in _list_overrides(environ):
        path = name.removeprefix(_PREFIX).split(_SEPARATOR)
        if whole or _fold(path[0]) in tables:
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
        below = f"{_SEPARATOR}{_SEPARATOR.join(path)}"
        message = f"{variable} names no key: {variable.removesuffix(below)} sets a value, not a table"
        raise DuvetError(message, hint=f"remove `{below}` from the name")
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
            return settings.Secret(text)
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


SERVICE_VARIABLES = ("DUVET_CONFIG", "CONTEXTIVE_CONFIG")
SERVICE_FILE_NAMES = tuple(
    f"{name}.config.{ending}" for name in ("duvet", "contextive") for ending in document_formats.DOCUMENT_ENDINGS
)
"""The file names under which duvet looks for the service configuration."""

ORIGIN_DEFAULTS = "defaults"


class ServiceFile(Struct, frozen=True):
    path: str  # Empty if the defaults apply because no file was found.
    origin: str  # `--service-config`, the name of a variable, `found` or `defaults`.


def find_service_file(
    tree: Tree, environ: Mapping[str, str], service_path: str | None = None, folder: str | None = ""
) -> ServiceFile:
    """Return the named file or, unless `folder` is None, the file in this folder or in the project.

    Raise DuvetError if the named file doesn't exist or has an unknown extension, or if there are several candidates.
    """
    ##= man/spec/service.md#configuration
    ##% duvet MUST read the service configuration from the named file, or else from `duvet.config.*` or
    ##% `contextive.config.*` in the working directory, or else from such a file in the project's
    ##% folder.
    named = {name: environ[name] for name in SERVICE_VARIABLES if environ.get(name)}
    if service_path:
        named = {"--service-config": service_path}
    if len(set(named.values())) > 1:
        both = " and ".join(f"{name} points to {path}" for name, path in named.items())
        raise DuvetError(f"conflicting configurations: {both}", hint="unset one of the variables")
    for origin, path in named.items():
        if not tree.exists(path):
            hint = "correct the path" if service_path else "correct or unset it"
            raise UnreadableError(f"{origin} points to {path}, which does not exist", hint=hint)
        if document_formats.find_file_ending(path) not in document_formats.DOCUMENT_ENDINGS:
            known = ", ".join(f"`.{one}`" for one in document_formats.DOCUMENT_ENDINGS)
            message = f"{origin} points to {path}, which has an unknown extension"
            raise UnreadableError(message, hint=f"rename the file; supported extensions: {known}")
        return ServiceFile(path, origin)
    for place in () if folder is None else dict.fromkeys((f"{folder}/" if folder else "", "")):
        present = [path for path in (f"{place}{name}" for name in SERVICE_FILE_NAMES) if tree.exists(path)]
        if len(present) > 1:
            names = " and ".join(f"`{path}`" for path in present)
            hint = "keep one of them, or choose one with `--service-config`"
            raise DuvetError(f"found several configurations: {names}", hint=hint)
        if present:
            return ServiceFile(present[0], "found")
    return ServiceFile("", ORIGIN_DEFAULTS)


_TABLES = tuple(name.encode() for name in ServiceConfig.__struct_encode_fields__ if name != "$schema")


def _read_project_tables(tree: Tree, config_path: str | None) -> TomlDocument | None:
    with suppress(DuvetError):
        path = project_file.find_config(tree, config_path)
        data = tree.read(path) if path else b""
        # Most files contain none of these tables, so skip the parser to answer sooner.
        if path and any(name in data for name in _TABLES):
            toml = parse_toml_bytes(data, path)
            return check.respell_project_keys(toml) if toml.values.get("$schema") == settings.EXTENDED_SCHEMA else None
    return None


def _find_duplicate_tables(at: check.DocumentLocation, project: TomlDocument) -> Iterator[Problem]:
    for name in sorted(at.document.values.keys() & project.values.keys() - {"$schema"}):
        ##= man/spec/service.md#configuration
        ##% If the same table is in the service configuration and in `.duvet/config.toml`, duvet MUST report an error
        ##% that names both places.
        place = project.key_place(name)
        message = f"this table is also in `{project.path}:{place.line}:{place.column}`"
        yield (at / name).problem(rules.CONFIG_BAD_VALUE, message, "remove one of the tables", at_key=True)


class Service(Struct, frozen=True, kw_only=True):
    config: ServiceConfig
    path: str = ""  # As in ServiceFile.
    origin: str
    document: DataDocument | None = None
    packs: tuple[str, ...] = settings.DEFAULT_PACKS  # The packs that are switched on.
    warnings: tuple[Problem, ...] = ()
    ignored: tuple[Problem, ...] = ()  # A warning for each configuration that is not trusted.
    overrides: tuple[str, ...] = ()  # The environment variables that override keys.


def load_service(
    tree: Tree,
    environ: Mapping[str, str],
    service_path: str | None = None,
    project_path: str | None = None,
    folder: str | None = "",
) -> Service:
    """Read the service configuration, or raise DuvetError; a ProblemsError contains all problems of the file.

    `service_path` is the file that `--service-config` names, `project_path` the project configuration if it isn't in
    the usual place, and `folder` the user's folder relative to the project. If `folder` is None, only configurations
    that an option or a variable names are read.
    """
    found = find_service_file(tree, environ, service_path, folder)
    project = None if folder is None and not project_path else _read_project_tables(tree, project_path)
    document, config = None, ServiceConfig()
    warnings: tuple[Problem, ...] = ()
    if found.path:
        # Most projects have no such file: skip its tables to answer sooner.
        document = _read_service_document(tree, found.path, ServiceConfig)
        config, warnings = _resolve_tables(ServiceConfig, document, environ, project)
    packs: tuple[str, ...] = settings.DEFAULT_PACKS
    if project and "server" in project.values:
        with suppress(ValidationError):
            table = convert(project.values["server"], duvet_tables.ServerTable)
            server = ServerSection(**{name: getattr(table, name) for name in SHARED_KEYS})
            config, packs = replace(config, server=server), tuple(table.packs)
    config = _apply_overrides(config, environ)
    return Service(
        config=config,
        path=found.path,
        origin=found.origin,
        document=document,
        packs=config.packs(packs),
        warnings=warnings,
        overrides=tuple(_list_overrides(environ)),
    )


def salvage_service(
    tree: Tree, environ: Mapping[str, str], service_path: str | None = None, folder: str | None = ""
) -> Service:
    """Return the valid parts of an invalid configuration; raise DuvetError if the file can't be read."""
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
            at = check.DocumentLocation(document, environ, (name,), is_private=True)
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


_JSON_LOG = re.compile(rb"""^[^#\n]*\blog[-_]?format["']?\s*[:=]\s*["']?json\b""", re.IGNORECASE | re.MULTILINE)


def asks_for_json_log(
    tree: Tree, environ: Mapping[str, str], service_path: str | None = None, folder: str | None = ""
) -> bool:
    """Return whether a variable or the configuration, even if invalid, sets `logFormat` to `json`."""
    if named := environ.get("DUVET_SERVER__LOG_FORMAT"):
        return named == LogFormat.JSON
    with suppress(DuvetError):
        path = find_service_file(tree, environ, service_path, folder).path
        return bool(path and _JSON_LOG.search(tree.read(path)))
    return False


def _load_tables(
    kind: type[Record],
    tree: Tree,
    environ: Mapping[str, str],
    project_path: str | None,
    service_path: str | None,
    folder: str,
) -> Record:
    path, tables = find_service_file(tree, environ, service_path, folder).path, kind()
    if path:
        document = _read_service_document(tree, path, kind)
        tables, _ = _resolve_tables(kind, document, environ, _read_project_tables(tree, project_path))
    return _apply_overrides(tables, environ, whole=False)


class _PageTables(Struct, frozen=True):
    pages: tuple[PagesSection, ...] = ()


def load_service_pages(
    tree: Tree, environ: Mapping[str, str], project_path: str | None = None, folder: str = ""
) -> tuple[settings.PagesTable, ...] | None:
    """Return the page patterns, or None if none are configured; raise DuvetError if the `pages` table is invalid."""
    return _load_tables(_PageTables, tree, environ, project_path, None, folder).pages or None


class _IngestTables(Struct, frozen=True):
    ingest: IngestSection = IngestSection()
    search: settings.SearchSection = settings.SearchSection()
    store: settings.StoreSection = settings.StoreSection()


def load_service_ingest(
    tree: Tree,
    environ: Mapping[str, str],
    project_path: str | None = None,
    service_path: str | None = None,
    folder: str = "",
) -> tuple[settings.IngestRule, settings.StoreSection]:
    """Return the settings of `duvet ingest` and those of the index; raise DuvetError if they are invalid."""
    found = _load_tables(_IngestTables, tree, environ, project_path, service_path, folder)
    return found.ingest.rule(environ, found.search.model), found.store


def _read_service_document(tree: Tree, path: str, kind: type[Struct]) -> DataDocument:
    try:
        return check.respell_keys(document_formats.read_document(tree.read(path), path), kind)
    except DocumentError as error:
        raise ProblemsError((replace(error.make_problem(), is_private=True),)) from None


def _resolve_tables(
    kind: type[Record], document: DataDocument, environ: Mapping[str, str], project: TomlDocument | None
) -> tuple[Record, tuple[Problem, ...]]:
    is_whole = kind is ServiceConfig
    names = document.values if is_whole else kind.__struct_encode_fields__
    tables = document.replace_values({name: value for name, value in document.values.items() if name in names})
    info, expander = check.inspect_table(kind), VariableExpander(_list_unneeded_parts(document.values))
    place = check.DocumentLocation(tables, environ, is_private=True)
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


def _redact_secrets(problems: list[Problem], at: check.DocumentLocation) -> list[Problem]:
    secrets: set[str] = set()

    def note(choice: check.FieldType, value: Any, at: check.DocumentLocation) -> object:
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
