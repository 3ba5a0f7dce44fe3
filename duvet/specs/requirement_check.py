"""Reads requirement files in any form of TOML, and reports every problem in them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from duvet import rules
from duvet.config import fields
from duvet.config.document import DocumentError
from duvet.config.toml import TomlDocument, parse_toml_bytes
from duvet.model import Annotation, Kind, Problem, Source
from duvet.specs.requirement_files import (
    FIELDS_BY_KIND,
    FORMATS_BY_NAME,
    LEVELS_BY_NAME,
    REQUIRED_FIELDS,
    REQUIREMENT_TABLES,
    TOP_LEVEL_KEYS,
    make_entry_annotation,
)
from duvet.text import quote_text

_ONLY_IN_COMMENTS = ("citation", "implementation", "implication", "test")
_CHOICES: dict[str, tuple[str, Collection[str], str]] = {
    "level": ("annotation level", LEVELS_BY_NAME, '["AUTO", "MUST", "SHOULD", "MAY"]'),
    "format": ("spec type", FORMATS_BY_NAME, '["auto", "ietf", "markdown"]'),
}


def check_requirement_file(toml: TomlDocument) -> Iterator[Problem]:
    spelt: dict[Kind, str] = {}
    for name, value in toml.values.items():
        if name == "target":
            yield from _check_type(toml, ("target",), value, str, "a string")
        elif name in REQUIREMENT_TABLES:
            if not isinstance(value, list):
                hint = f"write `[[{name}]]` with double brackets" if isinstance(value, dict) else ""
                message = fields.describe_invalid_type(value, "a sequence")
                yield rules.REQUIREMENT_WRONG_TYPE.problem(message, toml.path, toml.value_place(name), hint=hint)
            kind = REQUIREMENT_TABLES[name]
            if spelt.setdefault(kind, name) != name:
                message = f"duplicate field `{kind.name.lower()}s`"
                hint = f"keep either [[{spelt[kind]}]] or [[{name}]]"
                yield rules.REQUIREMENT_REPEATED_KEY.problem(message, toml.path, toml.value_place(name), hint=hint)
        else:
            hint = fields.did_you_mean(name, TOP_LEVEL_KEYS)
            if name in _ONLY_IN_COMMENTS:
                hint = (
                    "requirement files can only contain [[spec]], [[exception]] and [[todo]]; "
                    f"write the {name} as a comment in the source"
                )
            message = fields.describe_unknown_field(name, TOP_LEVEL_KEYS)
            yield rules.REQUIREMENT_UNKNOWN_KEY.problem(message, toml.path, toml.key_place(name), hint=hint)


def check_requirement_table(toml: TomlDocument, name: str, index: int, table: Any) -> Iterator[Problem]:
    if not isinstance(table, dict):
        yield from _check_type(toml, (name, index), table, dict, "a table")
        return
    kind = REQUIREMENT_TABLES[name]
    for key, value in table.items():
        yield from _check_fields(toml, kind, (name, index, key), value)
    if "tracking-issue" in table and "tracking_issue" in table:
        message, place = ("duplicate field `tracking_issue`", toml.key_place(name, index, "tracking_issue"))
        hint = "keep either `tracking-issue` or `tracking_issue`"
        yield rules.REQUIREMENT_REPEATED_KEY.problem(message, toml.path, place, hint=hint)
    place = toml.value_place(name, index)
    for key in REQUIRED_FIELDS[kind]:
        if key not in table:
            yield rules.REQUIREMENT_MISSING_KEY.problem(f"missing field `{key}`", toml.path, place)
    if "target" not in table and "target" not in toml.values:
        hint = 'add `target = "specification#section"` here, or at the top of the file for all its tables'
        yield rules.REQUIREMENT_MISSING_KEY.problem("missing target", toml.path, place, hint=hint)


def _check_fields(toml: TomlDocument, kind: Kind, keys: tuple[str, int, str], value: Any) -> Iterator[Problem]:
    key = keys[2]
    known = FIELDS_BY_KIND[kind]
    if key not in known:
        message, hint = fields.describe_unknown_field(key, known), fields.did_you_mean(key, known)
        yield rules.REQUIREMENT_UNKNOWN_KEY.problem(message, toml.path, toml.key_place(*keys), hint=hint)
    elif key == "tags":
        yield from _check_type(toml, keys, value, list, "a sequence")
        for index, tag in enumerate(value if isinstance(value, list) else ()):
            yield from _check_type(toml, (*keys, index), tag, str, "a string")
    elif not isinstance(value, str):
        yield from _check_type(toml, keys, value, str, "a string")
    elif key in _CHOICES and value not in _CHOICES[key][1]:
        noun, names, expected = _CHOICES[key]
        message = f"Invalid {noun} {quote_text(value)}, expected one of {expected}"
        hint, place = fields.did_you_mean(value, names), toml.value_place(*keys)
        yield rules.REQUIREMENT_BAD_VALUE.problem(message, toml.path, place, label=f"unknown {noun}", hint=hint)


def _check_type(
    toml: TomlDocument, keys: tuple[str | int, ...], value: Any, type: type, noun: str
) -> Iterator[Problem]:
    if not isinstance(value, type):
        message = fields.describe_invalid_type(value, noun)
        yield rules.REQUIREMENT_WRONG_TYPE.problem(message, toml.path, toml.value_place(*keys))


def read_requirements_checked(path: str, data: bytes) -> tuple[list[Annotation], list[Problem]]:
    try:
        toml = parse_toml_bytes(data, path)
    except DocumentError as error:
        return [], [error.make_problem(rules.REQUIREMENT_SYNTAX)]
    problems = list(check_requirement_file(toml))
    inheritable = isinstance(toml.values.get("target"), str)
    annotations = []
    for name in REQUIREMENT_TABLES:
        tables = toml.values.get(name)
        for index, table in enumerate(tables if isinstance(tables, list) else ()):
            keys = (name, index)
            own = list(check_requirement_table(toml, name, index, table))
            problems += own
            if own or not ("target" in table or inheritable):
                continue
            strings = {key: toml.string(*keys, key) for key, value in table.items() if isinstance(value, str)}
            target = (*keys, "target") if "target" in table else ("target",)
            strings["target"] = toml.string(*target)
            source = Source(*toml.value_span(*target), *toml.value_span(*keys), *toml.value_span(*keys, "quote"))
            line, tags = toml.value_place(*keys).line, tuple(sorted(set(table.get("tags", ()))))
            annotations.append(make_entry_annotation(path, line, REQUIREMENT_TABLES[name], strings, tags, source))
    annotations.sort(key=lambda annotation: annotation.source.text)
    problems.sort(key=lambda problem: problem.sort_key)
    return annotations, problems
