"""Environment variables and `${{ … }}` expressions in configuration values."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.text import quote_text, trim

_OPEN, _CLOSE, _OR, _QUOTE = "${{", "}}", "||", "'"


class ExpressionError(DuvetError):
    """A template can't be evaluated."""


class TemplateExpansion(Struct, frozen=True):
    """The value of a template, and the variables that it was made of."""

    text: str
    variables: tuple[str, ...] = ()


def expand_template(template: str, environ: Mapping[str, str]) -> TemplateExpansion:
    """Replace each expression in a template by its value."""
    head, *parts = template.split(_OPEN)
    texts, variables = [head], []
    for part in parts:
        expression, closed, rest = part.partition(_CLOSE)
        if not closed:
            raise ExpressionError(f'expected "{_CLOSE}"', hint="close the expression: `${{ NAME }}`")
        value, variable = _evaluate(expression, environ)
        texts += [value, rest]
        variables += [variable] if variable else []
    return TemplateExpansion("".join(texts), tuple(dict.fromkeys(variables)))


def _evaluate(expression: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the first alternative that has a value, and the variable that it is from."""
    names = []
    ##= man/spec/trace.md#configuration
    ##% duvet MUST replace `${{ A || B || 'text' }}` in a link by the first of these that is set.
    for alternative in expression.split(_OR):
        name = trim(alternative)
        if name.startswith(_QUOTE):
            return name[1:].rstrip(_QUOTE), ""
        value = environ.get(name)
        if value is not None and _is_text(value):
            return value, name
        names.append(f"`{name}`")
    hint = f"set the environment variable {' or '.join(names)}, or end with a text in quotes: `|| 'text'`"
    if names == ["``"]:
        hint = "name an environment variable or a text: `${{ NAME || 'text' }}`"
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
"""Matches exactly one variable; also in JavaScript, which has no other sign for the end of the text."""

_DOLLAR = re.compile(rf"\$(?:(?P<dollar>\$)|(?P<name>{_NAME})|\{{(?P<braced>{_NAME})\}}|)")
_CUSTOMARY = re.compile("[A-Z][A-Z0-9_]*")


class VariableError(DuvetError):
    """A variable can't be expanded."""


def is_variable(text: str) -> bool:
    """Check for a text that is one variable and nothing else."""
    return re.search(VARIABLE_PATTERN, text) is not None


def is_named(text: str) -> bool:
    """Check for a variable with a customary name, rather than a password that begins with a dollar."""
    return is_variable(text) and _CUSTOMARY.fullmatch(text.strip("${}")) is not None


def expand_variables(text: str, environ: Mapping[str, str]) -> str:
    """Replace the variables in a text by their values, in which nothing is replaced again."""

    def value(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        name = found["name"] or found["braced"]
        if not name:
            raise VariableError("a `$` with no name after it", hint="write `$$` for a dollar, or `${NAME}`")
        return _look_up(name, environ)

    return _DOLLAR.sub(value, text)


def _look_up(name: str, environ: Mapping[str, str]) -> str:
    ##= man/spec/service.md#configuration
    ##% duvet MUST replace `$NAME` and `${NAME}` by environment variables and `$$` by a dollar, and report a variable
    ##% that is not set with its place.
    # A password that begins with a dollar looks like a variable, but rarely like one with a customary name.
    shown = f" `{name}`" if _CUSTOMARY.fullmatch(name) else ""
    value = environ.get(name)
    if value is None:
        raise VariableError(f"the environment variable{shown} is not set", hint="set it, or write `$$` for a dollar")
    if not _is_text(value):
        raise VariableError(f"the environment variable{shown} is not UTF-8", hint="set it to text")
    return value
