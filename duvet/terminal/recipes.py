"""Recipes from the shell: which there are, what is wrong with them, and runs of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.model import Problem, ProblemsError
from duvet.outputs import store
from duvet.reports import workflow_run
from duvet.reports.cells import visible
from duvet.reports.json_document import document
from duvet.reports.listing import Column, Listing
from duvet.runs import FailureCode, Run
from duvet.terminal.calling import as_shell_error, called, text_of
from duvet.terminal.exit_codes import FAILED, OK
from duvet.terminal.failures import report
from duvet.terminal.forwarding import is_forwarded
from duvet.terminal.listings import is_on_terminal, look, pour_list
from duvet.terminal.problem_formats import answer, tell_problems
from duvet.terminal.recipe_plans import plan_text
from duvet.terminal.recipe_variables import told_variables
from duvet.terminal.service import Assembly, assembly_of
from duvet.terminal.service_options import PACKS
from duvet.terminal.settings import settings, wants_bar
from duvet.terminal.streams import is_standard_output, pour, say
from duvet.text import plural
from duvet.tools.chosen import Chosen
from duvet.tools.errors import ToolError
from duvet.tools.faces import SHELL
from duvet.tools.knowledge.km_recipe_run import told as told_of
from duvet.tools.services import KNOWLEDGE, RUNS
from duvet.tools.tool import Tool
from duvet.workflows.names import RECIPE_TOOL
from duvet.workflows.recipes.checking import is_sound, known_of, problems_of
from duvet.workflows.recipes.plan import plan
from duvet.workflows.recipes.reading import SHIPPED, Found
from duvet.workflows.recipes.running import require
from duvet.workflows.recipes.shelf import Shelf
from duvet.workflows.records import Workflow

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


class Told(Struct, frozen=True):
    """What a recipe is told."""

    variables: Sequence[str]
    """`NAME=VALUE`"""
    given: str | None
    """JSON, or where it comes from."""


def list_recipes(format: str | None) -> None:
    """Write which recipes there are, and say what is wrong with files that are none."""
    every = _shelf().every().values()
    rows = [_row(one, one.workflow) for one in every if one.workflow]
    pour_list(Listing(_COLUMNS, rows), format)
    ##= man/spec/gateway.md#recipes
    ##% `duvet recipe list` MUST tell on standard error what is wrong with files that are no recipes, and that they are left
    ##% out.
    report([problem for one in every for problem in one.problems], settings())
    if left_out := [one.path for one in every if not one.workflow]:
        _remark(f"left out, for {'they are no recipes' if left_out[1:] else 'it is no recipe'}: {', '.join(left_out)}")
    if is_forwarded(settings().environ):
        _remark(f"these are the recipes that are here; {_FORWARDED}: {_OVER_THERE}")


def _remark(words: str) -> None:
    if not settings().quiet:
        say(f"{words}\n")


def _row(found: Found, workflow: Workflow) -> Mapping[str, Any]:
    return {
        "name": found.name,
        "file": SHIPPED if found.origin == SHIPPED else found.path,
        "variables": list(workflow.variables),
        "steps": len(workflow.steps),
        "summary": workflow.description,
    }


def show_recipe(name: str, format: str | None, output: str | None = None) -> None:
    """Write the file of one, or what is read in it, to a file or to standard output."""
    found = _required(name, _shelf().every())
    if found.workflow is None:
        raise ProblemsError(found.problems)
    data = document(found.document.values if found.document else {}) if format == "json" else found.data
    if output is not None and not is_standard_output(output):
        ##= man/spec/gateway.md#recipes
        ##% `duvet recipe show --output` MUST write the file whole, after the recipe was found, so that a recipe of duvet's
        ##% becomes one of the project.
        store(output, data)
    elif format != "json" and is_on_terminal():
        pour("".join(f"{visible(line)}\n" for line in data.decode().splitlines()).encode())
    else:
        pour(data)


def validate_recipes(paths: Sequence[str], format: str | None, where: Mapping[str, Any]) -> int:
    """Tell what is wrong with the recipes that are named, or are in files, or with all of the project; the exit code."""
    chosen = answer(format, None)
    shelf = _shelf()
    every = shelf.every()
    own = [one for one in every.values() if one.origin != SHIPPED]
    found = [every.get(path) or shelf.file(path) for path in paths] or own
    assembly = _assembly(where)
    known = known_of(_tools(assembly), every)
    problems = [problem for one in found for problem in problems_of(one, known)]
    written = tell_problems(problems, chosen)
    if not is_sound(problems) or not written:
        return FAILED
    _remark(f"{plural(len(found), 'recipe')}, no errors")
    if RECIPE_TOOL not in assembly.registry and assembly.line is None:
        _remark(f"none can be run here: {_LEFT_OUT}")
    return OK


def plan_recipe(name: str, told: Told, format: str | None, where: Mapping[str, Any]) -> int:
    """Write what one would do; the exit code."""
    workflow = _sound(name, _running(where))
    planned = plan(workflow, told_variables(workflow, told.variables, text_of(told.given)))
    pour(document(planned) if format == "json" else plan_text(planned, look()))
    return OK


def run_recipe(name: str, told: Told, format: str | None, where: Mapping[str, Any]) -> int:
    """Run one, and write what came of each step; the exit code."""
    ##= man/spec/gateway.md#recipes
    ##% `duvet recipe run` MUST show what came of every step and of the whole, and exit with 0 where it was done, with 1 where
    ##% it has failed, and with 2 where it was told what it can't be told.
    assembly = _running(where)
    workflow = _sound(name, assembly)
    given = told_variables(workflow, told.variables, text_of(told.given))
    runs: list[Run] = []
    try:
        _call(assembly, {"recipe": name, "vars": given}, runs)
    except ToolError as error:
        if not runs:
            raise as_shell_error(error) from error
    except KeyboardInterrupt:
        # Who interrupts is shown what was done.
        if not runs or runs[-1].error is None:
            raise
    # What is run within it comes before it.
    run = runs[-1]
    pour(document(told_of(name, run)) if format == "json" else workflow_run.render_text(run, look()))
    if run.error is not None and run.error.code is FailureCode.CANCELLED:
        raise KeyboardInterrupt
    return OK if run.status == "success" else FAILED


def _call(assembly: Assembly, arguments: Mapping[str, object], runs: list[Run]) -> None:
    tool = assembly.registry.require(RECIPE_TOOL)
    called(assembly, tool, arguments, tells=wants_bar(settings()), **{RUNS: runs.append})


def _sound(name: str, assembly: Assembly) -> Workflow:
    """The recipe of that name; ProblemsError with all that is wrong with it."""
    every = _shelf().every()
    found = _required(name, every)
    problems: tuple[Problem, ...] = problems_of(found, known_of(assembly.registry.every(), every))
    if found.workflow is None or not is_sound(problems):
        raise ProblemsError(problems)
    return found.workflow


def _required(name: str, every: Mapping[str, Found]) -> Found:
    try:
        return require(name, every)
    except ToolError as error:
        raise as_shell_error(error) from error


def _shelf() -> Shelf:
    from duvet.tree.disk import DiskTree

    return Shelf(DiskTree())


def _running(where: Mapping[str, Any]) -> Assembly:
    """The tools, where recipes of this project can be run with them; DuvetError where they can't."""
    assembly = _assembly(where)
    ##= man/spec/gateway.md#recipes
    ##% With `KM_GATEWAY_URL`, `duvet recipe run` MUST be refused, also with `--dry-run`, and `duvet recipe list` MUST say on
    ##% standard error that it lists the recipes that are here.
    if assembly.line is not None:
        # What runs there are the recipes of that project, with the rights of the token that is shown.
        raise DuvetError(_FORWARDED, hint=_OVER_THERE)
    if RECIPE_TOOL not in assembly.registry:
        hint = "the pack `knowledge` is switched off, or only reads"
        raise DuvetError(_LEFT_OUT, path=assembly.service.path, hint=hint)
    return assembly


def _assembly(where: Mapping[str, Any]) -> Assembly:
    """The tools, those about what is known among them where the configuration doesn't leave them out."""
    return assembly_of({**where, PACKS: (*where[PACKS], KNOWLEDGE)}, mode=SHELL)


def _tools(assembly: Assembly) -> Iterator[Tool]:
    """The tools that are switched on; where no recipe can be run with them, all about what is known, too."""
    ##= man/spec/gateway.md#recipes
    ##% Where the configuration leaves out `km-recipe-run`, `duvet recipe validate` MUST know all tools of the pack
    ##% `knowledge` all the same, for it runs nothing.
    if RECIPE_TOOL not in assembly.registry:
        from duvet.tools.knowledge.pack import KNOWLEDGE as PACK

        yield from Chosen(PACK).tools()
    yield from assembly.registry.every()
