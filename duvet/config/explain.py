"""Settings in force with their origins, and the JSON Schema of the configuration."""

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
    """Where a value comes from."""

    FILE = "file"
    DEFAULT = "default"
    BUILT_IN = "built in"
    COMMAND_LINE = "command line"


class CommandLineValue(NamedTuple):
    """What the command line says in place of a value of the file."""

    option: str
    value: str


class Setting(Struct, frozen=True, omit_defaults=True):
    """One value that is in force."""

    key: str
    value: str | bool | int | tuple[str, ...] | None
    origin: SettingOrigin
    path: str = ""
    line: int = 0
    variables: tuple[str, ...] = ()
    """The environment variables that the value was made of."""
    option: str = ""


def explain_file(tree: Tree, given_path: str | None, environ: Mapping[str, str]) -> tuple[Setting, ...]:
    """Every setting of the configuration that is given, or else of this folder's."""
    path = require_config(tree, given_path)
    given = {"config-path": CommandLineValue("--config-path", path)} if given_path else {}
    return explain_config(read_config(tree.read(path), path, environ), environ, given)


def explain_config(
    config: Config, environ: Mapping[str, str], given: Mapping[str, CommandLineValue]
) -> tuple[Setting, ...]:
    """Every setting of a configuration; `given` holds what the command line says, by key."""
    table = read_tables(config.toml, environ)
    ##= man/spec/trace.md#configuration
    ##% `duvet config` MUST show each value in force and where it comes from.
    settings = [
        Setting("config-path", config.path, SettingOrigin.DEFAULT),
        *_table(table, (), config.toml, environ),
        *(Setting("requirement", pattern, SettingOrigin.BUILT_IN) for pattern in BUILT_IN_REQUIREMENTS),
    ]
    return tuple(_overridden(setting, given) for setting in settings)


def _table(table: Table, keys: SettingKeys, toml: TomlDocument, environ: Mapping[str, str]) -> Iterator[Setting]:
    nested: list[tuple[SettingKeys, Table]] = []
    for name, field in list_fields(type(table)).items():
        value, below = getattr(table, field.name), (*keys, name)
        if isinstance(value, Table):
            nested.append((below, value))
        elif is_table_array(field.type):
            nested += [((*below, index), item) for index, item in enumerate(value)]
        else:
            is_template = any(option.is_template for option in list_field_types(field.type))
            yield _setting(below, value, is_template, toml, environ)
    for below, inner in nested:
        yield from _table(inner, below, toml, environ)


def _setting(
    keys: SettingKeys, value: Any, is_template: bool, toml: TomlDocument, environ: Mapping[str, str]
) -> Setting:
    plain = to_builtins(value)
    written = _written(toml.values, keys)
    if written is None:
        return Setting(format_key_path(keys), plain, SettingOrigin.DEFAULT)
    variables = expand_template(written, environ).variables if is_template else ()
    return Setting(format_key_path(keys), plain, SettingOrigin.FILE, toml.path, toml.value_place(*keys).line, variables)


def _written(values: Any, keys: SettingKeys) -> Any:
    """What stands in the file; TOML has no null, so None means that nothing does."""
    for key in keys:
        if isinstance(key, str) and key not in values:
            return None
        values = values[key]
    return values


def _overridden(setting: Setting, given: Mapping[str, CommandLineValue]) -> Setting:
    if setting.key not in given:
        return setting
    option, value = given[setting.key]
    return Setting(setting.key, value, SettingOrigin.COMMAND_LINE, option=option)


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, extended: bool) -> dict[str, Any]:
    """What a configuration file may hold, in upstream's schema or in our own."""
    from msgspec import json

    from duvet.config.duvet_tables import ExtendedConfig

    ##= man/spec/trace.md#configuration
    ##% The schema that `duvet config --schema` prints MUST accept exactly the keys and types of values that duvet
    ##% accepts.
    schema = json.schema(ExtendedConfig if extended else UpstreamConfig)
    return _titled("Configuration of duvet", schema)


def service_schema() -> dict[str, Any]:
    """What the configuration of the service may hold."""
    from msgspec import json

    from duvet.config.service_schema import ServiceConfig

    ##= man/spec/service.md#configuration
    ##% The schema that `duvet config --schema service` prints MUST accept exactly the files that duvet accepts, apart
    ##% from names and variables.
    return _titled("Configuration of the service of duvet", json.schema(ServiceConfig, schema_hook=_variable))


def _variable(kind: type) -> dict[str, Any]:
    """A secret, the only type that msgspec doesn't know."""
    return {"type": "string", "pattern": VARIABLE_PATTERN}


def _titled(title: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": DIALECT, "title": title, **_without_null(schema)}


def _without_null(node: Any) -> Any:
    """The schema without null, which stands for an absent value in our records and which TOML can't write."""
    if isinstance(node, (list, tuple)):
        return [_without_null(item) for item in node if item != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    clean = {key: _without_null(value) for key, value in node.items() if value is not None}
    match clean.get("anyOf"):
        case [only]:
            del clean["anyOf"]
            clean |= only
    return clean
