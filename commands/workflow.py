"""`duvet workflow`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from msgspec import convert

from duvet.console.application import find_workflow_problems, make_application
from duvet.console.command import Subcommand, current_settings, wants_bar
from duvet.console.options import TEXT_TYPE, add_service_options, add_trace_options
from duvet.console.output import print_list
from duvet.console.problems import has_errors, print_problems
from duvet.console.streams import print_remark, write_stdout
from duvet.console.tool_call import invoke_tool, make_shell_error, parse_arguments, read_json_argument
from duvet.console.workflow_run import print_run
from duvet.errors import NotFoundError, ProblemsError
from duvet.reports.tables import Column, Listing, encode_json
from duvet.server.application import Application
from duvet.text import format_count, quote_text, suggest_nearest
from duvet.tools.tool import RUNS_SERVICE, SHELL_SOURCE, Tool, ToolError
from duvet.workflows.workflow import WorkflowRun, tool_name

_COLUMNS = (
    Column("name", lambda row: row["name"]),
    Column("variables", lambda row: " ".join(row["variables"])),
    Column("steps", lambda row: str(row["steps"])),
    Column("description", lambda row: row["description"], wraps=True),
)


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
    **options: Any,
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
    application = make_application(options, mode=SHELL_SOURCE)
    workflows = application.tools.workflows
    if action == "list":
        rows = [
            {
                "name": one.name,
                "description": one.description,
                "variables": list(one.variables),
                "steps": len(one.steps),
            }
            for one in workflows.values()
        ]
        print_list(Listing(_COLUMNS, rows), format)
        return
    if name is not None and name not in workflows:
        hint = suggest_nearest(name, tuple(workflows)) or (
            f"there are {', '.join(workflows)}" if workflows else "the configuration has none"
        )
        raise NotFoundError(f"there is no workflow {quote_text(name)}", hint=hint)
    if action == "check":
        problems = find_workflow_problems(application, name)
        if has_errors(problems):
            raise ProblemsError(problems)
        if problems:
            print_problems(problems)
        print_remark(f"{format_count(len(application.tools.workflows) if name is None else 1, 'workflow')}, no errors")
    elif action == "show":
        write_stdout(encode_json(application.service.config.workflows[name or ""]))
    else:
        ctx.exit(print_run(_run_workflow(application, name or "", variables, given), format))


def _run_workflow(application: Application, name: str, variables: Sequence[str], json: str | None) -> WorkflowRun:
    """Run a workflow; return the record of the run also if it fails or is interrupted."""
    problems = find_workflow_problems(application, name)
    if has_errors(problems):
        raise ProblemsError(problems)
    try:
        tool = application.tools.registry.require(tool_name(name))
        for variable in variables:
            if "=" not in variable:
                raise click.UsageError(f"--var takes NAME=VALUE, not {quote_text(variable)}")
        arguments = parse_arguments(tool, [f"--{variable}" for variable in variables], read_json_argument(json))
        return _call_workflow(application, tool, arguments)
    except ToolError as error:
        if error.details is None:
            raise make_shell_error(error) from error
        return convert(error.details, WorkflowRun)


def _call_workflow(application: Application, tool: Tool, arguments: Mapping[str, object]) -> WorkflowRun:
    runs: list[WorkflowRun] = []
    on_terminal = wants_bar(current_settings())
    try:
        ##= man/spec/workflows.md#steps
        ##% The engine MUST report progress before each step and at the end of the run.
        answer = invoke_tool(application, tool, arguments, prints_progress=on_terminal, **{RUNS_SERVICE: runs.append})
    except KeyboardInterrupt:
        if not runs or runs[-1].error is None:
            raise
        return runs[-1]
    assert isinstance(answer.value, WorkflowRun)
    return answer.value
