"""Checks of single values."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import inspect

from duvet import rules
from duvet.config import wording
from duvet.config.at import At
from duvet.config.variables import is_variable
from duvet.model import Problem


def out_of_range(kind: inspect.IntType | inspect.FloatType, value: float, at: At) -> Iterator[Problem]:
    """A number has to lie between the bounds of its type."""
    least, above, most = kind.ge, kind.gt, kind.le
    # Asked for what holds: nothing holds of what is no number.
    if not ((least is None or value >= least) and (above is None or value > above) and (most is None or value <= most)):
        low = f"from {least}" if above is None else f"greater than {above}"
        hint = f"write a number {low} {'to' if above is None else 'and up to'} {most}"
        yield at.problem(rules.CONFIG_BAD_VALUE, f"{wording.described(value)} is out of range", hint)


def refused_secret(value: str, at: At) -> Iterator[Problem]:
    """A secret is never written down: a variable is named that holds it."""
    ##= man/spec/service.md#configuration
    ##% The value of a secret, or of a variable, MUST NOT be shown by any message, hint or excerpt.
    if not is_variable(value):
        hint = "put it into an environment variable, and write its name here, as in `$API_KEY`"
        yield at.problem(rules.CONFIG_BAD_VALUE, "a secret can't be written here", hint)
