"""Reads requirement files of every form that TOML has, with every problem in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duvet import rules
from duvet.config.toml import Toml, TomlEncodingError, TomlError, parse
from duvet.model import Annotation, Format, Kind, Level, Problem, Source
from duvet.specs.requirement_checks import file_problems, table_problems
from duvet.specs.requirement_fields import FORMATS, LEVELS, TABLES, quote_of


def read_checked(path: str, data: bytes) -> tuple[list[Annotation], list[Problem]]:
    """The annotations of a requirement file in its order, and every problem of those that can't be read."""
    try:
        toml = parse(data, path)
    except TomlEncodingError as error:
        hint = "save the file as UTF-8"
        return [], [rules.FILE_NOT_UTF8.problem(error.message, path, error.place, hint=hint)]
    except TomlError as error:
        return [], [rules.REQUIREMENT_SYNTAX.problem(error.message, path, error.place)]
    return _read(toml)


def _read(toml: Toml) -> tuple[list[Annotation], list[Problem]]:
    ##= man/spec/trace.md#requirement-files
    ##% Each problem of a requirement file MUST be reported with its place.
    problems = list(file_problems(toml))
    inheritable = isinstance(toml.values.get("target"), str)
    annotations = []
    for name, index, table in _tables(toml.values):
        wrong = list(table_problems(toml, name, index, table))
        problems += wrong
        if not wrong and ("target" in table or inheritable):
            annotations.append(_annotation(toml, name, index, table))
    annotations.sort(key=lambda annotation: annotation.source.text)
    problems.sort(key=lambda problem: problem.sort_key)
    return annotations, problems


def _tables(values: dict[str, Any]) -> Iterator[tuple[str, int, Any]]:
    for name in TABLES:
        tables = values.get(name)
        if isinstance(tables, list):
            for index, table in enumerate(tables):
                yield name, index, table


def _annotation(toml: Toml, name: str, index: int, table: dict[str, Any]) -> Annotation:
    kind = TABLES[name]
    keys = (name, index)
    strings = {key: toml.string(*keys, key) for key, value in table.items() if isinstance(value, str)}
    ##= man/spec/trace.md#requirement-files
    ##% An entry without a target of its own MUST have the target of its file.
    target_keys = (*keys, "target") if "target" in table else ("target",)
    source = Source(*toml.value_span(*target_keys), *toml.value_span(*keys), *toml.value_span(*keys, "quote"))
    return Annotation(
        toml.path,
        toml.value_place(*keys).line,
        kind,
        toml.string(*target_keys),
        quote_of(strings["quote"]),
        LEVELS[strings["level"]] if "level" in strings else Level.AUTO,
        FORMATS[strings["format"]] if "format" in strings else Format.AUTO,
        strings["quote"] if kind is Kind.SPEC else strings.get("reason", ""),
        strings.get("feature", ""),
        strings.get("tracking-issue", strings.get("tracking_issue", "")),
        tuple(sorted(set(table.get("tags", ())))),
        from_file=True,
        source=source,
    )
