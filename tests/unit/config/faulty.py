"""Configurations that can't be read, and what is said of them."""

from __future__ import annotations

import pytest

from duvet.config.project_file import read_config
from duvet.errors import ProblemsError
from duvet.model import Problem

UPSTREAM = "https://awslabs.github.io/duvet/config/v0.4.0.json"
EXTENDED = "duvet-cli/config/v1"
PATH = ".duvet/config.toml"
EXTEND = f"this needs `'$schema' = \"{EXTENDED}\"`"


def problems(data: bytes) -> tuple[Problem, ...]:
    with pytest.raises(ProblemsError) as error:
        read_config(data, PATH, {})
    return error.value.problems


def found(text: str, schema: str = UPSTREAM) -> list[str]:
    """The problems of a file that begins with a schema, a line each: `place code message; hint`."""
    return [shown(problem) for problem in problems(f"'$schema' = \"{schema}\"\n{text}".encode())]


def shown(problem: Problem) -> str:
    place = f"{problem.place.line}:{problem.place.column}+{problem.place.width}"
    return f"{place} {problem.code} {problem.message}" + (f"; {problem.hint}" if problem.hint else "")
