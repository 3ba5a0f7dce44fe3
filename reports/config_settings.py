"""The settings of a configuration as a table or as JSON, and its schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from duvet.config.explain import Origin, Setting
from duvet.reports.cells import visible
from duvet.reports.json_document import document


def render_table(settings: Iterable[Setting], out: BinaryIO) -> None:
    """One line a setting: its key, its value and where that comes from."""
    rows = [(setting.key, _value(setting.value), _origin(setting)) for setting in settings]
    keys = max((len(key) for key, _, _ in rows), default=0)
    values = max((len(value) for _, value, _ in rows), default=0)
    out.writelines(f"{key:{keys}}  {value:{values}}  {origin}\n".encode() for key, value, origin in rows)


def render_json(settings: Iterable[Setting], out: BinaryIO) -> None:
    """An array of settings."""
    out.write(document(list(settings)))


def render_schema(schema: Mapping[str, Any], out: BinaryIO) -> None:
    """A JSON Schema."""
    out.write(document(schema))


FORMATS = {"table": render_table, "json": render_json}


def _value(value: str | bool | int | tuple[str, ...] | None) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case tuple():
            return visible(", ".join(value)) or "-"
    ##= man/spec/trace.md#diagnostics
    ##% Text from files MUST NOT drive the terminal.
    return visible(value or "-")


def _origin(setting: Setting) -> str:
    match setting.origin:
        case Origin.FILE:
            place = f"{setting.path}:{setting.line}"
            return " ".join([place, *(f"${variable}" for variable in setting.variables)])
        case Origin.COMMAND_LINE:
            return setting.option
    return setting.origin.value
