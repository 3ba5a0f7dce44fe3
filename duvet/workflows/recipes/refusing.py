"""What is wrong with the tables of a recipe whose values may each be right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from duvet.config.schema import TableError
from duvet.config.service.workflows import require_one
from duvet.rules import CONFIG_BAD_VALUE, CONFIG_MISSING_KEY
from duvet.workflows.recipes.sections import VERSION

if TYPE_CHECKING:
    from duvet.config.at import At
    from duvet.model import Problem


def refused(values: Mapping[str, Any], at: At) -> Iterator[Problem]:
    """All of it, whatever else is wrong with the file."""
    version = values.get("version", VERSION)
    if type(version) is int and version != VERSION:
        message, hint = f"version {version} of recipes is not known here", f"write it as one of version {VERSION}"
        yield (at / "version").problem(CONFIG_BAD_VALUE, message, hint)
    for step, here in _tables(values.get("steps"), at / "steps"):
        yield from _in_step(step, here)
        for check, where in _tables(step.get("assert"), here / "assert"):
            yield from _in_check(check, where)
        wait = step.get("wait")
        until = wait.get("until") if isinstance(wait, dict) else None
        if isinstance(until, dict):
            yield from _in_check(until, here / "wait" / "until")


def _tables(value: Any, at: At) -> Iterator[tuple[dict[str, Any], At]]:
    for number, inner in enumerate(value) if isinstance(value, list) else ():
        if isinstance(inner, dict):
            yield inner, at / number


def _in_step(step: Mapping[str, Any], at: At) -> Iterator[Problem]:
    actions = ["tool", "wait"]
    try:
        ##= man/spec/gateway.md#recipes
        ##% Each step MUST have an id of its own, and one of `tool` and `wait`.
        require_one([name for name in actions if step.get(name) is not None], actions)
    except TableError as error:
        below = at / error.key if error.key else at
        yield below.problem(error.rule, str(error), error.hint)
    if step.get("wait") is not None and step.get("params"):
        message = "the arguments of the tool stand in `wait`"
        yield (at / "params").problem(CONFIG_BAD_VALUE, message, "move them there")


def _in_check(check: Mapping[str, Any], at: At) -> Iterator[Problem]:
    given = {"equals", "not_equals", "exists"} & check.keys()
    if not given:
        message = "one of `equals`, `not_equals`, `exists` has to be here"
        yield at.problem(CONFIG_MISSING_KEY, message, "say what has to hold")
    elif check.get("exists") is False and given != {"exists"}:
        message = "what is not there can't be compared"
        yield (at / "exists").problem(CONFIG_BAD_VALUE, message, "keep `exists` alone")
