"""`duvet workflow`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from msgspec import convert

from duvet.commands.mcp import find_workflow_problems
from duvet.console import workflow_run
from duvet.console.application import Application, make_application
from duvet.console.command import Subcommand
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.output import detect_table_look, print_list
from duvet.console.problems import print_problems
from duvet.console.service_options import add_service_options
from duvet.console.settings import current_settings, wants_bar
from duvet.console.streams import FAILED, OK, print_notice, write_stdout
from duvet.console.tool_call import invoke_tool, make_shell_error, parse_arguments, read_json_argument
from duvet.errors import NotFoundError
from duvet.model import ProblemsError, Severity
from duvet.reports.tables import Column, Listing, encode_json
from duvet.text import format_count, quote_text
from duvet.tools.tool import RUNS_SERVICE, SHELL_SOURCE, Tool, ToolError
from duvet.trace.names import suggest_nearest
from duvet.workflows.workflow import FailureCode, WorkflowRun, tool_name


@click.command(cls=Subcommand)
@click.argument("action", type=click.Choice(["list", "show", "check", "run"]), default="list")
@click.argument("name", required=False, type=TEXT_TYPE, metavar="[NAME]")
@click.option("--var", "variables", type=TEXT_TYPE, multiple=True, metavar="NAME=VALUE", help="What `run` is told.")
@click.option("--json", "given", metavar="OBJECT", help="The same as JSON; - reads it from standard input.")
@click.option(
    "--format",
    type=click.Choice(["table", "plain", "json", "jsonl", "csv", "markdown"]),
    help="How to write the list; `json` also for a run [default: table on a terminal, plain elsewhere].",
)
@add_service_options
@add_trace_options
@click.pass_context
def workflow(
    ctx: click.Context,
    /,
    action: str,
    name: str | None,
    variables: tuple[str, ...],
    given: str | None,
    format: str | None,
    **where: Any,
) -> None:
    """A workflow chains tools and models: its steps are in `workflows` of duvet.config.json, .yaml or .toml, and agents
    call it as the tool `workflow.NAME`. `list` shows which there are, `show` what one does, `check` what is wrong with one
    or with all, and `run` runs one and shows what came of each step.

    `run` exits with 1 where a step fails, or something doesn't hold that it expects.

    \b
    Examples:
      duvet workflow
      duvet workflow show audit
      duvet workflow check --config duvet.config.yaml
      duvet workflow run audit --var level=SHOULD --var most=3
      duvet workflow run audit --format json | jq .outputs
    """
    if action in ("show", "run") and name is None:
        raise click.UsageError(f"`{action}` needs the NAME of a workflow", ctx)
    if (variables or given is not None) and action != "run":
        raise click.UsageError("only `run` is told anything: --var and --json go with it", ctx)
    if action == "list":
        list_workflows(format, where)
    elif action == "check":
        check_workflows(name, where)
    elif action == "show":
        show_workflow(name or "", where)
    else:
        ctx.exit(run_workflow(name or "", variables, given, format, where))


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
        for one in make_application(where, mode=SHELL_SOURCE).workflows.values()
    ]
    print_list(Listing(_COLUMNS, rows), format)


def show_workflow(name: str, where: Mapping[str, Any]) -> None:
    """Write all there is to know about one."""
    assembly = _assembly_with(name, where)
    write_stdout(encode_json(assembly.service.config.workflows[name]))


def check_workflows(name: str | None, where: Mapping[str, Any]) -> None:
    """Say what is wrong with one or with all; ProblemsError where something is."""
    assembly = make_application(where, mode=SHELL_SOURCE) if name is None else _assembly_with(name, where)
    found = find_workflow_problems(assembly, name)
    if any(problem.severity is Severity.ERROR for problem in found):
        raise ProblemsError(found)
    if found:
        print_problems(found, current_settings())
    if not current_settings().quiet:
        count = len(assembly.workflows) if name is None else 1
        print_notice(f"{format_count(count, 'workflow')}, no errors\n")


def run_workflow(
    name: str, variables: Sequence[str], given: str | None, format: str | None, where: Mapping[str, Any]
) -> int:
    """Run one, and write what came of each step; the exit code."""
    assembly = _assembly_with(name, where)
    faulty = find_workflow_problems(assembly, name)
    if any(problem.severity is Severity.ERROR for problem in faulty):
        raise ProblemsError(faulty)
    try:
        tool = assembly.registry.require(tool_name(name))
        told = parse_arguments(tool, [f"--{variable}" for variable in _checked(variables)], read_json_argument(given))
        run = _ran(assembly, tool, told)
    except ToolError as error:
        if error.details is None:
            raise make_shell_error(error) from error
        run = convert(error.details, WorkflowRun)
    write_stdout(
        workflow_run.render_run_json(run)
        if format == "json"
        else workflow_run.render_run_text(run, detect_table_look())
    )
    if run.error is not None and run.error.code is FailureCode.CANCELLED:
        raise KeyboardInterrupt
    return OK if run.status == "success" else FAILED


def _ran(assembly: Application, tool: Tool, told: Mapping[str, object]) -> WorkflowRun:
    """What comes of the workflow, also where it is interrupted."""
    runs: list[WorkflowRun] = []
    try:
        ##= man/spec/workflows.md#steps
        ##% The engine MUST announce each step before it begins, and the end of the run.
        run = invoke_tool(
            assembly, tool, told, tells=wants_bar(current_settings()), **{RUNS_SERVICE: runs.append}
        ).value
    except KeyboardInterrupt:
        if not runs or runs[-1].error is None:
            raise
        ##= man/spec/workflows.md#output
        ##% `duvet workflow run` MUST show people the steps, warnings, outputs and the reason of a failure, even when
        ##% interrupted, and give programs the whole record as JSON.
        return runs[-1]
    assert isinstance(run, WorkflowRun)
    return run


def _checked(variables: Sequence[str]) -> Sequence[str]:
    for variable in variables:
        if "=" not in variable:
            raise click.UsageError(f"--var takes NAME=VALUE, not {quote_text(variable)}")
    return variables


def _assembly_with(name: str, where: Mapping[str, Any]) -> Application:
    assembly = make_application(where, mode=SHELL_SOURCE)
    if name not in assembly.workflows:
        known = tuple(assembly.workflows)
        hint = suggest_nearest(name, known) or (
            f"there are {', '.join(known)}" if known else "the configuration has none"
        )
        raise NotFoundError(f"there is no workflow {quote_text(name)}", hint=hint)
    return assembly
