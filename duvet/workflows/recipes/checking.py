"""What is wrong with a recipe, given the tools that it can call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from duvet import rules
from duvet.model import Problem, Severity
from duvet.text import quoted, shortened
from duvet.tools.tool import Tool
from duvet.workflows.check import check
from duvet.workflows.fault import Fault
from duvet.workflows.known import Known, tool_of
from duvet.workflows.names import RECIPE_ARGUMENT, RECIPE_TOOL
from duvet.workflows.recipes.reading import Found
from duvet.workflows.records import WaitStep, Workflow
from duvet.workflows.references import is_constant

if TYPE_CHECKING:
    from duvet.config.at import At
    from duvet.config.documents.document import Document

_WRITTEN = {"notEquals": "not_equals"}
"""Keys that recipes spell in another way."""


def known_of(tools: Iterable[Tool], recipes: Mapping[str, Found]) -> Known:
    """What there is around recipes; workflows are tools here."""
    ##= man/spec/gateway.md#recipes
    ##% A recipe MUST be able to call every tool that is switched on, of whichever pack, and workflows.
    return Known(
        tools={tool.name: tool for tool in tools},
        workflows={},
        models=(),
        recipes={name: one.workflow for name, one in recipes.items() if one.workflow},
    )


def problems_of(found: Found, known: Known) -> tuple[Problem, ...]:
    """Everything that is wrong with it, in the order of the file."""
    if found.document is None:
        return found.problems
    from duvet.config.at import At
    from duvet.config.check import in_order

    at = At(found.document, {}, is_private=True)
    ##= man/spec/gateway.md#recipes
    ##% Everything that is wrong with a recipe MUST be listed with its file, its line and the path of its key, and no step
    ##% of it MUST be begun.
    return in_order([*found.problems, *(_problem(at, fault) for fault in _faults(found, found.document, known))])


def _faults(found: Found, document: Document, known: Known) -> list[Fault]:
    """What is wrong with what it says, as far as that can be understood."""
    from duvet.workflows.recipes.drafting import draft_of

    if found.workflow is not None:
        return [*check(found.workflow, known), *_no_recipes(found.workflow, known)]
    draft = draft_of(found.name, document.values)
    if draft is None:
        return []
    faults = [*check(draft.workflow, known), *_no_recipes(draft.workflow, known)]
    return [fault for fault in faults if draft.has(fault.keys)]


def is_sound(problems: Iterable[Problem]) -> bool:
    """Whether nothing of it keeps the recipe from being run."""
    return all(problem.severity is Severity.WARNING for problem in problems)


def _problem(at: At, fault: Fault) -> Problem:
    keys = tuple(_WRITTEN.get(key, key) if isinstance(key, str) else key for key in fault.keys)
    problem = at._replace(keys=keys).problem(rules.CONFIG_BAD_VALUE, fault.message, fault.hint)
    return replace(problem, severity=Severity.WARNING) if fault.is_warning else problem


def _no_recipes(workflow: Workflow, known: Known) -> Iterator[Fault]:
    """The recipes that are called and that there aren't."""
    from duvet.queries.names import nearest_hint

    for number, step in enumerate(workflow.steps):
        name = step.params.get(RECIPE_ARGUMENT) if tool_of(step) == RECIPE_TOOL else None
        if isinstance(name, str) and is_constant(name) and name not in known.recipes:
            at = ("wait", "params") if isinstance(step, WaitStep) else ("params",)
            message = f"there is no recipe {quoted(shortened(name))}"
            hint = nearest_hint(shortened(name), list(known.recipes))
            yield Fault(keys=("steps", number, *at, RECIPE_ARGUMENT), message=message, hint=hint)
