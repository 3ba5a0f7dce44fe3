"""What is wrong in a requirement file, in awslabs duvet's words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from duvet import rules
from duvet.config import wording
from duvet.config.toml import Toml
from duvet.model import Kind, Problem
from duvet.specs.requirement_fields import FIELDS, FORMATS, LEVELS, REQUIRED, TABLES, TOP
from duvet.text import quoted

_Key = str | int
_ONLY_IN_COMMENTS = ("citation", "implementation", "implication", "test")
_CHOICES: dict[str, tuple[str, Collection[str], str]] = {
    "level": ("annotation level", LEVELS, '["AUTO", "MUST", "SHOULD", "MAY"]'),
    "format": ("spec type", FORMATS, '["auto", "ietf", "markdown"]'),
}


def file_problems(toml: Toml) -> Iterator[Problem]:
    """The problems of the top level of a file."""
    spelt: dict[Kind, str] = {}
    for name, value in toml.values.items():
        if name == "target":
            yield from _type_problems(toml, ("target",), value, str, "a string")
        elif name in TABLES:
            yield from _array_problems(toml, name, value)
            if spelt.setdefault(TABLES[name], name) != name:
                yield _repeated(toml, name, plural=f"{TABLES[name].name.lower()}s", other=spelt[TABLES[name]])
        else:
            hint = _comment_hint(name) if name in _ONLY_IN_COMMENTS else wording.did_you_mean(name, TOP)
            message = wording.unknown_field(name, TOP)
            yield rules.REQUIREMENT_UNKNOWN_KEY.problem(message, toml.path, toml.key_place(name), hint=hint)


def table_problems(toml: Toml, name: str, index: int, table: Any) -> Iterator[Problem]:
    """The problems of one `[[spec]]`, `[[exception]]` or `[[todo]]`."""
    if not isinstance(table, dict):
        yield from _type_problems(toml, (name, index), table, dict, "a table")
        return
    kind = TABLES[name]
    for key, value in table.items():
        yield from _field_problems(toml, kind, (name, index, key), value)
    if "tracking-issue" in table and "tracking_issue" in table:
        message, place = wording.duplicate_field("tracking_issue"), toml.key_place(name, index, "tracking_issue")
        hint = "keep one of `tracking-issue` and `tracking_issue`"
        yield rules.REQUIREMENT_REPEATED_KEY.problem(message, toml.path, place, hint=hint)
    yield from _missing(toml, (name, index), [key for key in REQUIRED[kind] if key not in table])
    if "target" not in table and "target" not in toml.values:
        hint = 'write `target = "specification#section"` here, or above all tables for the whole file'
        place = toml.value_place(name, index)
        yield rules.REQUIREMENT_MISSING_KEY.problem("missing target", toml.path, place, hint=hint)


def _field_problems(toml: Toml, kind: Kind, keys: tuple[str, int, str], value: Any) -> Iterator[Problem]:
    key = keys[2]
    if key not in FIELDS[kind]:
        message, hint = wording.unknown_field(key, FIELDS[kind]), wording.did_you_mean(key, FIELDS[kind])
        yield rules.REQUIREMENT_UNKNOWN_KEY.problem(message, toml.path, toml.key_place(*keys), hint=hint)
    elif key == "tags":
        yield from _type_problems(toml, keys, value, list, "a sequence")
        for index, tag in enumerate(value if isinstance(value, list) else ()):
            yield from _type_problems(toml, (*keys, index), tag, str, "a string")
    elif not isinstance(value, str):
        yield from _type_problems(toml, keys, value, str, "a string")
    elif key in _CHOICES and value not in _CHOICES[key][1]:
        noun, known, expected = _CHOICES[key]
        message, hint = (
            f"Invalid {noun} {quoted(value)}, expected one of {expected}",
            wording.did_you_mean(value, known),
        )
        place = toml.value_place(*keys)
        yield rules.REQUIREMENT_BAD_VALUE.problem(message, toml.path, place, label="defined here", hint=hint)


def _type_problems(toml: Toml, keys: tuple[_Key, ...], value: Any, wanted: type, noun: str) -> Iterator[Problem]:
    if not isinstance(value, wanted):
        message = wording.invalid_type(value, noun)
        yield rules.REQUIREMENT_WRONG_TYPE.problem(message, toml.path, toml.value_place(*keys))


def _array_problems(toml: Toml, name: str, value: Any) -> Iterator[Problem]:
    if not isinstance(value, list):
        hint = f"write [[{name}]], in double brackets" if isinstance(value, dict) else ""
        message = wording.invalid_type(value, "a sequence")
        yield rules.REQUIREMENT_WRONG_TYPE.problem(message, toml.path, toml.value_place(name), hint=hint)


def _repeated(toml: Toml, name: str, *, plural: str, other: str) -> Problem:
    message, hint = wording.duplicate_field(plural), f"keep one of [[{other}]] and [[{name}]]"
    return rules.REQUIREMENT_REPEATED_KEY.problem(message, toml.path, toml.value_place(name), hint=hint)


def _missing(toml: Toml, keys: tuple[_Key, ...], names: Iterable[str]) -> Iterator[Problem]:
    for name in names:
        message = wording.missing_field(name)
        yield rules.REQUIREMENT_MISSING_KEY.problem(message, toml.path, toml.value_place(*keys))


def _comment_hint(name: str) -> str:
    return f"a requirement file has [[spec]], [[exception]] and [[todo]]; write the {name} as a comment in the source"
