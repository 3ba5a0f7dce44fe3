"""`duvet recipe`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec
from click.exceptions import Exit
from msgspec.structs import replace

from duvet.config.service_tables import VariableType
from duvet.console import command, options, streams, workflow_run
from duvet.console.application import make_application, make_shell_error, parse_arguments, read_json_argument
from duvet.console.options import PACKS_KEY
from duvet.console.problems import add_problem_format, make_problem_output, print_problems
from duvet.errors import DuvetError, ProblemsError
from duvet.reports.cells import encode_json, escape_cell
from duvet.reports.detail import Block, FactsBlock, TitleBlock
from duvet.reports.tables import Column, Listing
from duvet.server.application import Application, is_forwarded
from duvet.text import format_count, quote_text, shorten_text, suggest_nearest
from duvet.tools.knowledge.maintenance import make_recipe_output
from duvet.tools.packs import KNOWLEDGE
from duvet.tools.tool import KNOWLEDGE_SERVICE, EnabledPack, Tool, ToolError
from duvet.tree.files import DiskTree
from duvet.tree.outputs import store_file
from duvet.workflows import workflow as records
from duvet.workflows.recipe import (
    ORIGIN_BUILT_IN,
    PlannedStep,
    RecipeFile,
    check_recipe,
    is_runnable,
    make_recipe_environment,
    plan_recipe_run,
)
from duvet.workflows.recipes import RecipeCatalogue, require_recipe

_COLUMNS = (
    Column("name", lambda row: row["name"]),
    Column("file", lambda row: row["file"]),
    Column("variables", lambda row: " ".join(row["variables"])),
    Column("steps", lambda row: str(row["steps"])),
    Column("summary", lambda row: row["summary"], wraps=True),
)
_PLAN_COLUMNS = (
    Column("step", lambda step: step.id),
    Column("tool", lambda step: step.tool),
    Column("arguments", lambda step: _encode(step.params) if step.params else "", wraps=True),
    Column("until", lambda step: _describe_wait(step), wraps=True),
)
_FORWARDED = "KM_GATEWAY_URL is set, so you can only run recipes of the server at that URL"
_FORWARDED_HINT = f"run one of the server's recipes with `duvet call {records.RECIPE_TOOL} --recipe NAME`"
_LEFT_OUT = f"the configuration disables the tool {records.RECIPE_TOOL}"


@click.group(cls=command.SubcommandGroup, default="list")
def recipe() -> None:
    """A recipe automates a routine task: it is a YAML file in `recipes` or `.duvet/recipes` with steps that call tools,
    wait, check the answers and capture values from them. Agents run one with the tool `km-recipe-run`. The
    built-in recipes are daily-health, release-prep, stale-audit and subsystem-freshness; a project recipe with the same
    name replaces a built-in one. duvet-recipe(1) describes the format.

    Without a COMMAND, `duvet recipe` lists the recipes.

    \b
    Examples:
      duvet recipe
      duvet recipe run release-prep --var profile=nightly --dry-run
      duvet recipe check recipes/release-prep.yaml
    \f

    A file has the keys `version`, `name`, `summary`, `variables`, `steps`, `outputs` and `timeout_seconds`. `variables`
    maps names to default values; a variable whose default is null must be set with `--var` or `--json`. `outputs` maps
    names to values.

    A step has an `id` and either `tool` or `wait`. `tool` names the tool to call, `params` its arguments. `wait` calls
    a tool repeatedly until its answer meets a condition. The keys of `wait` are `tool`, `params`, `until` (the
    condition), `interval_seconds` (default 5) and `timeout_seconds` (default 300).

    Further keys of a step: `expect` maps paths in the answer to the values they must have. `assert` lists checks, each
    with a `path` and one of `exists`, `equals` and `not_equals`. `capture` lists values to keep, each with a `name` and a
    `path`. `description` and `timeout_seconds` are optional.

    `${vars.NAME}`, `${captures.NAME}` and `${steps.ID.result}` insert values into `params` and `outputs`. A value keeps
    its type if the reference is the whole text.
    """


@recipe.command("list")
@click.option(
    "--format",
    # `text` is the default in older command lines.
    type=click.Choice(["table", "plain", "json", "jsonl", "csv", "markdown", "text"]),
    metavar="[table|plain|json|jsonl|csv|markdown]",
    help="Output format [default: table on a terminal, else plain].",
)
@options.add_unused_options
def list_recipes(format: str | None) -> None:
    """List the recipes of the project and the built-in recipes.

    \b
    Examples:
      duvet recipe list
      duvet recipe list --format json
    """
    if format == "text":
        command.print_deprecation("--format text", "--format plain")
        format = None
    recipes = RecipeCatalogue(DiskTree()).read_all().values()
    rows = [
        {
            "name": one.name,
            "file": ORIGIN_BUILT_IN if one.origin == ORIGIN_BUILT_IN else one.path,
            "variables": list(one.workflow.variables),
            "steps": len(one.workflow.steps),
            "summary": one.workflow.description,
        }
        for one in recipes
        if one.workflow
    ]
    streams.print_list(Listing(_COLUMNS, rows), format)
    print_problems(problem for one in recipes for problem in one.problems)
    if invalid := [one.path for one in recipes if not one.workflow]:
        streams.print_remark(f"skipped {format_count(len(invalid), 'invalid file')}: {', '.join(invalid)}")
    if is_forwarded(command.current_settings().environ):
        streams.print_remark(f"these are this project's recipes; {_FORWARDED}\n{_FORWARDED_HINT}")


@recipe.command("show")
@click.argument("name", type=options.TEXT_TYPE, shell_complete=command.complete_values("recipes"))
@options.add_text_format
@command.path_option("-o", "--output", help="Write to this file, replacing it [default: standard output].")
@options.add_unused_options
def show_recipe(name: str, format: str, output: str | None) -> None:
    """Print a recipe's file.

    \b
    Examples:
      duvet recipe show daily-health
      duvet recipe show release-prep --output recipes/release-prep.yaml
    """
    found = _require_recipe(name, RecipeCatalogue(DiskTree()).read_all())
    if found.workflow is None:
        raise ProblemsError(found.problems)
    data = encode_json(found.document.values if found.document else {}) if format == "json" else found.data
    if output is not None and output not in streams.OUTPUT_NAMES:
        store_file(output, data)
    elif format != "json" and streams.is_on_terminal():
        streams.write_stdout("".join(f"{escape_cell(line)}\n" for line in data.decode().splitlines()).encode())
    else:
        streams.write_stdout(data)


@recipe.command("check")
@click.argument(
    "names",
    nargs=-1,
    type=command.ReferenceType(options.TEXT_TYPE),
    metavar="[NAME | FILE]...",
    shell_complete=command.complete_values("recipe_files"),
)
@add_problem_format
@options.add_service_options
@options.add_trace_options
def check(names: tuple[str, ...], format: str | None, output: str | None, **options: Any) -> None:
    """Check the named recipes, or all recipes in the project.

    Exits with 1 if there are errors.

    \b
    Examples:
      duvet recipe check
      duvet recipe check recipes/release-prep.yaml
    """
    catalogue = RecipeCatalogue(DiskTree())
    recipes = catalogue.read_all()
    own = [one for one in recipes.values() if one.origin != ORIGIN_BUILT_IN]
    found = [recipes.get(name) or catalogue.read(name) for name in names] or own
    application = _make_application(options)
    tools = list(application.tools.registry.list_all())
    if can_run := records.RECIPE_TOOL in application.tools.registry:
        environment = make_recipe_environment(tools, recipes)
    else:
        # Steps may call the pack's tools even if no recipe can run here.
        environment = make_recipe_environment([*EnabledPack(KNOWLEDGE).tools(), *tools], recipes)
    problems = [problem for one in found for problem in check_recipe(one, environment)]
    written = make_problem_output(format, output).write(problems)
    if not is_runnable(problems) or not written:
        raise Exit(streams.FAILED)
    streams.print_remark(f"checked {format_count(len(found), 'recipe')}: no errors")
    if not can_run and application.gateway_connection is None:
        streams.print_remark(f"recipes can't run here: {_LEFT_OUT}")


recipe.add_old_name("validate", check)


@recipe.command("run")
@click.argument("name", type=options.TEXT_TYPE, shell_complete=command.complete_values("recipes"))
@options.add_variable_options
@click.option("--dry-run", is_flag=True, help="Show the calls without making them; a literal `${` is shown as `$${`.")
@options.add_text_format
@options.add_service_options
@options.add_trace_options
def run(name: str, variables: tuple[str, ...], given: str | None, dry_run: bool, format: str, **options: Any) -> None:
    """Run a recipe and show the result of each step.

    duvet enables the tools of the pack `knowledge`. Exits with 1 if a step or a check fails. If `KM_GATEWAY_URL` is
    set, duvet refuses to run recipes, because the server at that URL runs its own.

    \b
    Examples:
      duvet recipe run daily-health
      duvet recipe run release-prep --var profile=nightly --dry-run
      duvet recipe run stale-audit --format json | jq .outputs
    """
    application = _make_application(options)
    if application.gateway_connection is not None:
        # That server runs its own recipes, with the scopes of the token.
        raise DuvetError(_FORWARDED, hint=_FORWARDED_HINT)
    if records.RECIPE_TOOL not in application.tools.registry:
        hint = "under `toolPacks`, enable the pack `knowledge` and this tool, and don't set the pack's `mode` to `read-only`"
        raise DuvetError(_LEFT_OUT, path=application.service.path, hint=hint)
    recipes = RecipeCatalogue(DiskTree()).read_all()
    found = _require_recipe(name, recipes)
    problems = check_recipe(found, make_recipe_environment(application.tools.registry.list_all(), recipes))
    if found.workflow is None or not is_runnable(problems):
        raise ProblemsError(problems)
    values = read_variables(found.workflow, variables, read_json_argument(given))
    if dry_run:
        plan = plan_recipe_run(found.workflow, values)
        blocks: list[Block] = [TitleBlock(plan.recipe, ("dry run",)), Listing(_PLAN_COLUMNS, plan.steps)]
        if plan.vars:
            facts = FactsBlock([(name, _encode(value)) for name, value in plan.vars.items()])
            blocks += [TitleBlock("Variables", rank=2), facts]
        streams.print_detail(plan, blocks, format)
        return
    tool = application.tools.registry.require(records.RECIPE_TOOL)
    try:
        record = workflow_run.call_workflow_tool(application, tool, {"recipe": name, "vars": values})
    except ToolError as error:
        raise make_shell_error(error) from error
    raise Exit(workflow_run.print_run(record, format, make_recipe_output(name, record)))


def _require_recipe(name: str, recipes: Mapping[str, RecipeFile]) -> RecipeFile:
    try:
        return require_recipe(name, recipes)
    except ToolError as error:
        raise make_shell_error(error) from error


def _make_application(options: Mapping[str, Any]) -> Application:
    return make_application({**options, PACKS_KEY: (*options[PACKS_KEY], KNOWLEDGE_SERVICE)})


def read_variables(workflow: records.Workflow, words: Sequence[str], json: bytes | None) -> dict[str, Any]:
    recipe = workflow.name.removeprefix(records.RECIPE_PREFIX)
    for word in words:
        name, equals, _ = word.partition("=")
        if not equals:
            raise click.UsageError(f"--var needs NAME=VALUE, not {quote_text(word)}")
        if name not in workflow.variables:
            known = list(workflow.variables)
            available = f"available: {', '.join(known)}" if known else "this recipe has no variables"
            hint = suggest_nearest(shorten_text(name), known) or available
            unknown = quote_text(shorten_text(name))
            raise streams.make_usage_error(f"{recipe} has no variable {unknown}", hint)
    # The variables are the arguments of a tool; a variable of any type is parsed as a string.
    variables = {
        name: replace(one, kind=VariableType.STRING) if one.kind is None else one
        for name, one in workflow.variables.items()
    }
    record = records.make_input_record(replace(workflow, variables=variables))
    tool = Tool(name=recipe, title="", description="", input=record, output=None, handler=lambda input, ctx: None)
    try:
        arguments = parse_arguments(tool, [f"--{word}" for word in words], json)
    except ToolError as error:
        raise make_shell_error(error) from error
    try:
        return records.resolve_variables(workflow, arguments)
    except ToolError as error:
        raise streams.make_usage_error(error.message, error.hint) from error


def _describe_wait(step: PlannedStep) -> str:
    until = step.until
    if until is msgspec.UNSET:
        return ""
    conditions = [] if until.exists is msgspec.UNSET else ["exists" if until.exists else "does not exist"]
    conditions += [] if until.equals is msgspec.UNSET else [f"is {_encode(until.equals)}"]
    conditions += [] if until.not_equals is msgspec.UNSET else [f"is not {_encode(until.not_equals)}"]
    limits = f"checked every {until.interval_seconds:g} s for at most {until.timeout_seconds:g} s"
    return f"{until.path} {' and '.join(conditions)}, {limits}"


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()
