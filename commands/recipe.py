"""`duvet recipe`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import files, recipes
from duvet.terminal.options import TEXT, trace_options
from duvet.terminal.service_options import service_options

_FORMATS = {
    "list": ("text", "table", "plain", "json", "jsonl", "csv", "markdown"),
    "show": ("text", "json"),
    "run": ("text", "json"),
    "validate": ("text", "json", "sarif", "github", "junit"),
}
"""What each action knows."""


@click.command(cls=Subcommand)
@click.argument("action", type=click.Choice(["list", "show", "validate", "run"]), default="list")
@click.argument("names", nargs=-1, type=TEXT, metavar="[NAME | FILE...]", shell_complete=recipes)
@click.option("--var", "variables", type=TEXT, multiple=True, metavar="NAME=VALUE", help="What `run` is told.")
@click.option("--json", "given", metavar="OBJECT", help="The same as JSON; - reads it from standard input.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="With `run`, show what would be called, and call nothing; a literal `${` is shown as `$${`.",
)
@click.option(
    "--format",
    type=click.Choice([*dict.fromkeys(name for names in _FORMATS.values() for name in names)]),
    help="How to write the list (table, plain, json, jsonl, csv, markdown), a run or a recipe (text, json), or problems "
    "(text, json, sarif, github, junit) [default: table on a terminal and plain elsewhere; text].",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=files,
    help="With `show`, the file to write; one that is there is replaced, whole [default: standard output].",
)
@service_options
@trace_options
@click.pass_context
def recipe(
    ctx: click.Context,
    /,
    action: str,
    names: tuple[str, ...],
    variables: tuple[str, ...],
    given: str | None,
    dry_run: bool,
    format: str | None,
    output: str | None,
    **where: Any,
) -> None:
    """A recipe is a routine of a project: a file in YAML in `recipes` or `.duvet/recipes` whose steps call tools one after
    another, expect something of what these answer, keep some of it, or wait. Agents run one with `km-recipe-run`.
    daily-health, release-prep, stale-audit and subsystem-freshness are there unless the project has its own of that name.

    A file has `version`, `name`, `summary`, `variables` with their values, `steps`, `outputs` and `timeout_seconds`. A step
    has an `id` and one of `tool`, with its `params`, and `wait`, with `tool`, `params`, `until`, `interval_seconds` (5) and
    `timeout_seconds` (300); then `expect` (path: value), `assert` (`path` with `exists`, `equals` or `not_equals`), `capture`
    (`name` and `path`), `description` and `timeout_seconds`. `${vars.NAME}`, `${captures.NAME}` and `${steps.ID.result}`
    stand for values, and keep their type where they stand alone. A variable that is null has to be given.

    `list` shows which there are, `show` the file of one, `validate` what is wrong with those of the project, or with those that
    are named or stand in a file, and `run` runs one, with the pack `knowledge`, and shows what came of each step. With
    `KM_GATEWAY_URL`, `run` is refused, for recipes are run by that server. It exits with 1 where a step fails, or something
    doesn't hold that it expects, and so does `validate` where something is wrong.

    \b
    Examples:
      duvet recipe
      duvet recipe show release-prep --output recipes/release-prep.yaml
      duvet recipe validate recipes/release-prep.yaml
      duvet recipe run release-prep --var profile=nightly --dry-run
      duvet recipe run subsystem-freshness --var subsystem=Kettle --format json | jq .outputs
    """
    from duvet.terminal import recipes

    if wrong := _misuse(action, len(names), bool(variables or given is not None or dry_run), format, output):
        raise click.UsageError(wrong, ctx)
    if action == "list":
        recipes.list_recipes(None if format == "text" else format)
    elif action == "validate":
        ctx.exit(recipes.validate_recipes(names, format, where))
    elif action == "show":
        recipes.show_recipe(names[0], format, output)
    else:
        told = recipes.Told(variables, given)
        run = recipes.plan_recipe if dry_run else recipes.run_recipe
        ctx.exit(run(names[0], told, format, where))


def _misuse(action: str, names: int, is_told: bool, format: str | None, output: str | None) -> str:
    """What doesn't go together; empty where all does."""
    if action in ("show", "run") and names != 1:
        return f"`{action}` needs the NAME of one recipe"
    if action == "list" and names:
        return "`list` takes no name"
    if is_told and action != "run":
        return "--var, --json and --dry-run go with `run`"
    if output is not None and action != "show":
        return "--output goes with `show`"
    if format not in (None, *_FORMATS[action]):
        return f"`{action}` is written as {', '.join(_FORMATS[action])}"
    return ""
