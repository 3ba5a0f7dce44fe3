"""Values as JSON has them, no larger than they may be."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, islice
from typing import Any

from blake3 import blake3
from msgspec import json

from duvet.workflows.errors import UnresolvedError

DEEPEST = 64
_MOST_AT_ONCE = 1_000_000
"""Values that hold each other would never end."""
_SHOWN = 80


def plain(value: object, most_bytes: int, what: str) -> Any:
    """A copy of the value; UnresolvedError where it is not JSON, too deep or too large."""
    ##= man/spec/workflows.md#bounds
    ##% A value that is nested deeper than 64 levels, or is no JSON, MUST be refused.
    if is_deep(value):
        raise UnresolvedError(f"{what} is nested deeper than {DEEPEST} levels, or holds too many values")
    ##= man/spec/workflows.md#bounds
    ##% A result of more than 16 MB, and arguments, prompts or outputs of more than 1 MB, MUST be refused before they
    ##% are put together.
    if _is_larger(value, most_bytes):
        raise UnresolvedError(f"{what} has more than {most_bytes:,} bytes")
    try:
        data = _encoded(value)
    except ValueError as error:
        raise UnresolvedError(f"{what} has a number in it that is too long") from error
    except (TypeError, RecursionError) as error:
        raise UnresolvedError(f"{what} is no JSON: {error}") from error
    if len(data) > most_bytes:
        raise UnresolvedError(f"{what} has more than {most_bytes:,} bytes")
    return json.decode(data)


def is_deep(value: object) -> bool:
    """Whether it is nested too deeply to be looked through."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [*islice(chain.from_iterable(map(_inner, level)), _MOST_AT_ONCE + 1)]
        if len(level) > _MOST_AT_ONCE:
            return True
    return bool(level)


def _is_larger(value: object, most_bytes: int) -> bool:
    """Whether it takes more bytes as JSON for sure; what is not too deep is not written down to tell."""
    # One value may stand in it a thousand times, and take its bytes each time.
    left, level = most_bytes, [value]
    while level:
        for one in level:
            left -= _least(one)
            if left < 0:
                return True
        level = [*islice(chain.from_iterable(map(_inner, level)), left + 1)]
    return False


def _least(value: object) -> int:
    """Bytes that the value takes at least, besides those in it."""
    match value:
        case str():
            return len(value)
        case Mapping():
            return 1 + sum(len(key) for key in value if isinstance(key, str))
        case int():
            # Ten bits are three digits.
            return 1 + value.bit_length() * 3 // 10
    return 1


def size(value: object) -> int:
    """How many bytes the value takes as JSON."""
    return len(json.encode(value))


def digest(value: object) -> str:
    """What is the same for an equal value alone, of whatever records and plain values it is made."""
    return blake3(repr(value).encode(errors="replace")).hexdigest(length=8)


def as_text(value: object) -> str:
    """What stands for the value inside of a text: itself if it is one, else its JSON."""
    return value if isinstance(value, str) else json.encode(value).decode()


def shown(value: object) -> str:
    """The value for a message: the beginning of its JSON."""
    text = json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def same(one: object, other: object) -> bool:
    """Whether they are the same JSON."""
    ##= man/spec/workflows.md#results
    ##% What is compared MUST be compared as JSON: 1 is 1.0, and true is not 1.
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _inner(value: object) -> Any:
    match value:
        case Mapping():
            return value.values()
        case list() | tuple():
            return value
    return ()


def _encoded(value: object) -> bytes:
    try:
        return json.encode(value)
    except UnicodeEncodeError:
        return json.encode(_as_unicode(value))


def _as_unicode(value: Any) -> Any:
    """The value with a mark for each half of a character."""
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case Mapping():
            return {_as_unicode(key): _as_unicode(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_as_unicode(inner) for inner in value]
    return value
