"""The `${{ A || B || 'text' }}` expressions of link templates."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.text import quoted, trim

_OPEN, _CLOSE, _OR, _QUOTE = "${{", "}}", "||", "'"


class ExpressionError(DuvetError):
    """A template that has no value."""


class Expansion(Struct, frozen=True):
    """The text that a template stands for, and the variables that it was made of."""

    text: str
    variables: tuple[str, ...] = ()


def expand(template: str, environ: Mapping[str, str]) -> Expansion:
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
    return Expansion("".join(texts), tuple(dict.fromkeys(variables)))


def _evaluate(expression: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The value of the first alternative that has one, and the variable it comes from."""
    names = []
    ##= man/spec/trace.md#configuration
    ##% `${{ A || B || 'text' }}` in a link MUST become the first of these that is set.
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
    return ExpressionError(f"failed to evaluate expression: {quoted(expression)}", hint=hint)
