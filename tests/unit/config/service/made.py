"""Configurations of the service, as values and in every format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import yaml

from duvet.config.service import Service, load_service
from duvet.errors import ProblemsError
from duvet.model import Problem
from duvet.tree.files import MemoryTree

ENVIRON = {"KEY": "sk-hidden", "HOST": "kettle.example"}


def as_toml(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {as_toml(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value)


def written(document: Mapping[str, Any], ending: str) -> bytes:
    """The document in the format of that ending."""
    if ending == "json":
        return json.dumps(document).encode()
    if ending == "toml":
        return "".join(f"{json.dumps(key)} = {as_toml(value)}\n" for key, value in document.items()).encode()
    return yaml.encode(document)


def service(text: str | bytes, path: str = "duvet.config.yaml", **files: bytes) -> Service:
    """What is read of one file, which is found in the folder."""
    data = text.encode() if isinstance(text, str) else text
    return load_service(MemoryTree({path: data, **files}), ENVIRON)


def problems(text: str | bytes, path: str = "duvet.config.yaml") -> tuple[Problem, ...]:
    with pytest.raises(ProblemsError) as error:
        service(text, path)
    return error.value.problems


def found(text: str | bytes, path: str = "duvet.config.yaml") -> list[str]:
    """What is wrong with a file, a line each."""
    return [shown(problem) for problem in problems(text, path)]


def shown(problem: Problem) -> str:
    assert problem.is_private
    place = f"{problem.place.line}:{problem.place.column}+{problem.place.width}"
    return f"{place} {problem.code} {problem.message}" + (f"; {problem.hint}" if problem.hint else "")
