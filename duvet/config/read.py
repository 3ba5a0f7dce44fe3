"""Reads a configuration file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert

from duvet import rules
from duvet.config.expressions import ExpressionError
from duvet.config.schema import BUILT_IN_REQUIREMENTS, Config
from duvet.config.tables import ConfigTable, SchemaName, UpstreamConfig
from duvet.config.toml import Toml, TomlEncodingError, TomlError, parse
from duvet.model import ProblemsError

Kind = TypeVar("Kind", bound=Struct)


def read_config(data: bytes, path: str, environ: Mapping[str, str]) -> Config:
    """The configuration in a file, or ProblemsError with everything that is wrong with it."""
    toml = _document(data, path)
    table = read_tables(toml, environ)
    return Config(
        path=path,
        schema=table.schema.value,
        extended=table.schema.means,
        sources=tuple(source.rule() for source in table.source),
        requirements=BUILT_IN_REQUIREMENTS + tuple(requirement.pattern for requirement in table.requirement),
        specifications=tuple(specification.rule() for specification in table.specification),
        report=table.report,
        toml=toml,
        not_applicable=table.not_owed(),
        page=table.page(),
        notes=table.notes(),
    )


def read_tables(toml: Toml, environ: Mapping[str, str]) -> ConfigTable:
    """The tables of a configuration, their defaults and variables filled in."""
    table = _table_type(toml)
    try:
        return as_table(toml.values, table).settled(environ)
    except (ValidationError, ExpressionError):
        from duvet.config.check import problems

        raise ProblemsError(problems(toml, table, environ)) from None


def as_table(values: dict[str, Any], table: type[Kind], dec_hook: Callable[[type, Any], Any] | None = None) -> Kind:
    """The values of a table as its record; ValidationError where they don't fit."""
    return convert(values, table, dec_hook=dec_hook)


def _document(data: bytes, path: str) -> Toml:
    try:
        return parse(data, path)
    except TomlError as error:
        is_text = not isinstance(error, TomlEncodingError)
        rule, hint = (rules.CONFIG_SYNTAX, "") if is_text else (rules.FILE_NOT_UTF8, "save the file as UTF-8")
        raise ProblemsError((rule.problem(error.message, path, error.place, hint=hint),)) from error


def _table_type(toml: Toml) -> type[ConfigTable]:
    """The tables of the file's schema; a file that names none is held against all that we know."""
    ##= man/spec/trace.md#configuration
    ##% A configuration with the schema of awslabs duvet MUST be read as awslabs duvet reads it.
    name = toml.values.get("$schema")
    if any(name == schema.value and not schema.means for schema in SchemaName):
        return UpstreamConfig
    from duvet.config.extended import ExtendedConfig

    return ExtendedConfig
