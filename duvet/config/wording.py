"""How wrong keys and values of files are worded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from typing import Any

from duvet.text import quoted


def unknown_field(name: str, known: Sequence[str]) -> str:
    """A key that doesn't belong here."""
    return f"unknown field `{name}`, {_expected(known)}"


def missing_field(name: str) -> str:
    """A key that has to be here."""
    return f"missing field `{name}`"


def duplicate_field(name: str) -> str:
    """A key that stands here twice, spelt in different ways."""
    return f"duplicate field `{name}`"


def unknown_variant(value: str, known: Sequence[str]) -> str:
    """A string that isn't one of those that may stand here."""
    return f"unknown variant `{value}`, {_expected(known)}"


def invalid_type(value: Any, expected: str) -> str:
    """A value of another type than `expected`, which names one with its article: `a string`."""
    return f"invalid type: {described(value)}, expected {expected}"


def described(value: Any) -> str:
    """A value of a file: its type and, where it is short, itself."""
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            # Python refuses to write out integers of thousands of digits.
            return f"integer `{value}`" if value.bit_length() < 64 else "integer"
        case float():
            return f"floating point `{value}`"
        case str():
            return f"string {quoted(value)}"
        case datetime() | date() | time():
            return "datetime"
        case list():
            return "sequence"
        case _:
            return "map"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question that names the known word nearest to this one; nothing where none is near."""
    ##= man/spec/trace.md#configuration
    ##% A problem with a misspelt key SHOULD name the key that was meant.
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_lower, 1)
    return f"did you mean `{by_lower[near[0]]}`?" if near else ""


def _expected(names: Sequence[str]) -> str:
    if len(names) <= 2:
        return f"expected {' or '.join(f'`{name}`' for name in names)}" if names else "there are no fields"
    return f"expected one of {', '.join(f'`{name}`' for name in names)}"
