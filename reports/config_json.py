"""The settings of a configuration, and its schema, as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

from msgspec import json

from duvet.config.explain import Setting


def render(settings: Iterable[Setting], out: IO[str]) -> None:
    """An array of settings."""
    out.write(json.format(json.encode(list(settings)), indent=2).decode() + "\n")


def render_schema(schema: Mapping[str, Any], out: IO[str]) -> None:
    """A JSON Schema."""
    out.write(json.format(json.encode(schema), indent=2).decode() + "\n")
