"""Everything that can be told wrong of a workflow without running it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import UNSET

from duvet.workflows.check_calls import calls_of, self_calls
from duvet.workflows.check_references import Seen
from duvet.workflows.errors import UnresolvedError, WorkflowError
from duvet.workflows.fault import Fault
from duvet.workflows.inputs import value_of
from duvet.workflows.known import Known
from duvet.workflows.paths import Path
from duvet.workflows.plain import plain
from duvet.workflows.records import MOST_STEPS, ModelStep, Step, WaitStep, Workflow
from duvet.workflows.references import MOST_BYTES


def check(workflow: Workflow, known: Known) -> list[Fault]:
    """All of it, as it stands in the workflow."""
    ##= man/spec/workflows.md#checks
    ##% A workflow MUST be checked without running it, and everything that is wrong listed, each with the path of its
    ##% key.
    sizes = list(_sizes(workflow))
    # What is too deep can't be looked through.
    return sizes or [*_defaults(workflow), *_ids(workflow), *_steps(workflow, known), *self_calls(workflow, known)]


def _steps(workflow: Workflow, known: Known) -> Iterator[Fault]:
    seen = Seen(workflow)
    for number, step in enumerate(workflow.steps):
        keys: Path = ("steps", number)
        yield from calls_of(step, keys, known)
        yield from seen.references_of(step, keys)
    yield from seen.in_value(workflow.outputs, ("outputs",))


def _defaults(workflow: Workflow) -> Iterator[Fault]:
    for name, variable in workflow.variables.items():
        if variable.default is not UNSET:
            try:
                value_of(name, variable, variable.default)
            except WorkflowError as error:
                yield Fault(keys=("variables", name, "default"), message=error.message)


def _ids(workflow: Workflow) -> Iterator[Fault]:
    if len(workflow.steps) > MOST_STEPS:
        message = f"there are {len(workflow.steps)} steps; {MOST_STEPS} is the most"
        yield Fault(keys=("steps",), message=message, hint="let one workflow call another")
    ids = Counter[str]()
    for number, step in enumerate(workflow.steps):
        if ids[step.id]:
            yield Fault(keys=("steps", number, "id"), message=f"another step is called {step.id}, too")
        ids[step.id] += 1


def _sizes(workflow: Workflow) -> Iterator[Fault]:
    for keys, value in _values(workflow):
        try:
            plain(value, MOST_BYTES, "it")
        except UnresolvedError as error:
            yield Fault(keys=keys, message=error.message)


def _values(workflow: Workflow) -> Iterator[tuple[Path, object]]:
    for name, variable in workflow.variables.items():
        if variable.default is not UNSET:
            yield ("variables", name, "default"), variable.default
    for number, step in enumerate(workflow.steps):
        yield from (((*("steps", number), *keys), value) for keys, value in _values_of(step))
    yield ("outputs",), workflow.outputs


def _values_of(step: Step) -> Iterator[tuple[Path, object]]:
    yield ("wait", "params") if isinstance(step, WaitStep) else ("params",), step.params
    yield ("expect",), step.expect
    for number, check in enumerate(step.asserts):
        yield ("assert", number), [one for one in (check.equals, check.not_equals) if one is not UNSET]
    if isinstance(step, WaitStep):
        yield ("wait", "until"), [one for one in (step.until.equals, step.until.not_equals) if one is not UNSET]
    if isinstance(step, ModelStep):
        yield ("prompt",), step.prompt
        yield ("system",), step.system
