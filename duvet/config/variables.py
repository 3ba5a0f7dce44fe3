"""Environment variables and `${{ … }}` expressions in configuration values."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.text import quote_text, trim

_OPEN, _CLOSE, _OR, _QUOTE = "${{", "}}", "||", "'"


class ExpressionError(DuvetError):
    """A template that has no value."""


class TemplateExpansion(Struct, frozen=True):
    """The text that a template stands for, and the variables that it was made of."""

    text: str
    variables: tuple[str, ...] = ()


def expand_template(template: str, environ: Mapping[str, str]) -> TemplateExpansion:
    """The template with the value of each expression in its place."""
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
    """The value of the first alternative that has one, and the variable it comes from."""
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
    raise _undefined(expression, names)


def _is_text(value: str) -> bool:
    """Whether the value is Unicode; bytes that aren't reach Python as lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _undefined(expression: str, names: list[str]) -> ExpressionError:
    hint = f"set the environment variable {' or '.join(names)}, or end with a text in quotes: `|| 'text'`"
    if names == ["``"]:
        hint = "name an environment variable or a text: `${{ NAME || 'text' }}`"
    return ExpressionError(f"failed to evaluate expression: {quote_text(expression)}", hint=hint)


_NAME = "[A-Za-z_][A-Za-z0-9_]*"
VARIABLE_PATTERN = rf"^\$({_NAME}|\{{{_NAME}\}})$(?!\n)"
"""What a text is that is one variable; in JavaScript, too, which has no other sign for the end."""

_DOLLAR = re.compile(rf"\$(?:(?P<dollar>\$)|(?P<name>{_NAME})|\{{(?P<braced>{_NAME})\}}|)")
_CUSTOMARY = re.compile("[A-Z][A-Z0-9_]*")


class VariableError(DuvetError):
    """A text that has no value."""


def is_variable(text: str) -> bool:
    """Whether a text is one variable and nothing else."""
    return re.search(VARIABLE_PATTERN, text) is not None


def is_named(text: str) -> bool:
    """Whether a text is one variable with a name as people give it, rather than a password with a dollar."""
    return is_variable(text) and _CUSTOMARY.fullmatch(text.strip("${}")) is not None


def expand_variables(text: str, environ: Mapping[str, str]) -> str:
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
    ##% duvet MUST replace `$NAME` and `${NAME}` by environment variables and `$$` by a dollar, and report a variable
    ##% that is not set with its place.
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
