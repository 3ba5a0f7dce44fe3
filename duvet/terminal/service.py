"""The configuration of the service for commands of the terminal."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec import DecodeError, ValidationError, convert, json, toml
from msgspec.structs import replace

from duvet.config.service.tables import ServiceConfig
from duvet.errors import DuvetError, UnreadableError
from duvet.tree.disk import DiskTree

_VARIABLES = ("DUVET_CONFIG", "CONTEXTIVE_CONFIG")
_STEMS = ("duvet.config", "contextive.config")
_ENDINGS = ("json", "yaml", "yml", "toml")


def service_of(given: str | None, environ: Mapping[str, str]) -> ServiceConfig:
    """The configuration that is named, or that stands in the working directory; the defaults where there is none."""
    path = given or next((environ[name] for name in _VARIABLES if environ.get(name)), None) or _standing()
    if path is None:
        return ServiceConfig()
    try:
        config = convert(_decoded(path, DiskTree().read(path)), ServiceConfig)
    except (ValidationError, DecodeError, UnicodeDecodeError) as error:
        raise UnreadableError(f"this is no configuration: {error}", path=path) from error
    return replace(
        config,
        providers={
            name: replace(section, api_key=_expanded(section.api_key, environ, path))
            for name, section in config.providers.items()
        },
    )


def _standing() -> str | None:
    names = (f"{stem}.{ending}" for stem in _STEMS for ending in _ENDINGS)
    return next((name for name in names if os.path.exists(name)), None)


def _decoded(path: str, data: bytes) -> Any:
    if path.endswith((".yaml", ".yml")):
        from msgspec import yaml

        return yaml.decode(data)
    return toml.decode(data) if path.endswith(".toml") else json.decode(data)


def _expanded(key: str | None, environ: Mapping[str, str], path: str) -> str | None:
    if key is None:
        return None
    name = key.strip("${}")
    if name not in environ:
        raise DuvetError(f"the environment has no variable {name}", path=path, hint=f"set {name}")
    return environ[name]
