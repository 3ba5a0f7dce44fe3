"""Finds and reads the configuration file of a project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert

from duvet import rules
from duvet.config.document import DocumentError
from duvet.config.settings import Config
from duvet.config.toml import TomlDocument, parse_toml_bytes
from duvet.config.upstream_tables import ConfigTable, SchemaName, UpstreamConfig
from duvet.config.variables import ExpressionError
from duvet.errors import ProblemsError, UnreadableError
from duvet.tree.files import Tree

CONFIG_PATH = ".duvet/config.toml"
# A limit for trees without a top folder.
_MOST_FOLDERS = 64


def find_config(tree: Tree, config_path: str | None = None) -> str | None:
    """Return the given path, or else that of this folder's configuration; None if it has none."""
    ##= man/spec/trace.md#configuration
    ##% duvet MUST read `.duvet/config.toml` unless another file is named, and `duvet report` SHOULD say where it
    ##% belongs when nothing is configured.
    if config_path:
        return config_path
    return CONFIG_PATH if tree.exists(CONFIG_PATH) else None


def require_config(tree: Tree, config_path: str | None = None) -> str:
    """Return the path of the configuration; UnreadableError with a hint if there is none."""
    found = find_config(tree, config_path)
    if found:
        return found
    above = find_parent_project(tree)
    hint = f"there is one in `{above}`: add `-C {above}`" if above else "write one with `duvet init`"
    raise UnreadableError("no configuration in this folder", path=CONFIG_PATH, hint=hint)


def find_parent_project(tree: Tree) -> str:
    """Return the nearest parent folder that has a configuration, such as `../..`; empty if none has."""
    folder, seen = "..", tree.identity(".")
    for _ in range(_MOST_FOLDERS):
        if not tree.exists(folder) or tree.identity(folder) == seen:
            return ""
        if tree.exists(f"{folder}/{CONFIG_PATH}"):
            return folder
        folder, seen = f"../{folder}", tree.identity(folder)
    return ""


RecordType = TypeVar("RecordType", bound=Struct)


def read_config(data: bytes, path: str, environ: Mapping[str, str]) -> Config:
    """Parse a configuration file, or raise ProblemsError with all of its problems."""
    try:
        toml = parse_toml_bytes(data, path)
    except DocumentError as error:
        rule, hint = (rules.CONFIG_SYNTAX, "") if error.is_text else (rules.FILE_NOT_UTF8, "save the file as UTF-8")
        raise ProblemsError((rule.problem(error.message, path, error.place, hint=hint),)) from error
    return read_tables(toml, environ).resolve(path, toml)


def read_tables(toml: TomlDocument, environ: Mapping[str, str]) -> ConfigTable:
    """Return the tables of a configuration, their defaults and variables filled in."""
    table = _select_table_type(toml)
    try:
        return build_table(toml.values, table).settled(environ)
    except (ValidationError, ExpressionError):
        from duvet.config.check import DocumentLocation, check_table, sort_problems

        raise ProblemsError(sort_problems(check_table(table, DocumentLocation(toml, environ)))) from None


def build_table(
    values: dict[str, Any], table: type[RecordType], dec_hook: Callable[[type, Any], Any] | None = None
) -> RecordType:
    """Convert the values of a table to its record; ValidationError if they don't fit."""
    return convert(values, table, dec_hook=dec_hook)


def _select_table_type(toml: TomlDocument) -> type[ConfigTable]:
    """Return the tables of the file's schema; a file that names no schema is checked against our own."""
    ##= man/spec/trace.md#configuration
    ##% duvet MUST read a configuration with the schema of awslabs duvet as awslabs duvet does, and accept the same keys
    ##% in its own schema.
    name = toml.values.get("$schema")
    if any(name == schema.value and not schema.means for schema in SchemaName):
        return UpstreamConfig
    from duvet.config.duvet_tables import ExtendedConfig

    return ExtendedConfig
