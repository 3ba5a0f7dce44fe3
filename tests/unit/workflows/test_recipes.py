import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from duvet.config.service_tables import WorkflowSection
from duvet.errors import DuvetError
from duvet.tools.tool import Scope, ToolError
from duvet.workflows.recipes import MAX_RECIPE_FILES, RecipeCatalogue
from duvet.workflows.workflow import make_configured_workflow
from tests.unit.knowledge.stored_project import fill
from tests.unit.workflows.recipe_project import FILLED, SHIPPED, Kitchen, states, steps

STEP = steps("{ id: a, tool: pot-hold }")


def every(kitchen: Kitchen) -> dict[str, str]:
    return {name: one.path for name, one in RecipeCatalogue(kitchen.disk).read_all().items()}


def test_links_out_of_the_project_are_refused(kitchen: Kitchen, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret.yaml").write_text("password: hunter2\n")
    for folder in ("recipes", ".duvet"):
        (kitchen.folder / folder).mkdir()
    (kitchen.folder / "recipes" / "out.yaml").symlink_to(elsewhere / "secret.yaml")
    (kitchen.folder / ".duvet" / "recipes").symlink_to(elsewhere)
    for name, path in (("out", "recipes/out.yaml"), ("secret", ".duvet/recipes/secret.yaml")):
        told = "the link points outside the project", "copy the recipe into the project"
        assert kitchen.problems(name) == [(path, 0, *told)]
        found = kitchen.failure(name)
        assert (found.code, "hunter2" in repr(found.details)) == ("invalid_request", False)
    # A link inside the project is read.
    inside = kitchen.write("brew", STEP, "kept")
    (kitchen.folder / "recipes" / "brew.yaml").symlink_to(inside)
    assert kitchen.run("brew")["status"] == "success"


def test_only_regular_files_are_recipes(kitchen: Kitchen) -> None:
    # A named file is read.
    found = RecipeCatalogue(kitchen.disk).read(str(kitchen.write("brew", STEP, "elsewhere")))
    assert (found.name, found.workflow and len(found.workflow.steps), found.problems) == ("brew", 1, ())
    folder = kitchen.folder / "recipes"
    folder.mkdir()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "folder.yaml").mkdir()
    (folder / "nowhere.yaml").symlink_to(folder / "gone.yaml")
    reasons = ["not a regular file", "Is a directory (os error 21)", "No such file or directory (os error 2)"]
    assert [kitchen.problems(name)[0][2] for name in ("pipe", "folder", "nowhere")] == reasons
    assert set(SHIPPED) <= set(every(kitchen))


def test_a_folder_has_a_thousand_recipes_at_most(kitchen: Kitchen) -> None:
    folder = kitchen.write("brew0", "").parent
    for number in range(MAX_RECIPE_FILES):
        (folder / f"tea{number}.yaml").touch()
    with pytest.raises(DuvetError, match="recipes: the folder has more than 1,000 recipes"):
        every(kitchen)
    assert kitchen.failure("brew0").code == "upstream_error"


WORDS = '1 of [{"number":0},{"number":1}]'


def test_recipes_are_read_from_two_folders_of_the_project(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##% duvet MUST read the recipes of the project from `recipes` and `.duvet/recipes`, and prefer them to built-in
    ##% recipes with the same name.
    ours = {name: f"duvet:{name}.yaml" for name in SHIPPED}
    assert every(kitchen) == ours
    kitchen.write("brew", STEP)
    kitchen.write("x", f"name: steep\n{STEP}", ".duvet/recipes")
    kitchen.write("short", STEP).rename(kitchen.folder / "recipes" / "short.yml")
    for name in ("notes.md", ".brew.yaml", "brew.yaml.orig"):
        (kitchen.folder / "recipes" / name).write_text(STEP)
    kitchen.write("deeper", STEP, "recipes/more")
    mine = {"brew": "recipes/brew.yaml", "steep": ".duvet/recipes/x.yaml", "short": "recipes/short.yml"}
    assert every(kitchen) == ours | mine
    assert list(every(kitchen)) == sorted(ours | mine)
    # Recipes of the project are preferred.
    kitchen.write("mine", f"name: daily-health\n{STEP}outputs: {{ mine: true }}\n")
    assert every(kitchen)["daily-health"] == "recipes/mine.yaml"
    assert kitchen.run("daily-health")["outputs"] == {"mine": True}
    # A wrong one is preferred as well, so that its faults are reported.
    kitchen.write("mine", "name: daily-health\n")
    assert kitchen.failure("daily-health").message == "recipes/mine.yaml:1: missing field `steps`"
    # Two recipes of one name are refused with their other faults.
    kitchen.write("brew", steps("{ id: a, tool: pot-hodl }"))
    kitchen.write("other", f"name: brew\n{STEP}")
    found = kitchen.failure("brew")
    assert found.message.startswith('recipes/brew.yaml:1: duplicate recipe name "brew", also in recipes/other.yaml')
    assert [line for _, line, _, _ in kitchen.problems("brew")] == [1, 2]


ASKER = {"face": "workflow", "scopes": ["maintainer", "reader"]}
STEPS = [
    {"id": id, "status": "success", "message": "", "result": {"value": value, "items": items, **ASKER}}
    for id, value, items in (
        ("fill", {"tea": "green", "pot": None}, [{"number": 0}, {"number": 1}]),
        ("pour", WORDS, [{"number": 0}]),
    )
]


def test_a_run_answers_status_outputs_and_steps(kitchen: Kitchen) -> None:
    kitchen.write("brew", FILLED)
    found = kitchen.run("brew", pot=None)
    assert all(isinstance(step.pop("duration_seconds"), float) for step in found["steps"])
    assert found == {
        "status": "success",
        "recipe": "brew",
        "outputs": {"last": {"number": 1}, "words": WORDS, "cups": 2, "status": "success"},
        "steps": STEPS,
        **{name: found[name] for name in ("started_at", "finished_at", "duration_seconds")},
        "warnings": [],
    }
    assert [(run.workflow, run.status, len(run.steps)) for run in kitchen.runs] == [("recipe brew", "success", 2)]


BLANK = "{ id: b, tool: pot-blank, assert: [{ path: result.value, exists: true }, { path: value, exists: false }] }"
FAILURES = {
    "{ id: b, tool: pot-spill }": ("tool_failed", "pot-spill: there is no pot", "put one there", "not_found"),
    BLANK: ("assert_failed", "value is null; expected no value", "", ""),
}


@pytest.mark.parametrize("step", FAILURES)
def test_a_run_that_fails_answers_the_code_and_all_steps(kitchen: Kitchen, step: str) -> None:
    code, message, hint, cause = FAILURES[step]
    kitchen.write("brew", steps("{ id: a, tool: pot-hold }", step, "{ id: c, tool: pot-hold }"))
    found = kitchen.failure("brew")
    assert (found.code, found.message, found.hint) == (code, f"brew failed in step b: {message}", hint)
    told: Any = found.details
    assert (told["status"], told["recipe"], told["outputs"]) == ("error", "brew", {})
    assert states(told) == [("a", "success"), ("b", "error"), ("c", "skipped")]
    assert told["steps"][1]["message"] == message
    wanted = {"code": code, "message": message, "hint": hint, "step": "b", "cause": cause}
    assert told["error"] == {name: value for name, value in wanted.items() if value}


def test_an_unknown_recipe_is_refused_with_the_available_names(kitchen: Kitchen) -> None:
    kitchen.write("a-broken-one", "steps: 3")
    there = f"available: {', '.join(SHIPPED)}"
    for name, hint in {
        "daily-helth": f"did you mean daily-health? {there}",
        "../recipes/brew": there,
        "/etc/passwd": there,
        "x" * 19_000: there,
    }.items():
        found = kitchen.failure(name)
        assert (found.code, found.hint, len(found.message) < 200) == ("recipe_not_found", hint, True)
    assert kitchen.failure(" ").code == "invalid_request"
    for number in range(10, 30):
        kitchen.write(f"brew{number}", STEP)
    assert kitchen.failure("x").hint == f"available: {', '.join(f'brew{n}' for n in range(10, 30))} and 4 more"


def test_a_recipe_has_the_rights_of_its_caller(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##% A recipe MUST have the rights of its caller, and no others.
    kitchen.write("brew", steps("{ id: a, tool: pot-fill }"))
    kitchen.write("look", STEP)
    for name in ("brew", "look"):
        with pytest.raises(ToolError) as refused:
            kitchen.start(name, scopes=[Scope.READER])
        assert (refused.value.code, kitchen.runs) == ("forbidden", [])
    # A caller who may run recipes, and nothing else.
    with pytest.raises(ToolError) as failed:
        kitchen.start("look", scopes=[Scope.MAINTAINER])
    message = "look failed in step a: pot-hold: pot-hold requires the scope reader"
    assert (failed.value.code, failed.value.message) == ("tool_failed", message)


def test_variables_are_checked_before_the_first_step(kitchen: Kitchen) -> None:
    kitchen.write("brew", FILLED.replace("equals: null", "exists: true"))
    found = kitchen.failure("brew", pot=1, cup=3)
    message = 'recipe brew has no variable "cup"'
    assert (found.code, found.message, found.details, kitchen.runs) == ("invalid_request", message, None, [])
    for pot in ("blue", 3, [1], {"a": 1}, False):
        assert kitchen.run("brew", pot=pot)["steps"][0]["result"]["value"]["pot"] == pot


CHAIN = " > ".join(f"recipe {one}" for one in "abcdef")
CIRCLES = [
    ("aba", "recipe a calls itself: recipe a > recipe b > recipe a"),
    ("abcdefg", f"workflows are nested 6 levels deep; the limit is 5: {CHAIN}"),
]
AROUND = {
    "description": "Calls a recipe.",
    "variables": {"recipe": {}},
    "steps": [{"id": "go", "tool": "km-recipe-run", "params": {"recipe": "${vars.recipe}"}}],
    "outputs": {"of": "${steps.go.result.outputs}"},
}


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Kitchen]:
    section = msgspec.json.decode(json.dumps(AROUND), type=WorkflowSection)
    found = Kitchen(tmp_path, {"around": make_configured_workflow("around", section)})
    yield found
    found.knowledge.close()


def test_a_recipe_calls_workflows_and_tools_of_any_pack(both: Kitchen) -> None:
    both.write("inner", f"{steps('{ id: a, tool: km-help, params: { tool: km-help } }')}outputs: {{ x: 1 }}\n")
    around = '{ id: one, tool: workflow.around, params: { recipe: "${vars.to}" } }'
    called = steps(around, "{ id: two, tool: pot-hold }")
    outputs = 'outputs: { x: "${steps.one.result.outputs.of.x}" }\n'
    both.write("outer", f"variables: {{ to: inner }}\n{called}{outputs}")
    assert both.run("outer")["outputs"] == {"x": 1}
    assert [run.workflow for run in both.runs] == ["recipe inner", "around", "recipe outer"]
    found = both.failure("outer", to="outer")
    assert found.code == "tool_failed"
    assert found.message.endswith("recipe outer calls itself: recipe outer > around > recipe outer")
    both.write("inner", steps("{ id: a, tool: pot-spill }"))
    assert both.failure("outer").hint == "put one there"


def test_warnings_of_inner_recipes_are_passed_on(both: Kitchen) -> None:
    both.write("inner", steps("{ id: a, tool: pot-leak }"))
    wait = "{ tool: pot-leak, params: { value: 1 }, until: { path: value, equals: 1 }, timeout_seconds: 1 }"
    one = "{ id: one, tool: workflow.around, params: { recipe: inner } }"
    two = "{ id: two, tool: km-recipe-run, params: { recipe: inner } }"
    both.write("outer", steps(one, two, f"{{ id: three, wait: {wait} }}"))
    warnings = [f"{step}: half of it is lost" for step in ("one: go: a", "two: a", "three")]
    assert both.run("outer")["warnings"] == warnings


def test_built_in_recipes_run_once_there_is_an_index(kitchen: Kitchen) -> None:
    recipes = {name: one for name, one in RecipeCatalogue(kitchen.disk).read_all().items() if one.workflow}
    assert list(recipes) == SHIPPED
    assert all(one.workflow and one.workflow.description for one in recipes.values())
    failure = kitchen.failure("daily-health")
    message = 'daily-health failed in step status: result.status is "not_found"; expected "ok"'
    assert (failure.code, failure.message) == ("assert_failed", message)
    fill(kitchen.folder)
    found = kitchen.run("daily-health")
    assert states(found) == [(name, "success") for name in ("status", "coverage", "lifecycle", "help")]
    outputs = found["outputs"]
    assert outputs["run"]["run_id"] == "r1"
    assert (outputs["coverage"]["artifact_total"], len(outputs["missing_artifacts"])) == (8, 1)
    lists = "stale_docs isolated_nodes subsystems_missing_tests removed_artifacts stale_requirements"
    assert outputs["lifecycle"].keys() == {*lists.split()}
    found = kitchen.run("stale-audit", most=1)
    assert states(found) == [("lifecycle", "success")]
    outputs = found["outputs"]
    assert outputs.keys() == {"summary", "stale_days", "stale_docs", "missing_tests", "isolated"}
    cut = "Lists are cut: 1 of 2 stale_docs, 1 of 2 removed_artifacts shown; for more, raise limit."
    assert found["warnings"] == [f"lifecycle: {cut}"]
    assert (outputs["stale_days"], outputs["summary"]["stale_docs"]) == (30, 2)
    assert [one["path"] for one in outputs["stale_docs"]] == ["README.md"]
    assert [one["subsystem"] for one in outputs["missing_tests"]] == ["Tea"]
    found = kitchen.run("subsystem-freshness", subsystem="kettle", days=36_500)
    assert states(found) == [("graph", "success"), ("search", "success")]
    outputs = found["outputs"]
    assert (outputs["subsystem"], len(outputs["artifacts"]) > 0) == ("Kettle", True)
    assert {one["chunk"]["subsystem"] for one in outputs["recent"]} == {"Kettle"}
    assert kitchen.failure("subsystem-freshness").message == "missing variable subsystem"
    error: Any = kitchen.failure("subsystem-freshness", subsystem="Teapot").details["error"]  # type: ignore[index]
    assert (error["code"], error["cause"], error["step"]) == ("tool_failed", "not_found", "graph")


@pytest.mark.parametrize(("way", "message"), CIRCLES)
@pytest.mark.parametrize("is_written", [True, False])
def test_recipes_that_call_themselves_or_too_deeply_are_refused(
    kitchen: Kitchen, way: str, message: str, is_written: bool
) -> None:
    ##= man/spec/workflows.md#limits
    ##% The engine MUST reject a workflow that calls itself, and a chain of more than five nested workflows.
    kitchen.write("g", STEP)
    for one, other in pairwise(way):
        # A call that a variable names is found only in a run.
        text = f"variables: {{ next: {other} }}\n"
        called = other if is_written else '"${vars.next}"'
        kitchen.write(one, text + steps(f"{{ id: go, tool: km-recipe-run, params: {{ recipe: {called} }} }}"))
    found = kitchen.failure("a")
    if is_written:
        assert (found.code, found.message) == ("invalid_request", f"recipes/a.yaml:3: steps[0].tool: {message}")
        assert kitchen.runs == []
    else:
        assert found.code == "tool_failed" and found.message.endswith(message)
        assert [run.status for run in kitchen.runs] == ["error"] * len(kitchen.runs)
