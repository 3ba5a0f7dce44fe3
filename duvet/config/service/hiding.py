"""Secrets that are written down in a file: no problem of that file repeats them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import inspect
from msgspec.structs import replace

from duvet.config.fields import options
from duvet.config.secret import Secret
from duvet.config.variables import is_named
from duvet.model import Problem
from duvet.text import quoted

_HIDDEN = "***"
_SHORTEST = 4
"""Anything shorter stands in many words; it is a value where it stands between quotes alone."""
_SHOWN_BITS = 64
"""Larger integers are not told."""
_MOST = 100
"""To look for more of them would take long."""
_UNTOLD = "what is wrong here is told once fewer secrets are written down in this file"


def hiding(found: Iterable[Problem], kind: inspect.Type, values: Any) -> list[Problem]:
    """The problems, without what the values of a file of that type have for secrets."""
    problems = list(found)
    secrets = set(_secrets(kind, values)) if problems else set()
    if not secrets:
        return problems
    if len(secrets) > _MOST:
        return [replace(one, message=_UNTOLD, hint="") for one in problems]
    written = {piece for secret in secrets for piece in _spellings(secret)}
    ##= man/spec/service.md#configuration
    ##% What is written in the place of a secret MUST NOT be shown of another place either.
    pieces = re.compile("|".join(map(re.escape, sorted(written, key=len, reverse=True))))
    return [
        replace(one, message=pieces.sub(_HIDDEN, one.message), hint=pieces.sub(_HIDDEN, one.hint)) for one in problems
    ]


def _secrets(kind: inspect.Type, value: Any) -> Iterator[str]:
    """The texts and numbers that stand where the types want a secret."""
    for choice in options(kind):
        match choice.type, value:
            case inspect.CustomType(cls=wanted), _ if wanted is Secret:
                yield from _leaves(value)
            case inspect.StructType(fields=fields), dict():
                for field in fields:
                    yield from _secrets(field.type, value.get(field.encode_name))
            case inspect.DictType(value_type=inner), dict():
                for one in value.values():
                    yield from _secrets(inner, one)
            case inspect.VarTupleType(item_type=item), list():
                for one in value:
                    yield from _secrets(item, one)


def _leaves(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                yield name
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case str() if value and not is_named(value):
            yield value
        case int() if value.bit_length() < _SHOWN_BITS and not isinstance(value, bool):
            yield str(value)
        case float():
            yield str(value)


def _spellings(secret: str) -> Iterator[str]:
    """How messages write it."""
    shown = quoted(secret)
    yield from (shown, f"`{secret}`")
    if len(secret) >= _SHORTEST:
        yield from (secret, shown[1:-1])
