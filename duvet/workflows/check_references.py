"""References that can't lead anywhere: to what there is not, or not yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from duvet.text import quoted, shortened
from duvet.workflows.errors import UnresolvedError
from duvet.workflows.expecting import ROOTS, path_of
from duvet.workflows.fault import Fault
from duvet.workflows.paths import Path
from duvet.workflows.records import Check, ModelStep, Step, WaitStep, Workflow
from duvet.workflows.references import Reference, pieces, texts

_OF_A_STEP = ("result", "status")


class Seen:
    """What references may lead to, so far."""

    def __init__(self, workflow: Workflow) -> None:
        self.names = {"vars": [*workflow.variables], "steps": list[str](), "captures": list[str]()}
        self.later = {
            "vars": list[str](),
            "steps": [step.id for step in workflow.steps],
            "captures": [capture.name for step in workflow.steps for capture in step.capture],
        }

    def references_of(self, step: Step, keys: Path) -> Iterator[Fault]:
        """What is wrong with those of the next step, which counts as done from then on."""
        yield from self._in_arguments(step, keys)
        for path, value in step.expect.items():
            yield from self._in_check(Check(path=path, equals=value), (*keys, "expect", path), "")
        for number, check in enumerate(step.asserts):
            yield from self._in_check(check, (*keys, "assert", number), "path")
        for number, capture in enumerate(step.capture):
            yield from self._path(capture.path, (*keys, "capture", number, "path"))
        self.names["captures"] += [capture.name for capture in step.capture]
        self.names["steps"].append(step.id)

    def in_value(self, value: Any, keys: Path, *, has_result: bool = False) -> Iterator[Fault]:
        """What is wrong with the references in a value."""
        for where, text in texts(value, keys):
            try:
                found = dict.fromkeys(piece for piece in pieces(text) if isinstance(piece, Reference))
            except UnresolvedError as error:
                yield Fault(keys=where, message=error.message, hint=error.hint)
                continue
            for reference in found:
                yield from self._leads(reference.path, reference.text, where, has_result)

    def _in_arguments(self, step: Step, keys: Path) -> Iterator[Fault]:
        waiting = isinstance(step, WaitStep)
        yield from self.in_value(step.params, (*keys, "wait", "params") if waiting else (*keys, "params"))
        if isinstance(step, WaitStep):
            yield from self._in_check(step.until, (*keys, "wait", "until"), "path")
        if isinstance(step, ModelStep):
            yield from self.in_value(step.prompt, (*keys, "prompt"))
            yield from self.in_value(step.system, (*keys, "system"))

    def _in_check(self, check: Check, keys: Path, path: str) -> Iterator[Fault]:
        yield from self._path(check.path, (*keys, path) if path else keys)
        yield from self.in_value(check.equals, (*keys, "equals") if path else keys, has_result=True)
        yield from self.in_value(check.not_equals, (*keys, "notEquals"), has_result=True)

    def _path(self, text: str, keys: Path) -> Iterator[Fault]:
        try:
            yield from self._leads(path_of(text), text, keys, True)
        except UnresolvedError as error:
            yield Fault(keys=keys, message=error.message, hint=error.hint)

    def _leads(self, path: Path, text: str, keys: Path, has_result: bool) -> Iterator[Fault]:
        root, *more = path
        told = quoted(shortened(text))
        if root == "result":
            if not has_result:
                message = f"{told} is for what is expected and captured"
                yield Fault(keys=keys, message=message, hint="${steps.ID.result} is the result of a step")
        elif root not in self.names:
            yield Fault(keys=keys, message=f"{told} begins with none of {', '.join(ROOTS)}")
        elif more:
            yield from self._named(str(root), str(more[0]), told, keys)
            if root == "steps" and more[1:2] and more[1] not in _OF_A_STEP:
                yield Fault(keys=keys, message=f"{told}: a step has result and status")

    def _named(self, root: str, name: str, told: str, keys: Path) -> Iterator[Fault]:
        known = self.names[root]
        if name in known:
            return
        ##= man/spec/workflows.md#checks
        ##% A reference to a step that comes later, to the step itself or to what a later step captures MUST be named.
        if name in self.later[root]:
            what = "that step is not done then" if root == "steps" else "it is captured later"
            yield Fault(keys=keys, message=f"{told}: {what}", hint="move the step up", root=root)
        else:
            message = f"{told}: there is no {root}.{shortened(name)}"
            yield Fault(keys=keys, message=message, hint=_hint(name, known), root=root)


def _hint(wanted: str, known: Iterable[str]) -> str:
    from duvet.queries.names import nearest_hint

    names = list(dict.fromkeys(filter(None, known)))
    return nearest_hint(shortened(wanted), names) or (f"there are {', '.join(names[:10])}" if names else "")
