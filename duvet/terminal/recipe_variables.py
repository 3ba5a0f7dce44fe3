"""What recipes are told on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from msgspec.structs import replace

from duvet.config.service.workflows import VariableType
from duvet.queries.names import nearest_hint
from duvet.terminal.calling import as_shell_error
from duvet.terminal.shell_arguments import arguments_from
from duvet.text import quoted, shortened
from duvet.tools.errors import ToolError
from duvet.tools.tool import Tool
from duvet.workflows.errors import WorkflowError
from duvet.workflows.inputs import variables, workflow_inputs
from duvet.workflows.names import recipe_name
from duvet.workflows.records import Workflow


def told_variables(workflow: Workflow, words: Sequence[str], given: bytes | None) -> dict[str, Any]:
    """All variables with what is told by `NAME=VALUE` and by JSON; wrong usage where the recipe can't be told that."""
    for word in words:
        name, equals, _ = word.partition("=")
        if not equals:
            raise click.UsageError(f"--var takes NAME=VALUE, not {quoted(word)}")
        if name not in workflow.variables:
            raise click.UsageError(_unknown(workflow, name))
    try:
        told = arguments_from(_as_tool(workflow), [f"--{word}" for word in words], given)
        return variables(workflow, told)
    except ToolError as error:
        raise as_shell_error(error) from error
    except WorkflowError as error:
        raise click.UsageError("\n".join(filter(None, [error.message, error.hint]))) from error


def _as_tool(workflow: Workflow) -> Tool:
    # What may be of any type is text, as it is written.
    kinds = {
        name: replace(one, kind=VariableType.STRING) if one.kind is None else one
        for name, one in workflow.variables.items()
    }
    record = workflow_inputs(replace(workflow, variables=kinds))
    name = recipe_name(workflow.name)
    return Tool(name=name, title="", description="", input=record, output=None, handler=lambda asked, ctx: None)


def _unknown(workflow: Workflow, name: str) -> str:
    known: Mapping[str, object] = workflow.variables
    hint = nearest_hint(shortened(name), list(known)) or (f"there are {', '.join(known)}" if known else "it has none")
    return f"{recipe_name(workflow.name)} has no variable {quoted(shortened(name))}\n{hint}"
