"""What the tools are called that workflows are."""

from __future__ import annotations

PREFIX, ALIAS_PREFIX = "workflow.", "workflow_"
RECIPE_TOOL, RECIPE_ARGUMENT = "km-recipe-run", "recipe"
"""The tool that runs recipes, and what it is told of which one by."""
_RECIPE = "recipe "


def tool_name(workflow: str) -> str:
    """The name of the tool that the workflow is."""
    return PREFIX + workflow


def tool_alias(workflow: str) -> str:
    """Its name for clients that refuse dots."""
    return ALIAS_PREFIX + workflow


def called_by(tool: str) -> str:
    """The workflow that a tool of this name is; empty where it can't be one."""
    for prefix in (PREFIX, ALIAS_PREFIX):
        if tool.startswith(prefix):
            return tool.removeprefix(prefix)
    return ""


def recipe_workflow(recipe: str) -> str:
    """What a recipe is called among workflows: none of the configuration can be called so."""
    ##= man/spec/gateway.md#recipes
    ##% A recipe that calls itself, be it through other recipes or through workflows, MUST be stopped with an error that
    ##% shows the way.
    return _RECIPE + recipe


def recipe_name(workflow: str) -> str:
    """The name of the recipe that such a workflow is."""
    return workflow.removeprefix(_RECIPE)
