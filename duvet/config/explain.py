"""Settings in force with their origins, and the JSON Schemas of the configurations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins

from duvet.config.fields import format_key_path, is_table_array, list_field_types, list_fields
from duvet.config.project_file import read_config, read_tables, require_config
from duvet.config.settings import BUILT_IN_REQUIREMENTS, Config, Table
from duvet.config.toml import TomlDocument
from duvet.config.upstream_tables import UpstreamConfig
from duvet.config.variables import VARIABLE_PATTERN, expand_template
from duvet.tree.files import Tree

SettingKeys = tuple[str | int, ...]


class SettingOrigin(StrEnum):
    """The origin of a value."""

    FILE = "file"
    DEFAULT = "default"
    BUILT_IN = "built in"
    COMMAND_LINE = "command line"


class CommandLineValue(NamedTuple):
    """An option that overrides a value of the file."""

    option: str
    value: str


class Setting(Struct, frozen=True, omit_defaults=True):
    """A value in force, and its origin."""

    key: str
    value: str | bool | int | tuple[str, ...] | None
    origin: SettingOrigin
    path: str = ""
    line: int = 0
    variables: tuple[str, ...] = ()
    """The environment variables in the value."""
    option: str = ""


def explain_file(tree: Tree, config_path: str | None, environ: Mapping[str, str]) -> tuple[Setting, ...]:
    """Return every setting of the given configuration, or else of this folder's."""
    path = require_config(tree, config_path)
    overrides = {"config-path": CommandLineValue("--config-path", path)} if config_path else {}
    return explain_config(read_config(tree.read(path), path, environ), environ, overrides)


def explain_config(
    config: Config, environ: Mapping[str, str], overrides: Mapping[str, CommandLineValue]
) -> tuple[Setting, ...]:
    """Return every setting of a configuration; `overrides` has the options of the command line, by key."""
    table = read_tables(config.toml, environ)
    ##= man/spec/trace.md#configuration
    ##% `duvet config` MUST show each value in force and where it comes from.
    settings = [
        Setting("config-path", config.path, SettingOrigin.DEFAULT),
        *_list_settings(table, (), config.toml, environ),
        *(Setting("requirement", pattern, SettingOrigin.BUILT_IN) for pattern in BUILT_IN_REQUIREMENTS),
    ]
    return tuple(
        Setting(setting.key, option.value, SettingOrigin.COMMAND_LINE, option=option.option)
        if (option := overrides.get(setting.key))
        else setting
        for setting in settings
    )


def _list_settings(
    table: Table, keys: SettingKeys, toml: TomlDocument, environ: Mapping[str, str]
) -> Iterator[Setting]:
    nested: list[tuple[SettingKeys, Table]] = []
    for name, field in list_fields(type(table)).items():
        value, below = getattr(table, field.name), (*keys, name)
        if isinstance(value, Table):
            nested.append((below, value))
        elif is_table_array(field.type):
            nested += [((*below, index), item) for index, item in enumerate(value)]
        else:
            is_template = any(option.is_template for option in list_field_types(field.type))
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
    """Return the value in the file; None if there is none, because TOML has no null."""
    for key in keys:
        if isinstance(key, str) and key not in values:
            return None
        values = values[key]
    return values


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, extended: bool) -> dict[str, Any]:
    """Return the JSON Schema of the project's configuration, in upstream's schema or in our own."""
    from msgspec import json

    from duvet.config.duvet_tables import ExtendedConfig

    ##= man/spec/trace.md#configuration
    ##% The schema that `duvet config --schema` prints MUST accept exactly the keys and types of values that duvet
    ##% accepts.
    schema = json.schema(ExtendedConfig if extended else UpstreamConfig)
    return {"$schema": DIALECT, "title": "Configuration of duvet", **_drop_null(schema)}


def service_schema() -> dict[str, Any]:
    """Return the JSON Schema of the service's configuration."""
    from msgspec import json

    from duvet.config.service_schema import ServiceConfig

    ##= man/spec/service.md#configuration
    ##% The schema that `duvet config --schema service` prints MUST accept exactly the files that duvet accepts, apart
    ##% from names and variables.
    # The hook is for secrets, the only type that msgspec doesn't know.
    schema = json.schema(ServiceConfig, schema_hook=lambda _: {"type": "string", "pattern": VARIABLE_PATTERN})
    return {"$schema": DIALECT, "title": "Configuration of the service of duvet", **_drop_null(schema)}


def _drop_null(node: Any) -> Any:
    """Remove null from a schema: it means an absent value in our records, and TOML can't write it."""
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
