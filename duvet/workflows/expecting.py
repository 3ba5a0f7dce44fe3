"""What has to hold of the result of a step, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from duvet.runs import FailureCode
from duvet.workflows.errors import UnresolvedError, WorkflowError
from duvet.workflows.paths import Path, parsed, spelled, walk
from duvet.workflows.plain import same, shown
from duvet.workflows.records import Check, Step
from duvet.workflows.references import Reference, Scope, expand, look_up

ROOTS = ("vars", "steps", "captures", "result")


def path_of(text: str) -> Path:
    """The path from the scope; UnresolvedError where the text is none."""
    ##= man/spec/workflows.md#results
    ##% A path that begins with `vars`, `steps`, `captures` or `result` MUST be followed from there, and any other one
    ##% from the result of its step.
    path = parsed(text)
    return path if path[0] in ROOTS else ("result", *path)


def checks_of(step: Step) -> Iterator[tuple[Path, Check]]:
    """Everything that has to hold, each with its keys."""
    for path, value in step.expect.items():
        yield ("expect", path), Check(path=path, equals=value)
    for number, check in enumerate(step.asserts):
        yield ("assert", number), check


def verify(step: Step, scope: Scope) -> None:
    """WorkflowError for the first thing that doesn't hold of the result in the scope."""
    for keys, check in checks_of(step):
        fault = fault_of(check, scope, keys)
        if fault:
            ##= man/spec/workflows.md#results
            ##% A step whose result is not as expected MUST fail with the code `assert_failed`, the path, what stands
            ##% there and what was expected.
            raise WorkflowError(FailureCode.ASSERT_FAILED, fault)


def fault_of(check: Check, scope: Scope, keys: Path) -> str:
    """Why the check doesn't hold; nothing where it does."""
    value = _at(check.path, scope, keys)
    equals, other = (
        wanted if wanted is UNSET else expand(wanted, scope, (*keys, name))
        for name, wanted in (("equals", check.equals), ("notEquals", check.not_equals))
    )
    ##= man/spec/workflows.md#results
    ##% A check that nothing stands at a path MUST hold where nothing stands there.
    if check.exists is False and value is not UNSET:
        return f"{check.path} is {shown(value)}; nothing was to stand there"
    ##= man/spec/workflows.md#results
    ##% A check for null MUST hold where null stands, and not where nothing stands.
    if value is UNSET:
        return f"{check.path} is not there{_instead_of(equals)}" if check.exists is True or equals is not UNSET else ""
    if equals is not UNSET and not same(value, equals):
        return f"{check.path} is {shown(value)}{_instead_of(equals)}"
    if other is not UNSET and same(value, other):
        return f"{check.path} is {shown(value)}; it was to be something else"
    return ""


def captured(step: Step, scope: Scope) -> dict[str, Any]:
    """What is kept of the result in the scope, by name."""
    ##= man/spec/workflows.md#results
    ##% What a step captures MUST be known to the steps after it.
    found = {}
    for number, capture in enumerate(step.capture):
        try:
            found[capture.name] = look_up(Reference(path_of(capture.path), capture.path), scope)
        except UnresolvedError as error:
            message = f"capture[{number}].path: {error.message}"
            raise WorkflowError(FailureCode.ASSERT_FAILED, message, hint=error.hint) from error
    return found


def _at(text: str, scope: Scope, keys: Path) -> Any:
    try:
        path = path_of(text)
    except UnresolvedError as error:
        raise UnresolvedError(f"{spelled(keys)}: {error.message}", hint=error.hint) from error
    value, steps = walk(scope, path)
    return value if steps == len(path) else UNSET


def _instead_of(wanted: object) -> str:
    return "" if wanted is UNSET else f"; it was to be {shown(wanted)}"
