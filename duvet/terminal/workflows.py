"""Workflows from the shell: which there are, what is wrong with them, and runs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from msgspec import convert

from duvet.errors import NotFoundError
from duvet.model import ProblemsError, Severity
from duvet.queries.names import nearest_hint
from duvet.reports import workflow_run
from duvet.reports.json_document import document
from duvet.reports.listing import Column, Listing
from duvet.runs import FailureCode, Run
from duvet.terminal.calling import as_shell_error, called, text_of
from duvet.terminal.describing import problems_in
from duvet.terminal.exit_codes import FAILED, OK
from duvet.terminal.failures import report
from duvet.terminal.listings import look, pour_list
from duvet.terminal.service import Assembly, assembly_of
from duvet.terminal.settings import settings, wants_bar
from duvet.terminal.shell_arguments import arguments_from
from duvet.terminal.streams import pour, say
from duvet.text import plural, quoted
from duvet.tools.errors import ToolError
from duvet.tools.faces import SHELL
from duvet.tools.services import RUNS
from duvet.tools.tool import Tool
from duvet.workflows.names import tool_name

_COLUMNS = (
    Column("name", lambda row: row["name"]),
    Column("variables", lambda row: " ".join(row["variables"])),
    Column("steps", lambda row: str(row["steps"])),
    Column("description", lambda row: row["description"], wraps=True),
)


def list_workflows(format: str | None, where: Mapping[str, Any]) -> None:
    """Write the workflows of the configuration."""
    rows = [
        {
            "name": one.name,
            "description": one.description,
            "variables": list(one.variables),
            "steps": len(one.steps),
        }
        for one in assembly_of(where, mode=SHELL).workflows.values()
    ]
    pour_list(Listing(_COLUMNS, rows), format)


def show_workflow(name: str, where: Mapping[str, Any]) -> None:
    """Write all there is to know about one."""
    assembly = _assembly_with(name, where)
    pour(document(assembly.service.config.workflows[name]))


def check_workflows(name: str | None, where: Mapping[str, Any]) -> None:
    """Say what is wrong with one or with all; ProblemsError where something is."""
    assembly = assembly_of(where, mode=SHELL) if name is None else _assembly_with(name, where)
    found = problems_in(assembly, name)
    if any(problem.severity is Severity.ERROR for problem in found):
        raise ProblemsError(found)
    if found:
        report(found, settings())
    if not settings().quiet:
        count = len(assembly.workflows) if name is None else 1
        say(f"{plural(count, 'workflow')}, no errors\n")


def run_workflow(
    name: str, variables: Sequence[str], given: str | None, format: str | None, where: Mapping[str, Any]
) -> int:
    """Run one, and write what came of each step; the exit code."""
    assembly = _assembly_with(name, where)
    faulty = problems_in(assembly, name)
    if any(problem.severity is Severity.ERROR for problem in faulty):
        raise ProblemsError(faulty)
    try:
        tool = assembly.registry.require(tool_name(name))
        told = arguments_from(tool, [f"--{variable}" for variable in _checked(variables)], text_of(given))
        run = _ran(assembly, tool, told)
    except ToolError as error:
        if error.details is None:
            raise as_shell_error(error) from error
        run = convert(error.details, Run)
    pour(workflow_run.render_json(run) if format == "json" else workflow_run.render_text(run, look()))
    if run.error is not None and run.error.code is FailureCode.CANCELLED:
        raise KeyboardInterrupt
    return OK if run.status == "success" else FAILED


def _ran(assembly: Assembly, tool: Tool, told: Mapping[str, object]) -> Run:
    """What comes of the workflow, also where it is interrupted."""
    runs: list[Run] = []
    try:
        ##= man/spec/workflows.md#reports
        ##% People at a terminal MUST be told of each step before it begins.
        run = called(assembly, tool, told, tells=wants_bar(settings()), **{RUNS: runs.append}).value
    except KeyboardInterrupt:
        if not runs or runs[-1].error is None:
            raise
        ##= man/spec/workflows.md#reports
        ##% Who interrupts a run MUST be shown what was done.
        return runs[-1]
    assert isinstance(run, Run)
    return run


def _checked(variables: Sequence[str]) -> Sequence[str]:
    for variable in variables:
        if "=" not in variable:
            raise click.UsageError(f"--var takes NAME=VALUE, not {quoted(variable)}")
    return variables


def _assembly_with(name: str, where: Mapping[str, Any]) -> Assembly:
    assembly = assembly_of(where, mode=SHELL)
    if name not in assembly.workflows:
        known = tuple(assembly.workflows)
        hint = nearest_hint(name, known) or (f"there are {', '.join(known)}" if known else "the configuration has none")
        raise NotFoundError(f"there is no workflow {quoted(name)}", hint=hint)
    return assembly
