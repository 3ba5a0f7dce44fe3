import json
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from msgspec import yaml

from duvet.config.project_file import read_config
from duvet.config.service import Service, load_service
from duvet.errors import ProblemsError
from duvet.model import Problem
from duvet.tree.files import MemoryTree

UPSTREAM = "https://awslabs.github.io/duvet/config/v0.4.0.json"
EXTENDED = "duvet-cli/config/v1"
PATH = ".duvet/config.toml"
ENVIRON = {"KEY": "sk-hidden", "HOST": "kettle.example"}


def as_toml(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {as_toml(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value)


def encode(document: Mapping[str, Any], ending: str) -> bytes:
    if ending == "json":
        return json.dumps(document).encode()
    if ending == "toml":
        return "".join(f"{json.dumps(key)} = {as_toml(value)}\n" for key, value in document.items()).encode()
    return yaml.encode(document)


def show(problem: Problem) -> str:
    place = f"{problem.place.line}:{problem.place.column}+{problem.place.width}"
    return f"{place} {problem.code} {problem.message}" + (f"; {problem.hint}" if problem.hint else "")


def project_problems(data: bytes) -> tuple[Problem, ...]:
    with pytest.raises(ProblemsError) as error:
        read_config(data, PATH, {})
    return error.value.problems


def load(text: str | bytes, path: str = "duvet.config.yaml") -> Service:
    return load_service(MemoryTree({path: text.encode() if isinstance(text, str) else text}), ENVIRON)


def service_problems(text: str | bytes, path: str = "duvet.config.yaml") -> tuple[Problem, ...]:
    with pytest.raises(ProblemsError) as error:
        load(text, path)
    assert all(problem.is_private for problem in error.value.problems)
    return error.value.problems


def show_service_problems(text: str | bytes, path: str = "duvet.config.yaml") -> list[str]:
    return [show(problem) for problem in service_problems(text, path)]
