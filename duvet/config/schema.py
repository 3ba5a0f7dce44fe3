"""JSON Schemas of both configurations, and the origin of each setting of a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, json, to_builtins
from msgspec.structs import replace

from duvet.config import check, document, duvet_tables, project_file, settings
from duvet.config.service_tables import ServiceConfig
from duvet.config.toml import TomlDocument
from duvet.tree.files import Tree

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
    path = project_file.require_config(tree, config_path)
    toml = project_file.read_config(tree.read(path), path, environ).toml
    ##= man/spec/trace.md#configuration
    ##% `duvet config` MUST show the value of each key and where the value comes from.
    named = Setting("config-path", path, SettingOrigin.COMMAND_LINE, option="--config-path")
    return (
        named if config_path else Setting("config-path", path, SettingOrigin.DEFAULT),
        *_list_settings(project_file.read_tables(toml, environ), (), toml, environ),
        *(Setting("requirement", pattern, SettingOrigin.BUILT_IN) for pattern in settings.BUILT_IN_REQUIREMENTS),
    )


def _list_settings(
    table: settings.Table, keys: SettingKeys, toml: TomlDocument, environ: Mapping[str, str]
) -> Iterator[Setting]:
    nested: list[tuple[SettingKeys, settings.Table]] = []
    for name, declared in check.list_fields(type(table)).items():
        value, below = getattr(table, declared.name), (*keys, name)
        if isinstance(value, project_file.DuplicatesTable):
            # These tables are accepted but ignored.
            continue
        if isinstance(value, settings.Table):
            nested.append((below, value))
            continue
        if isinstance(value, tuple) and not keys:
            # All lists at the top are lists of tables.
            nested += [((*below, index), item) for index, item in enumerate(value)]
            continue
        setting = Setting(document.format_key_path(below), to_builtins(value), SettingOrigin.DEFAULT)
        if below in toml.spans:
            variables: tuple[str, ...] = ()
            if any(kind.template for kind in check.list_field_types(declared.type)):
                variables = document.expand_template(toml.string(*below), environ)[1]
            line = toml.value_place(*below).line
            setting = replace(setting, origin=SettingOrigin.FILE, path=toml.path, line=line, variables=variables)
        yield setting
    for below, inner in nested:
        yield from _list_settings(inner, below, toml, environ)


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, extended: bool) -> dict[str, Any]:
    ##= man/spec/trace.md#configuration
    ##% The JSON schema that `duvet config schema` prints MUST accept exactly the keys and types that duvet accepts,
    ##% except alternative spellings of keys.
    schema = json.schema(duvet_tables.ExtendedConfig if extended else project_file.UpstreamConfig)
    return {"$schema": DIALECT, "title": "duvet project configuration", **_drop_null(schema)}


def service_schema() -> dict[str, Any]:
    ##= man/spec/service.md#configuration
    ##% The schema that `duvet config schema service` prints MUST accept exactly the files that duvet accepts, except
    ##% that it checks no names and variables, and accepts no alternative spellings of keys.
    # The hook is for secrets, the only type that msgspec does not support.
    secret = {"type": "string", "pattern": document.VARIABLE_PATTERN}
    schema = json.schema(ServiceConfig, schema_hook=lambda _: secret)
    return {"$schema": DIALECT, "title": "duvet service configuration", **_drop_null(schema)}


def _drop_null(node: Any) -> Any:
    """Remove null from a schema, because configurations must omit keys instead."""
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
