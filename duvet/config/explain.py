"""What is in force in a configuration, and where each value comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins

from duvet.config.expressions import expand
from duvet.config.fields import fields_of, holds_tables, key_path, options
from duvet.config.find import require_config
from duvet.config.read import read_config, read_tables
from duvet.config.schema import BUILT_IN_REQUIREMENTS, Config, Table
from duvet.config.toml import Toml
from duvet.tree.protocol import Tree

Keys = tuple[str | int, ...]


class Origin(StrEnum):
    """Where a value comes from."""

    FILE = "file"
    DEFAULT = "default"
    BUILT_IN = "built in"
    COMMAND_LINE = "command line"


class Given(NamedTuple):
    """What the command line says in place of a value of the file."""

    option: str
    value: str


class Setting(Struct, frozen=True, omit_defaults=True):
    """One value that is in force."""

    key: str
    value: str | bool | int | tuple[str, ...] | None
    origin: Origin
    path: str = ""
    line: int = 0
    variables: tuple[str, ...] = ()
    """The environment variables that the value was made of."""
    option: str = ""


def explain_file(tree: Tree, given_path: str | None, environ: Mapping[str, str]) -> tuple[Setting, ...]:
    """Every setting of the configuration that is given, or else of this folder's."""
    path = require_config(tree, given_path)
    given = {"config-path": Given("--config-path", path)} if given_path else {}
    return explain(read_config(tree.read(path), path, environ), environ, given)


def explain(config: Config, environ: Mapping[str, str], given: Mapping[str, Given]) -> tuple[Setting, ...]:
    """Every setting of a configuration; `given` holds what the command line says, by key."""
    table = read_tables(config.toml, environ)
    ##= man/spec/trace.md#configuration
    ##% `duvet config` MUST show each value in force and where it came from.
    settings = [
        Setting("config-path", config.path, Origin.DEFAULT),
        *_table(table, (), config.toml, environ),
        *(Setting("requirement", pattern, Origin.BUILT_IN) for pattern in BUILT_IN_REQUIREMENTS),
    ]
    return tuple(_overridden(setting, given) for setting in settings)


def _table(table: Table, keys: Keys, toml: Toml, environ: Mapping[str, str]) -> Iterator[Setting]:
    nested: list[tuple[Keys, Table]] = []
    for name, field in fields_of(type(table)).items():
        value, below = getattr(table, field.name), (*keys, name)
        if isinstance(value, Table):
            nested.append((below, value))
        elif holds_tables(field.type):
            nested += [((*below, index), item) for index, item in enumerate(value)]
        else:
            is_template = any(option.is_template for option in options(field.type))
            yield _setting(below, value, is_template, toml, environ)
    for below, inner in nested:
        yield from _table(inner, below, toml, environ)


def _setting(keys: Keys, value: Any, is_template: bool, toml: Toml, environ: Mapping[str, str]) -> Setting:
    plain = to_builtins(value)
    written = _written(toml.values, keys)
    if written is None:
        return Setting(key_path(keys), plain, Origin.DEFAULT)
    variables = expand(written, environ).variables if is_template else ()
    return Setting(key_path(keys), plain, Origin.FILE, toml.path, toml.value_place(*keys).line, variables)


def _written(values: Any, keys: Keys) -> Any:
    """What stands in the file; TOML has no null, so None means that nothing does."""
    for key in keys:
        if isinstance(key, str) and key not in values:
            return None
        values = values[key]
    return values


def _overridden(setting: Setting, given: Mapping[str, Given]) -> Setting:
    if setting.key not in given:
        return setting
    option, value = given[setting.key]
    return Setting(setting.key, value, Origin.COMMAND_LINE, option=option)
