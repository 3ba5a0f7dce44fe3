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
from duvet.workflows.names import RECIPE_ARGUMENT, RECIPE_TOOL, recipe_workflow
from duvet.workflows.paths import Path
from duvet.workflows.recipes.reading import Found
from duvet.workflows.records import WaitStep, Workflow
from duvet.workflows.references import is_constant

if TYPE_CHECKING:
    from duvet.config.at import At
    from duvet.workflows.recipes.drafting import Draft


def known_of(tools: Iterable[Tool], recipes: Mapping[str, Found]) -> Known:
    """What there is around recipes; workflows are tools here."""
    ##= man/spec/gateway.md#recipes
    ##% A recipe MUST be able to call every tool that is switched on, of whichever pack, and workflows.
    return Known(
        tools={tool.name: tool for tool in tools},
        workflows={},
        models=(),
        recipes={name: _understood(one) for name, one in recipes.items()},
        faulty=[name for name, one in recipes.items() if one.workflow is None],
    )


def _understood(found: Found) -> Workflow:
    """The recipe as far as it is understood: what others find when they call it."""
    draft = None if found.workflow else _draft(found)
    nothing = Workflow(name=recipe_workflow(found.name), description="", steps=())
    return found.workflow or (draft.workflow if draft else nothing)


def _draft(found: Found) -> Draft | None:
    from duvet.workflows.recipes.drafting import draft_of

    return draft_of(found.name, found.document.values) if found.document else None


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
    return in_order([*found.problems, *(_problem(at, fault) for fault in _faults(found, known))])


def _faults(found: Found, known: Known) -> list[Fault]:
    """What is wrong with what it says, as far as that can be understood."""
    if found.workflow is not None:
        return _faults_of(found.workflow, known)
    draft = _draft(found)
    return [fault for fault in _faults_of(draft.workflow, known) if draft.has(fault)] if draft else []


def _faults_of(workflow: Workflow, known: Known) -> list[Fault]:
    return [*check(workflow, known), *_no_recipes(workflow, known)]


def is_sound(problems: Iterable[Problem]) -> bool:
    """Whether nothing of it keeps the recipe from being run."""
    return all(problem.severity is Severity.WARNING for problem in problems)


def _problem(at: At, fault: Fault) -> Problem:
    problem = at._replace(keys=_written(fault.keys)).problem(rules.CONFIG_BAD_VALUE, fault.message, fault.hint)
    return replace(problem, severity=Severity.WARNING) if fault.is_warning else problem


def _written(keys: Path) -> Path:
    """The keys as recipes have them, which spell some in another way than workflows do."""
    match keys:
        case ("variables", name, "default", *_):
            return ("variables", name)
        case (_, _, "assert", _, "notEquals", *more) | (_, _, "wait", "until", "notEquals", *more):
            return (*keys[:4], "not_equals", *more)
    return keys


def _no_recipes(workflow: Workflow, known: Known) -> Iterator[Fault]:
    """The recipes that are called and that there aren't, or that can't be run."""
    for number, step in enumerate(workflow.steps):
        name = step.params.get(RECIPE_ARGUMENT) if tool_of(step) == RECIPE_TOOL else None
        if isinstance(name, str) and is_constant(name):
            at = ("wait", "params") if isinstance(step, WaitStep) else ("params",)
            is_own = recipe_workflow(name) == workflow.name
            yield from _no_recipe(name, ("steps", number, *at, RECIPE_ARGUMENT), known, is_own)


def _no_recipe(name: str, keys: Path, known: Known, is_own: bool) -> Iterator[Fault]:
    from duvet.queries.names import nearest_hint

    told = quoted(shortened(name))
    if name not in known.recipes:
        hint = nearest_hint(shortened(name), list(known.recipes))
        yield Fault(keys=keys, message=f"there is no recipe {told}", hint=hint)
    # That a recipe calls itself is told in other words.
    elif name in known.faulty and not is_own:
        ##= man/spec/gateway.md#recipes
        ##% A recipe that calls one whose file has faults MUST be told so, and MUST NOT be begun.
        hint = "`duvet recipe validate` tells them"
        yield Fault(keys=keys, message=f"there are faults in the recipe {told}", hint=hint)
