"""What there is around a workflow: tools, other workflows and models."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from duvet.tools.tool import Tool
from duvet.workflows.inputs import workflow_inputs
from duvet.workflows.names import RECIPE_ARGUMENT, RECIPE_TOOL, called_by, tool_name
from duvet.workflows.records import Step, ToolStep, WaitStep, Workflow


class Known(Struct, frozen=True, kw_only=True):
    """What the steps of a workflow can call."""

    tools: Mapping[str, Tool]
    workflows: Mapping[str, Workflow]
    """By their own name; their tools need not stand among the others."""
    models: Collection[str]
    """Providers, tasks, and models as PROVIDER/MODEL."""
    recipes: Mapping[str, Workflow] = {}
    """By their own name, those with faults as far as they are understood."""
    faulty: Collection[str] = ()
    """The recipes that can't be run, for there are faults in what stands in their files."""

    def __contains__(self, tool: str) -> bool:
        return tool in self.tools or called_by(tool) in self.workflows

    @property
    def names(self) -> list[str]:
        """What all tools are called."""
        return sorted({*self.tools, *map(tool_name, self.workflows)})

    def input(self, tool: str) -> type[Struct]:
        """The record of the arguments of a tool that there is."""
        workflow = self.workflow(tool)
        return workflow_inputs(workflow) if workflow else self.tools[tool].input

    def workflow(self, tool: str) -> Workflow | None:
        """The workflow that the tool is."""
        return self.workflows.get(called_by(tool))

    def inner(self, step: Step) -> Workflow | None:
        """The workflow, or the recipe, that a step calls, where that can be told before it is run."""
        tool = tool_of(step)
        name = step.params.get(RECIPE_ARGUMENT) if tool == RECIPE_TOOL else None
        return self.recipes.get(name) if isinstance(name, str) else self.workflow(tool)

    def writes(self, tool: str) -> bool:
        """Whether the tool changes anything, be it through others."""
        return not all(one.only_reads for one in self.reached([tool]))

    def reached(self, tools: Iterable[str]) -> Iterator[Tool]:
        """The tools that are called in the end, be it through workflows."""
        ahead, seen = [*tools], set[str]()
        while ahead:
            name = ahead.pop()
            if name in seen:
                continue
            seen.add(name)
            if inner := self.workflow(name):
                ahead += tools_of(inner)
            elif name in self.tools:
                yield self.tools[name]

    def has_model(self, name: str) -> bool:
        """Whether there is a model of that name; a provider has any model."""
        return name in self.models or name.partition("/")[0] in self.models


def tool_of(step: Step) -> str:
    """The tool that a step calls; empty where it calls none."""
    return step.tool if isinstance(step, ToolStep | WaitStep) else ""


def tools_of(workflow: Workflow) -> Iterator[str]:
    """The tools that the steps call."""
    return (step.tool for step in workflow.steps if isinstance(step, ToolStep | WaitStep))
