"""`duvet workflow`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.options import TEXT, trace_options
from duvet.terminal.service_options import service_options


@click.command(cls=Subcommand)
@click.argument("action", type=click.Choice(["list", "show", "check", "run"]), default="list")
@click.argument("name", required=False, type=TEXT, metavar="[NAME]")
@click.option("--var", "variables", type=TEXT, multiple=True, metavar="NAME=VALUE", help="What `run` is told.")
@click.option("--json", "given", metavar="OBJECT", help="The same as JSON; - reads it from standard input.")
@click.option(
    "--format",
    type=click.Choice(["table", "plain", "json", "jsonl", "csv", "markdown"]),
    help="How to write the list; `json` also for a run [default: table on a terminal, plain elsewhere].",
)
@service_options
@trace_options
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
    from duvet.terminal import workflows

    if action in ("show", "run") and name is None:
        raise click.UsageError(f"`{action}` needs the NAME of a workflow", ctx)
    if (variables or given is not None) and action != "run":
        raise click.UsageError("only `run` is told anything: --var and --json go with it", ctx)
    if action == "list":
        workflows.list_workflows(format, where)
    elif action == "check":
        workflows.check_workflows(name, where)
    elif action == "show":
        workflows.show_workflow(name or "", where)
    else:
        ctx.exit(workflows.run_workflow(name or "", variables, given, format, where))
