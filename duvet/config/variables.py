"""`$NAME` and `${NAME}`, which stand for environment variables, and `$$`, which stands for a dollar."""

from __future__ import annotations

import re
from collections.abc import Mapping

from duvet.errors import DuvetError

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
VARIABLE = rf"^\$({_NAME}|\{{{_NAME}\}})$(?!\n)"
"""What a text is that is one variable; in JavaScript, too, which has no other sign for the end."""

_DOLLAR = re.compile(rf"\$(?:(?P<dollar>\$)|(?P<name>{_NAME})|\{{(?P<braced>{_NAME})\}}|)")
_CUSTOMARY = re.compile("[A-Z][A-Z0-9_]*")


class VariableError(DuvetError):
    """A text that has no value."""


def is_variable(text: str) -> bool:
    """Whether a text is one variable and nothing else."""
    return re.search(VARIABLE, text) is not None


def is_named(text: str) -> bool:
    """Whether a text is one variable with a name as people give it, rather than a password with a dollar."""
    return is_variable(text) and _CUSTOMARY.fullmatch(text.strip("${}")) is not None


def filled_in(text: str, environ: Mapping[str, str]) -> str:
    """The text with the values of its variables, which are not looked through again."""

    def value(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        name = found["name"] or found["braced"]
        if not name:
            raise VariableError("a `$` with no name after it", hint="write `$$` for a dollar, or `${NAME}`")
        return _value(name, environ)

    return _DOLLAR.sub(value, text)


def _value(name: str, environ: Mapping[str, str]) -> str:
    ##= man/spec/service.md#configuration
    ##% `$NAME` and `${NAME}` in a text that may hold them MUST become the value of that environment variable, and `$$` a
    ##% dollar; a variable that is not set MUST be an error with its place.
    # A password that begins with a dollar looks like a variable, but seldom like one that somebody has named.
    shown = f" `{name}`" if _CUSTOMARY.fullmatch(name) else ""
    value = environ.get(name)
    if value is None:
        raise VariableError(f"the environment variable{shown} is not set", hint="set it, or write `$$` for a dollar")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise VariableError(f"the environment variable{shown} is not UTF-8", hint="set it to text") from None
    return value
