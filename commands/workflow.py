"""`duvet workflow`"""

from __future__ import annotations

from typing import Any

import click
from click.exceptions import Exit

from duvet.console import command, options, streams, workflow_run
from duvet.console.application import (
    find_workflow_problems,
    make_application,
    make_shell_error,
    parse_arguments,
    read_json_argument,
)
from duvet.console.problems import add_problem_format, has_errors, make_problem_output
from duvet.errors import NotFoundError, ProblemsError
from duvet.reports.cells import encode_json
from duvet.reports.tables import Column, Listing
from duvet.server.application import Application
from duvet.text import format_count, quote_text, suggest_nearest
from duvet.tools.tool import ToolError
from duvet.workflows.workflow import WORKFLOW_PREFIX

_COLUMNS = (
    Column("name", lambda row: row["name"]),
    Column("variables", lambda row: " ".join(row["variables"])),
    Column("steps", lambda row: str(row["steps"])),
    Column("description", lambda row: row["description"], wraps=True),
)


@click.group(cls=command.SubcommandGroup, default="list")
def workflow() -> None:
    """A workflow calls tools and models one after another. It is defined under `workflows` in duvet.config.json, .yaml or
    .toml, and agents call it as the tool `workflow.NAME`.

    Without a COMMAND, `duvet workflow` lists the workflows.

    \b
    Examples:
      duvet workflow
      duvet workflow show audit
      duvet workflow run audit --var level=SHOULD --var most=3
    """


@workflow.command("list")
@options.add_list_format
@options.add_service_options
@options.add_trace_options
def list_workflows(format: str | None, **options: Any) -> None:
    """List the workflows in the configuration.

    \b
    Examples:
      duvet workflow list
      duvet workflow list --format json
    """
    workflows = make_application(options).tools.workflows
    rows = [
        {"name": one.name, "description": one.description, "variables": list(one.variables), "steps": len(one.steps)}
        for one in workflows.values()
    ]
    streams.print_list(Listing(_COLUMNS, rows), format)
    if not rows:
        streams.print_remark("0 workflows; `duvet help workflows` shows how to define one")


@workflow.command("show")
@click.argument("name", type=options.TEXT_TYPE)
@options.add_service_options
@options.add_trace_options
def show_workflow(name: str, **options: Any) -> None:
    """Print the definition of a workflow as JSON.

    \b
    Examples:
      duvet workflow show audit
    """
    application = make_application(options)
    _require_workflow(application, name)
    streams.write_stdout(encode_json(application.service.config.workflows[name]))


@workflow.command("check")
@click.argument("name", type=options.TEXT_TYPE, required=False)
@add_problem_format
@options.add_service_options
@options.add_trace_options
def check(name: str | None, format: str | None, output: str | None, **options: Any) -> None:
    """Check one workflow, or all workflows.

    Exits with 1 if there are errors.

    \b
    Examples:
      duvet workflow check
      duvet workflow check audit --service-config duvet.config.yaml
    """
    problem_output = make_problem_output(format, output)
    application = make_application(options)
    if name is not None:
        _require_workflow(application, name)
    problems = find_workflow_problems(application, name)
    if not problem_output.write(problems) or has_errors(problems):
        raise Exit(streams.FAILED)
    streams.print_remark(
        f"checked {format_count(len(application.tools.workflows) if name is None else 1, 'workflow')}: no errors"
    )


@workflow.command("run")
@click.argument("name", type=options.TEXT_TYPE)
@options.add_variable_options
@options.add_text_format
@options.add_service_options
@options.add_trace_options
def run(name: str, variables: tuple[str, ...], given: str | None, format: str, **options: Any) -> None:
    """Run a workflow and show the result of each step.

    Exits with 1 if a step or a check fails.

    \b
    Examples:
      duvet workflow run audit --var level=SHOULD --var most=3
      duvet workflow run audit --format json | jq .outputs
    """
    application = make_application(options)
    _require_workflow(application, name)
    problems = find_workflow_problems(application, name)
    if has_errors(problems):
        raise ProblemsError(problems)
    try:
        tool = application.tools.registry.require(WORKFLOW_PREFIX + name)
        for variable in variables:
            if "=" not in variable:
                raise click.UsageError(f"--var needs NAME=VALUE, not {quote_text(variable)}")
        arguments = parse_arguments(tool, [f"--{variable}" for variable in variables], read_json_argument(given))
        record = workflow_run.call_workflow_tool(application, tool, arguments)
    except ToolError as error:
        raise make_shell_error(error) from error
    raise Exit(workflow_run.print_run(record, format))


def _require_workflow(application: Application, name: str) -> None:
    names = tuple(application.tools.workflows)
    if name not in names:
        available = f"available: {', '.join(names)}" if names else "the configuration defines no workflows"
        raise NotFoundError(f"unknown workflow {quote_text(name)}", hint=suggest_nearest(name, names) or available)
