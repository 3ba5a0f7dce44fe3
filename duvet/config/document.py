"""The values and positions of a parsed file, the expansion of variables, and the wording of errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import date, datetime, time
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Place, Problem
from duvet.text import find_line_index, find_place, line_starts, quote_text, trim

KeyPath = tuple[str | int, ...]
TextSpan = tuple[int, int]


class KeySpans(Struct, frozen=True):
    """The positions of a key and its value; for a table with a header, the header counts as the value."""

    key: TextSpan
    value: TextSpan


SpanFinder = Callable[[str], dict[KeyPath, KeySpans]]


class DataDocument:
    def __init__(self, values: dict[str, Any], text: str, path: str, find_spans: SpanFinder) -> None:
        self.values = values
        self.text = text
        self.path = path
        self._find_spans = find_spans

    def value_place(self, *keys: str | int) -> Place:
        return self._place(self.value_span(*keys))

    def key_place(self, *keys: str | int) -> Place:
        return self._place(self.spans[keys].key if keys in self.spans else self.value_span(*keys))

    def value_span(self, *keys: str | int) -> TextSpan:
        while keys:
            if spans := self.spans.get(keys):
                return spans.value
            keys = keys[:-1]
        return (0, 0)

    def replace_values(self, values: dict[str, Any], renamed: Mapping[KeyPath, str] | None = None) -> Self:
        """Positions still refer to the original text."""
        result, names = copy(self), renamed or {}
        result.__dict__.pop("spans", None)
        result.values = values
        result._find_spans = lambda _: {
            tuple(names.get(keys[: end + 1], key) for end, key in enumerate(keys)): spans
            for keys, spans in self.spans.items()
        }
        return result

    def locate(self, *keys: str | int) -> DocumentLocation:
        return DocumentLocation(self, {}, keys, is_private=True)

    def _place(self, span: TextSpan) -> Place:
        start, end = span
        line = find_line_index(self._starts, start)
        return Place(line + 1, start - self._starts[line] + 1, max(1, min(end, self._starts[line + 1] - 1) - start))

    @cached_property
    def spans(self) -> dict[KeyPath, KeySpans]:
        return self._find_spans(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [*line_starts(self.text), len(self.text) + 1]


def format_key_path(keys: Iterable[str | int]) -> str:
    parts = (
        f"[{key}]"
        if isinstance(key, int)
        else f".{key if key.replace('-', '_').replace('$', '_').isidentifier() else quote_text(key)}"
        for key in keys
    )
    return "".join(parts).removeprefix(".")


class DocumentLocation(NamedTuple):
    document: DataDocument
    environ: Mapping[str, str]
    keys: tuple[str | int, ...] = ()
    is_private: bool = False
    """True if the file may contain secrets; problems then show the key's path instead of the line."""

    def __truediv__(self, key: str | int) -> DocumentLocation:
        return self._replace(keys=(*self.keys, key))

    @property
    def place(self) -> Place:
        return self.document.value_place(*self.keys)

    def problem(self, rule: rules.Rule, message: str, hint: str = "", *, at_key: bool = False) -> Problem:
        place = self.document.key_place(*self.keys) if at_key else self.place
        if not self.is_private:
            return rule.problem(message, self.document.path, place, hint=hint)
        ##= man/spec/service.md#configuration
        ##% duvet MUST list all problems of a configuration at once, each with its line, column and key path.
        path = f"{format_key_path(self.keys)}: " if self.keys else ""
        return replace(rule.problem(path + message, self.document.path, place, hint=hint), is_private=True)


class DocumentError(DuvetError):
    # The message quotes no values, because they may be secret.
    def __init__(self, message: str, path: str, place: Place, hint: str = "", *, is_text: bool = True) -> None:
        super().__init__(message, path=path, line=place.line, hint=hint if is_text else "save the file as UTF-8")
        self.place = place
        self.is_text = is_text
        """False if the file is not UTF-8."""

    def make_problem(self, rule: rules.Rule = rules.CONFIG_SYNTAX) -> Problem:
        rule = rule if self.is_text else rules.FILE_NOT_UTF8
        return rule.problem(self.message, self.path, self.place, hint=self.hint)


class DocumentDraft:
    def __init__(self, text: str, path: str, format: str) -> None:
        self.text = text
        self.path = path
        self.format = format

    def make_syntax_error(self, reason: str, place: Place | int, *, is_text: bool = True) -> DocumentError:
        if isinstance(place, int):
            place = find_place(self.text, place, place)
        at = f"at line {place.line}, column {place.column}"
        return DocumentError(f"{self.format} parse error {at}: {reason}", self.path, place, is_text=is_text)

    def make_unsupported_error(self, message: str, start: int, end: int, hint: str = "") -> DocumentError:
        return DocumentError(message, self.path, find_place(self.text, start, end), hint)

    def make_duplicate_error(self, name: str, start: int, end: int, first: int) -> DocumentError:
        before = find_place(self.text, first, first)
        message = f"duplicate key `{name}`, first set at line {before.line}, column {before.column}"
        return self.make_unsupported_error(message, start, end, "remove one of them")


MAX_DOCUMENT_BYTES = 1 << 20
MAX_DOCUMENT_LEVELS = 64
_MAX_VALUES = 100_000
_MAX_CHARACTERS = 4 << 20
TOO_DEEP = f"nested too deeply: the limit is {MAX_DOCUMENT_LEVELS} levels"


def check_document_size(document: DataDocument) -> None:
    values, characters = _MAX_VALUES, _MAX_CHARACTERS
    pending: list[tuple[KeyPath, Any]] = [((), document.values)]
    while pending:
        keys, value = pending.pop()
        values -= 1
        characters -= len(keys[-1]) if keys and isinstance(keys[-1], str) else 0
        if isinstance(value, str):
            characters -= len(value)
        elif isinstance(value, int):
            # Each digit counts; ten bits are three digits.
            characters -= value.bit_length() * 3 // 10
        ##= man/spec/service.md#configuration
        ##% duvet MUST refuse a service configuration or recipe that is larger than 1 MiB, that is nested more than
        ##% 64 levels deep, or whose aliases expand to more than 100,000 values.
        message = ""
        if not values:
            message = f"too many values: the limit is {_MAX_VALUES:,}"
        elif characters < 0:
            message = f"too many characters in strings and keys: the limit is {_MAX_CHARACTERS:,}"
        elif isinstance(value, dict | list) and len(keys) >= MAX_DOCUMENT_LEVELS:
            message = TOO_DEEP
        if message:
            raise DocumentError(message, document.path, document.value_place(*keys))
        if isinstance(value, dict | list):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            # The values beyond the limit are never checked.
            pending += [((*keys, key), item) for key, item in islice(items, values)][::-1]


class ExpressionError(DuvetError):
    pass


def expand_template(template: str, environ: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    head, *parts = template.split("${{")
    texts, variables = [head], dict[str, None]()
    for part in parts:
        expression, closed, rest = part.partition("}}")
        if not closed:
            raise ExpressionError('expected "}}"', hint="close the expression: `${{ NAME }}`")
        value, variable = _evaluate(expression, environ)
        texts += [value, rest]
        if variable:
            variables[variable] = None
    return "".join(texts), tuple(variables)


def _evaluate(expression: str, environ: Mapping[str, str]) -> tuple[str, str]:
    names = []
    for name in map(trim, expression.split("||")):
        if name.startswith("'"):
            return name[1:].rstrip("'"), ""
        value = environ.get(name)
        if value is not None and _is_text(value):
            return value, name
        names.append(f"`{name}`")
    hint = f"set the environment variable {' or '.join(names)}, or add a default: `|| 'text'`"
    if names == ["``"]:
        hint = "write the name of an environment variable, a string in single quotes, or both: `${{ NAME || 'text' }}`"
    raise ExpressionError(f"failed to evaluate expression: {quote_text(expression)}", hint=hint)


def _is_text(value: str) -> bool:
    # Bytes that aren't UTF-8 reach Python as lone surrogates.
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


_NAME = "[A-Za-z_][A-Za-z0-9_]*"
VARIABLE_PATTERN = rf"^\$({_NAME}|\{{{_NAME}\}})$(?!\n)"
"""Matches exactly one variable, in Python and in JavaScript, which has no `\\Z`."""

_DOLLAR = rf"\$(?:(?P<dollar>\$)|(?P<name>{_NAME})|\{{(?P<braced>{_NAME})(?::-(?P<default>[^{{}}]*))?\}}|)"
CONVENTIONAL_NAME = "[A-Z][A-Z0-9_]*"
"""The usual form of a variable's name; few passwords look like that."""


def is_variable(text: str) -> bool:
    return re.search(VARIABLE_PATTERN, text) is not None


def expand_variables(text: str, environ: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        name = found["name"] or found["braced"]
        if not name:
            raise ExpressionError("`$` is not followed by a name", hint="write `$$` for a dollar sign, or `${NAME}`")
        ##= man/spec/service.md#configuration
        ##% In a service configuration, duvet MUST replace `$NAME` and `${NAME}` with the value of the environment
        ##% variable, and `${NAME:-default}` with the default if the variable is unset or empty.
        if found["default"] is not None and not environ.get(name):
            return found["default"]
        # A password that begins with `$` looks like a variable, but rarely like one with a common name.
        variable = "the environment variable" + (f" `{name}`" if re.fullmatch(CONVENTIONAL_NAME, name) else "")
        if name not in environ:
            raise ExpressionError(f"{variable} is not set", hint="set it, or write `$$` for a dollar sign")
        if not _is_text(environ[name]):
            raise ExpressionError(f"{variable} is not UTF-8", hint="set it to UTF-8 text")
        return environ[name]

    return re.sub(_DOLLAR, value, text)


def describe_unknown_field(name: str, known: Sequence[str], *, noun: str = "field") -> str:
    names = [f"`{one}`" for one in known]
    expected = f"one of {', '.join(names)}" if len(names) > 2 else " or ".join(names)
    return f"unknown {noun} `{name}`, {f'expected {expected}' if names else 'there are no fields'}"


def describe_invalid_type(value: Any, expected: str) -> str:
    return f"invalid type: {describe_value(value)}, expected {expected}"


def describe_value(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            # Python refuses to convert integers with thousands of digits to text.
            return f"integer `{value}`" if value.bit_length() < 64 else "integer"
        case float():
            return f"floating point `{value}`"
        case str():
            return f"string {quote_text(value)}"
        case datetime() | date() | time():
            return "datetime"
        case list():
            return "sequence"
        case _:
            return "map"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_lower, 1)
    return f"did you mean `{by_lower[near[0]]}`?" if near else ""
