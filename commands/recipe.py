"""`duvet recipe`"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
from msgspec import UNSET, Struct, json
from msgspec.structs import replace

from duvet.config.workflow_tables import VariableType
from duvet.console import workflow_run
from duvet.console.application import Application, is_forwarded, make_application
from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_files, complete_recipes
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.output import detect_table_look, is_on_terminal, print_list
from duvet.console.problems import make_problem_output, print_problems
from duvet.console.service_options import PACKS_KEY, add_service_options
from duvet.console.settings import current_settings, wants_bar
from duvet.console.streams import FAILED, OK, is_standard_output, print_notice, write_stdout
from duvet.console.tool_call import invoke_tool, make_shell_error, parse_arguments, read_json_argument
from duvet.errors import DuvetError
from duvet.model import Problem, ProblemsError
from duvet.reports.cells import escape_cell
from duvet.reports.detail import Block, FactsBlock, ListBlock, TitleBlock, render_blocks_text
from duvet.reports.tables import Column, Listing, TableLook, encode_json
from duvet.text import format_count, quote_text, shorten_text
from duvet.tools.knowledge.pack import KNOWLEDGE as PACK
from duvet.tools.knowledge.recipe_run import make_recipe_output as told_of
from duvet.tools.tool import KNOWLEDGE_SERVICE, RUNS_SERVICE, SHELL_SOURCE, EnabledPack, Tool, ToolError
from duvet.trace.names import suggest_nearest
from duvet.tree.files import DiskTree
from duvet.tree.outputs import store_file
from duvet.workflows.inputs import make_input_record, resolve_variables
from duvet.workflows.recipe import ORIGIN_SHIPPED, RecipeFile
from duvet.workflows.recipe_check import (
    PlannedStep,
    RecipePlan,
    WaitCondition,
    check_recipe,
    is_runnable,
    make_recipe_environment,
    plan_recipe_run,
)
from duvet.workflows.recipes import RecipeCatalogue, require_recipe
from duvet.workflows.references import WorkflowError
from duvet.workflows.workflow import RECIPE_TOOL, FailureCode, Workflow, WorkflowRun, recipe_name

_FORMATS = {
    "list": ("text", "table", "plain", "json", "jsonl", "csv", "markdown"),
    "show": ("text", "json"),
    "run": ("text", "json"),
    "validate": ("text", "json", "sarif", "github", "junit"),
}
"""What each action knows."""


@click.command(cls=Subcommand)
@click.argument("action", type=click.Choice(["list", "show", "validate", "run"]), default="list")
@click.argument("names", nargs=-1, type=TEXT_TYPE, metavar="[NAME | FILE...]", shell_complete=complete_recipes)
@click.option("--var", "variables", type=TEXT_TYPE, multiple=True, metavar="NAME=VALUE", help="What `run` is told.")
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
    shell_complete=complete_files,
    help="With `show`, the file to write; one that is there is replaced, whole [default: standard output].",
)
@add_service_options
@add_trace_options
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
    if wrong := _misuse(action, len(names), bool(variables or given is not None or dry_run), format, output):
        raise click.UsageError(wrong, ctx)
    if action == "list":
        list_recipes(None if format == "text" else format)
    elif action == "validate":
        ctx.exit(validate_recipes(names, format, where))
    elif action == "show":
        show_recipe(names[0], format, output)
    else:
        told = RecipeArguments(variables, given)
        run = plan_recipe if dry_run else run_recipe
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


_STEPS = (
    Column("step", lambda step: step.id),
    Column("tool", lambda step: step.tool),
    Column("arguments", lambda step: _json(step.params) if step.params else "", wraps=True),
    Column("until", lambda step: _until(step), wraps=True),
)


def render_plan(planned: RecipePlan, look: TableLook) -> bytes:
    """The steps, in the order in which they would be done."""
    return render_blocks_text(_blocks(planned), look)


def _blocks(planned: RecipePlan) -> Iterator[Block]:
    yield TitleBlock(planned.recipe, ("dry run",))
    yield ListBlock(Listing(_STEPS, planned.steps))
    if planned.vars:
        yield TitleBlock("Variables", rank=2)
        yield FactsBlock([(name, _json(value)) for name, value in planned.vars.items()])


def _until(step: PlannedStep) -> str:
    if step.until is UNSET:
        return ""
    return f"{step.until.path} {_wanted(step.until)}, every {step.until.interval_seconds:g} s, for {_limit(step.until)}"


def _wanted(until: WaitCondition) -> str:
    found = [] if until.exists is UNSET else ["is there" if until.exists else "is not there"]
    found += [] if until.equals is UNSET else [f"is {_json(until.equals)}"]
    found += [] if until.not_equals is UNSET else [f"is not {_json(until.not_equals)}"]
    return " and ".join(found)


def _limit(until: WaitCondition) -> str:
    return f"{until.timeout_seconds:g} s at most"


def _json(value: object) -> str:
    return json.encode(value).decode()


def read_variables(workflow: Workflow, words: Sequence[str], given: bytes | None) -> dict[str, Any]:
    """All variables with what is told by `NAME=VALUE` and by JSON; wrong usage where the recipe can't be told that."""
    for word in words:
        name, equals, _ = word.partition("=")
        if not equals:
            raise click.UsageError(f"--var takes NAME=VALUE, not {quote_text(word)}")
        if name not in workflow.variables:
            raise click.UsageError(_unknown(workflow, name))
    try:
        told = parse_arguments(_as_tool(workflow), [f"--{word}" for word in words], given)
        return resolve_variables(workflow, told)
    except ToolError as error:
        raise make_shell_error(error) from error
    except WorkflowError as error:
        raise click.UsageError("\n".join(filter(None, [error.message, error.hint]))) from error


def _as_tool(workflow: Workflow) -> Tool:
    # What may be of any type is text, as it is written.
    kinds = {
        name: replace(one, kind=VariableType.STRING) if one.kind is None else one
        for name, one in workflow.variables.items()
    }
    record = make_input_record(replace(workflow, variables=kinds))
    name = recipe_name(workflow.name)
    return Tool(name=name, title="", description="", input=record, output=None, handler=lambda asked, ctx: None)


def _unknown(workflow: Workflow, name: str) -> str:
    known: Mapping[str, object] = workflow.variables
    hint = suggest_nearest(shorten_text(name), list(known)) or (
        f"there are {', '.join(known)}" if known else "it has none"
    )
    return f"{recipe_name(workflow.name)} has no variable {quote_text(shorten_text(name))}\n{hint}"


_COLUMNS = (
    Column("name", lambda row: row["name"]),
    Column("file", lambda row: row["file"]),
    Column("variables", lambda row: " ".join(row["variables"])),
    Column("steps", lambda row: str(row["steps"])),
    Column("summary", lambda row: row["summary"], wraps=True),
)


_FORWARDED = "with KM_GATEWAY_URL, recipes are run by that server"
_OVER_THERE = f"`duvet call {RECIPE_TOOL} --recipe NAME` runs one of those that it has"
_LEFT_OUT = f"the configuration leaves out {RECIPE_TOOL}"


class RecipeArguments(Struct, frozen=True):
    """What a recipe is told."""

    variables: Sequence[str]
    """`NAME=VALUE`"""
    given: str | None
    """JSON, or where it comes from."""


def list_recipes(format: str | None) -> None:
    """Write which recipes there are, and say what is wrong with files that are none."""
    every = _shelf().every().values()
    rows = [_row(one, one.workflow) for one in every if one.workflow]
    print_list(Listing(_COLUMNS, rows), format)
    print_problems([problem for one in every for problem in one.problems], current_settings())
    if left_out := [one.path for one in every if not one.workflow]:
        _remark(f"left out, for {'they are no recipes' if left_out[1:] else 'it is no recipe'}: {', '.join(left_out)}")
    if is_forwarded(current_settings().environ):
        _remark(f"these are the recipes that are here; {_FORWARDED}: {_OVER_THERE}")


def _remark(words: str) -> None:
    if not current_settings().quiet:
        print_notice(f"{words}\n")


def _row(found: RecipeFile, workflow: Workflow) -> Mapping[str, Any]:
    return {
        "name": found.name,
        "file": ORIGIN_SHIPPED if found.origin == ORIGIN_SHIPPED else found.path,
        "variables": list(workflow.variables),
        "steps": len(workflow.steps),
        "summary": workflow.description,
    }


def show_recipe(name: str, format: str | None, output: str | None = None) -> None:
    """Write the file of one, or what is read in it, to a file or to standard output."""
    found = _required(name, _shelf().every())
    if found.workflow is None:
        raise ProblemsError(found.problems)
    data = encode_json(found.document.values if found.document else {}) if format == "json" else found.data
    if output is not None and not is_standard_output(output):
        store_file(output, data)
    elif format != "json" and is_on_terminal():
        write_stdout("".join(f"{escape_cell(line)}\n" for line in data.decode().splitlines()).encode())
    else:
        write_stdout(data)


def validate_recipes(paths: Sequence[str], format: str | None, where: Mapping[str, Any]) -> int:
    """Tell what is wrong with the recipes that are named, or are in files, or with all of the project; the exit code."""
    chosen = make_problem_output(format, None)
    shelf = _shelf()
    every = shelf.every()
    own = [one for one in every.values() if one.origin != ORIGIN_SHIPPED]
    found = [every.get(path) or shelf.file(path) for path in paths] or own
    assembly = _assembly(where)
    known = make_recipe_environment(_tools(assembly), every)
    problems = [problem for one in found for problem in check_recipe(one, known)]
    written = chosen.write(problems)
    if not is_runnable(problems) or not written:
        return FAILED
    _remark(f"{format_count(len(found), 'recipe')}, no errors")
    if RECIPE_TOOL not in assembly.registry and assembly.line is None:
        _remark(f"none can be run here: {_LEFT_OUT}")
    return OK


def plan_recipe(name: str, told: RecipeArguments, format: str | None, where: Mapping[str, Any]) -> int:
    """Write what one would do; the exit code."""
    workflow = _sound(name, _running(where))
    planned = plan_recipe_run(workflow, read_variables(workflow, told.variables, read_json_argument(told.given)))
    write_stdout(encode_json(planned) if format == "json" else render_plan(planned, detect_table_look()))
    return OK


def run_recipe(name: str, told: RecipeArguments, format: str | None, where: Mapping[str, Any]) -> int:
    """Run one, and write what came of each step; the exit code."""
    ##= man/spec/gateway.md#recipes
    ##% `duvet recipe run` MUST show the result of each step, and exit with 0 after success, 1 after a failure, and 2
    ##% for wrong variables.
    assembly = _running(where)
    workflow = _sound(name, assembly)
    given = read_variables(workflow, told.variables, read_json_argument(told.given))
    runs: list[WorkflowRun] = []
    try:
        _call(assembly, {"recipe": name, "vars": given}, runs)
    except ToolError as error:
        if not runs:
            raise make_shell_error(error) from error
    except KeyboardInterrupt:
        # Who interrupts is shown what was done.
        if not runs or runs[-1].error is None:
            raise
    # What is run within it comes before it.
    run = runs[-1]
    write_stdout(
        encode_json(told_of(name, run)) if format == "json" else workflow_run.render_run_text(run, detect_table_look())
    )
    if run.error is not None and run.error.code is FailureCode.CANCELLED:
        raise KeyboardInterrupt
    return OK if run.status == "success" else FAILED


def _call(assembly: Application, arguments: Mapping[str, object], runs: list[WorkflowRun]) -> None:
    tool = assembly.registry.require(RECIPE_TOOL)
    invoke_tool(assembly, tool, arguments, tells=wants_bar(current_settings()), **{RUNS_SERVICE: runs.append})


def _sound(name: str, assembly: Application) -> Workflow:
    """The recipe of that name; ProblemsError with all that is wrong with it."""
    every = _shelf().every()
    found = _required(name, every)
    problems: tuple[Problem, ...] = check_recipe(found, make_recipe_environment(assembly.registry.every(), every))
    if found.workflow is None or not is_runnable(problems):
        raise ProblemsError(problems)
    return found.workflow


def _required(name: str, every: Mapping[str, RecipeFile]) -> RecipeFile:
    try:
        return require_recipe(name, every)
    except ToolError as error:
        raise make_shell_error(error) from error


def _shelf() -> RecipeCatalogue:
    return RecipeCatalogue(DiskTree())


def _running(where: Mapping[str, Any]) -> Application:
    """The tools, where recipes of this project can be run with them; DuvetError where they can't."""
    assembly = _assembly(where)
    if assembly.line is not None:
        # What runs there are the recipes of that project, with the rights of the token that is shown.
        raise DuvetError(_FORWARDED, hint=_OVER_THERE)
    if RECIPE_TOOL not in assembly.registry:
        hint = "the pack `knowledge` is switched off, or only reads"
        raise DuvetError(_LEFT_OUT, path=assembly.service.path, hint=hint)
    return assembly


def _assembly(where: Mapping[str, Any]) -> Application:
    """The tools, those about what is known among them where the configuration doesn't leave them out."""
    return make_application({**where, PACKS_KEY: (*where[PACKS_KEY], KNOWLEDGE_SERVICE)}, mode=SHELL_SOURCE)


def _tools(assembly: Application) -> Iterator[Tool]:
    """The tools that are switched on; where no recipe can be run with them, all about what is known, too."""
    if RECIPE_TOOL not in assembly.registry:
        yield from EnabledPack(PACK).tools()
    yield from assembly.registry.every()
