"""The settings of a configuration as a table for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from duvet.config.explain import Origin, Setting


def render(settings: Iterable[Setting], out: IO[str]) -> None:
    """One line a setting: its key, its value and where that comes from."""
    rows = [(setting.key, _value(setting.value), _origin(setting)) for setting in settings]
    keys = max((len(key) for key, _, _ in rows), default=0)
    values = max((len(value) for _, value, _ in rows), default=0)
    for key, value, origin in rows:
        out.write(f"{key:{keys}}  {value:{values}}  {origin}\n")


def _value(value: Any) -> str:
    match value:
        case None | [] | "":
            return "-"
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(value)
    return str(value)


def _origin(setting: Setting) -> str:
    match setting.origin:
        case Origin.FILE:
            place = f"{setting.path}:{setting.line}"
            return " ".join([place, *(f"${variable}" for variable in setting.variables)])
        case Origin.COMMAND_LINE:
            return setting.option
    return setting.origin.value
