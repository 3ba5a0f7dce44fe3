"""The configuration as a whole: JSON Schemas, references between tables, and the origin of each setting."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Struct, field, json, to_builtins

from duvet import rules
from duvet.config import service_tables, settings
from duvet.config.check import DocumentLocation
from duvet.config.document import VARIABLE_PATTERN, expand_template
from duvet.config.duvet_tables import ExtendedConfig
from duvet.config.fields import did_you_mean, format_key_path, is_table_array, list_field_types, list_fields
from duvet.config.project_file import DuplicatesTable, UpstreamConfig, read_config, read_tables, require_config
from duvet.config.service_tables import WorkflowSection
from duvet.config.toml import TomlDocument
from duvet.model import Problem
from duvet.tree.files import Tree


class ServiceConfig(settings.ServiceSection, frozen=True, kw_only=True):
    """The configuration of `duvet mcp` and of the commands that call tools."""

    schema: Annotated[str | None, settings.doc("URL or path of the JSON Schema of this file, for editors")] = field(
        default=None, name="$schema"
    )
    server: Annotated[service_tables.ServerSection, settings.doc("The MCP server")] = service_tables.ServerSection()
    providers: Annotated[
        dict[service_tables.Name, service_tables.ProviderSection], settings.doc("Model providers by name")
    ] = field(default_factory=dict)
    tool_packs: Annotated[dict[service_tables.Name, service_tables.PackSection], settings.doc("Tool packs by name")] = (
        field(default_factory=dict)
    )
    workflows: Annotated[dict[service_tables.Name, WorkflowSection], settings.doc("Workflows by name")] = field(
        default_factory=dict
    )
    routing: Annotated[dict[service_tables.Name, service_tables.RouteSection], settings.doc("Models by task")] = field(
        default_factory=dict
    )
    pages: Annotated[
        tuple[service_tables.PagesSection, ...],
        settings.doc("Markdown pages; by default the Markdown files in `docs` that are not specifications"),
    ] = ()
    ingest: Annotated[service_tables.IngestSection, settings.doc("Files that `duvet ingest` indexes")] = (
        service_tables.IngestSection()
    )
    store: Annotated[settings.StoreSection, settings.doc("Location of the index and its backups")] = (
        settings.StoreSection()
    )
    search: Annotated[service_tables.SearchSection, settings.doc("Ranking of `km-search` results")] = (
        service_tables.SearchSection()
    )
    uploads: Annotated[
        service_tables.UploadsSection, settings.doc("Files that `km-upload` and `km-storetext` write")
    ] = service_tables.UploadsSection()

    def notes(self) -> tuple[settings.NotesRule, ...] | None:
        return tuple(one.rule() for one in self.pages) or None

    def packs(self, by_default: tuple[str, ...] = settings.ServerRule().packs) -> tuple[str, ...]:
        """Return the enabled packs; packs in `by_default` are enabled without a table."""
        named = self.tool_packs
        kept = [name for name in by_default if name not in named or named[name].enabled]
        return (*kept, *(name for name, pack in named.items() if pack.enabled and name not in by_default))


TABLES_OF_NAMES = ("providers", "toolPacks", "workflows", "routing")


def find_unresolved_names(at: DocumentLocation) -> Iterator[Problem]:
    """Yield a problem for each name that is unknown, repeated or easily confused with another one."""
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
            yield route_at.problem(rules.CONFIG_BAD_VALUE, message, "choose another name", at_key=True)
        yield from _check_model(route.get("model"), providers, providers, route_at / "model")
        for model, fallback_at in _list_items(route.get("fallbacks"), route_at / "fallbacks"):
            yield from _check_model(model, providers, providers, fallback_at)
    for name, workflow in tables["workflows"].items():
        below = at / "workflows" / name
        for step, here in _list_steps(workflow, below):
            yield from _check_model(step.get("model"), {**providers, **tasks}, providers, here / "model")
        yield from find_repeated_names(workflow, below)


def select_tables(value: Any) -> dict[str, dict[str, Any]]:
    return {name: inner for name, inner in value.items() if isinstance(inner, dict)} if isinstance(value, dict) else {}


def _list_items(value: Any, at: DocumentLocation) -> Iterator[tuple[Any, DocumentLocation]]:
    yield from ((item, at / index) for index, item in enumerate(value if isinstance(value, list) else ()))


def _list_steps(workflow: dict[str, Any], at: DocumentLocation) -> list[tuple[dict[str, Any], DocumentLocation]]:
    return [(step, here) for step, here in _list_items(workflow.get("steps"), at / "steps") if isinstance(step, dict)]


def _check_model(
    model: Any, names: dict[str, Any], providers: dict[str, Any], at: DocumentLocation
) -> Iterator[Problem]:
    if not isinstance(model, str) or not model.strip():
        return
    name, slash, _ = model.partition("/")
    known = providers if slash else names
    if name not in known:
        hint = did_you_mean(name, known) or "add it to `providers`"
        yield at.problem(rules.CONFIG_BAD_VALUE, f"unknown provider `{name}`", hint)


def find_repeated_names(workflow: dict[str, Any], at: DocumentLocation) -> Iterator[Problem]:
    steps = _list_steps(workflow, at)
    yield from _find_repeated([(step.get("id"), here / "id") for step, here in steps])
    captures = [found for step, here in steps for found in _list_items(step.get("capture"), here / "capture")]
    yield from _find_repeated(
        [(capture.get("name"), here / "name") for capture, here in captures if isinstance(capture, dict)]
    )


def _find_repeated(names: list[tuple[Any, DocumentLocation]]) -> Iterator[Problem]:
    seen: dict[str, DocumentLocation] = {}
    for name, at in names:
        if isinstance(name, str) and (first := seen.setdefault(name, at)) is not at:
            message = f"duplicate name `{name}`, first used at line {first.place.line}"
            yield at.problem(rules.CONFIG_BAD_VALUE, message, "choose another name")


SettingKeys = tuple[str | int, ...]


class SettingOrigin(StrEnum):
    FILE = "file"
    DEFAULT = "default"
    BUILT_IN = "built in"
    COMMAND_LINE = "command line"


class Setting(Struct, frozen=True, omit_defaults=True):
    key: str
    value: str | bool | int | tuple[str, ...] | None
    origin: SettingOrigin
    path: str = ""
    line: int = 0
    variables: tuple[str, ...] = ()  # The environment variables in the value.
    option: str = ""


def explain_file(tree: Tree, config_path: str | None, environ: Mapping[str, str]) -> tuple[Setting, ...]:
    """Return all settings of the configuration; the command line names it if `config_path` is set."""
    path = require_config(tree, config_path)
    toml = read_config(tree.read(path), path, environ).toml
    ##= man/spec/trace.md#configuration
    ##% `duvet config` MUST show the value of each key and where the value comes from.
    named = Setting("config-path", path, SettingOrigin.COMMAND_LINE, option="--config-path")
    return (
        named if config_path else Setting("config-path", path, SettingOrigin.DEFAULT),
        *_list_settings(read_tables(toml, environ), (), toml, environ),
        *(Setting("requirement", pattern, SettingOrigin.BUILT_IN) for pattern in settings.BUILT_IN_REQUIREMENTS),
    )


def _list_settings(
    table: settings.Table, keys: SettingKeys, toml: TomlDocument, environ: Mapping[str, str]
) -> Iterator[Setting]:
    nested: list[tuple[SettingKeys, settings.Table]] = []
    for name, declared in list_fields(type(table)).items():
        value, below = getattr(table, declared.name), (*keys, name)
        if isinstance(value, DuplicatesTable):
            # These tables are accepted but ignored.
            continue
        if isinstance(value, settings.Table):
            nested.append((below, value))
        elif is_table_array(declared.type):
            nested += [((*below, index), item) for index, item in enumerate(value)]
        else:
            is_template = any(option.is_template for option in list_field_types(declared.type))
            yield _make_setting(below, value, is_template, toml, environ)
    for below, inner in nested:
        yield from _list_settings(inner, below, toml, environ)


def _make_setting(
    keys: SettingKeys, value: Any, is_template: bool, toml: TomlDocument, environ: Mapping[str, str]
) -> Setting:
    plain = to_builtins(value)
    written = _find_written(toml.values, keys)
    if written is None:
        return Setting(format_key_path(keys), plain, SettingOrigin.DEFAULT)
    variables = expand_template(written, environ).variables if is_template else ()
    return Setting(format_key_path(keys), plain, SettingOrigin.FILE, toml.path, toml.value_place(*keys).line, variables)


def _find_written(values: Any, keys: SettingKeys) -> Any:
    for key in keys:
        if isinstance(key, str) and key not in values:
            return None
        values = values[key]
    return values


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, extended: bool) -> dict[str, Any]:
    ##= man/spec/trace.md#configuration
    ##% The JSON schema that `duvet config schema` prints MUST accept exactly the keys and types that duvet accepts.
    schema = json.schema(ExtendedConfig if extended else UpstreamConfig)
    return {"$schema": DIALECT, "title": "duvet project configuration", **_drop_null(schema)}


def service_schema() -> dict[str, Any]:
    ##= man/spec/service.md#configuration
    ##% The schema that `duvet config schema service` prints MUST accept exactly the files that duvet accepts, except
    ##% for checks of names, variables and alternative spellings of keys.
    # The hook is for secrets, the only type that msgspec does not support.
    schema = json.schema(ServiceConfig, schema_hook=lambda _: {"type": "string", "pattern": VARIABLE_PATTERN})
    return {"$schema": DIALECT, "title": "duvet service configuration", **_drop_null(schema)}


def _drop_null(node: Any) -> Any:
    """Remove null from a schema: our records use it for missing values, and TOML has no null."""
    if isinstance(node, (list, tuple)):
        return [_drop_null(item) for item in node if item != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    clean = {key: _drop_null(value) for key, value in node.items() if value is not None}
    match clean.get("anyOf"):
        case [only]:
            del clean["anyOf"]
            clean |= only
    return clean
