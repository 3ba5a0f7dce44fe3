"""What a word without quotes means in YAML: the core schema of YAML 1.2, in which `no` and dates are text."""

from __future__ import annotations

import re

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {**dict.fromkeys(("true", "True", "TRUE"), True), **dict.fromkeys(("false", "False", "FALSE"), False)}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_BASES = {"0o": 8, "0x": 16}


def meaning(word: str) -> str | int | float | bool | None:
    """The value of a word; ValueError where it is a number of too many digits."""
    ##= man/spec/service.md#configuration
    ##% In YAML, a word without quotes MUST mean what the core schema of YAML 1.2 says: `no` and `2027-12-31` are text.
    if word in _NULL:
        return None
    if word in _BOOLEANS:
        return _BOOLEANS[word]
    if _INTEGER.fullmatch(word):
        return int(word, _BASES.get(word[:2], 10))
    if _FLOAT.fullmatch(word):
        return float(word.replace(".", "", 1) if word[-1:] in "fFnN" else word)
    return word


def as_written(word: str) -> str | bool | None:
    """The same, but that numbers are the words that they are written as."""
    if _INTEGER.fullmatch(word) or _FLOAT.fullmatch(word):
        return word
    value = meaning(word)
    return value if isinstance(value, bool) or value is None else word
