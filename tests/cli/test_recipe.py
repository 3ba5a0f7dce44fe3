import json
from functools import partial
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, files, interrupt, play, runner, start
from tests.cli.sample_project import PROJECTS, make
from tests.sample_project import read_files
from tests.unit.knowledge.stored_project import fill
from tests.unit.tools.tool_calls import FILES

RECIPES = read_files(PROJECTS / "recipes")
LOOK, WAIT = RECIPES["look.yaml"], RECIPES["wait.yaml"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    # The tools are enabled without a service configuration.
    return fill(make(tmp_path / "pot", {**FILES, "recipes/look.yaml": LOOK}))


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    return runner(duvet_command, project)


def test_recipes_are_listed_and_checked(duvet: Run, project: Path, gold: Snapshot) -> None:
    wrong = LOOK.replace("km-help", "km-hlep")
    unknown = {"elsewhere.yaml": wrong.replace("total, not_equals", "total, not_equal")}
    told = play(
        *(duvet, project, "recipe", "recipe list --format json", "recipe check", unknown),
        *("recipe check elsewhere.yaml", {"elsewhere.yaml": wrong}, "recipe check elsewhere.yaml look --format json"),
        *({"recipes/wrong.yaml": wrong.replace("name: look", "name: wrong")}, "recipe run wrong"),
        *("recipe run wrong --dry-run", "recipe check wrong", "recipe check"),
        *({"recipes/wrong.yaml": "steps: 3\n"}, "recipe list", {"recipes/worse.yaml": "steps: [\n"}, "recipe list"),
        "-q recipe list",
    )
    gold.assert_match(told, "lists.txt")


def test_a_recipe_is_shown(duvet: Run, project: Path) -> None:
    assert duvet("recipe", "show", "look").out == duvet("recipe", "show", "look", "-o", "-").out == LOOK
    assert json.loads(duvet("recipe", "show", "look", "--format", "json").out)["steps"][0]["id"] == "open"
    # A built-in recipe that is written to the project is a recipe of the project.
    text = duvet("recipe", "show", "release-prep").out
    for _ in range(2):
        assert duvet("recipe", "show", "release-prep", "--output", "recipes/release-prep.yaml") == (0, "", "")
        assert (project / "recipes/release-prep.yaml").read_text() == text
    assert "recipes/release-prep.yaml" in duvet("recipe", "list").out
    assert duvet("recipe", "check", "recipes/release-prep.yaml").code == 0
    assert duvet("recipe", "check", "release-prep", "daily-health").code == 0
    assert duvet("recipe", "show", "none", "--output", "none.yaml").code == 1
    assert not (project / "none.yaml").exists()


def test_a_dry_run_prints_the_plan(duvet: Run, project: Path, gold: Snapshot) -> None:
    make(project, {"recipes/look.yaml": LOOK.replace('"${vars.only}"', '"$${x} ${vars.only} ${captures.first}"')})
    before = files(project)
    done = duvet("recipe", "run", "look", "--dry-run", "--var", "only=1.10", "--format", "json")
    gold.assert_match(done.out, "plan.json")
    done = duvet("recipe", "run", "look", "--dry-run", "--var", "only=x")
    assert done.out.splitlines()[0] == "look  dry run"
    assert 'status is "ok", checked' in done.out and '{"tool":"$${x} x' in done.out
    assert duvet("recipe", "run", "look", "--dry-run").err.endswith("\n\nError: missing variable only\n")
    assert files(project) == before


def packs(**knowledge: object) -> dict[str, str]:
    return {"duvet.config.json": json.dumps({"toolPacks": {"knowledge": knowledge}})}


RUN, CHECK = "recipe run daily-health", "recipe check look release-prep"


def test_a_recipe_needs_the_pack_of_its_tools(duvet: Run, project: Path, gold: Snapshot) -> None:
    steps = (RUN, f"{RUN} --dry-run", "-q recipe list --format plain", CHECK)
    disabled = play(duvet, project, packs(enabled=False), *steps)
    assert play(duvet, project, packs(mode="read-only"), *steps) == disabled
    told = play(duvet, project, packs(tools={"km-help": False}), "recipe check look")
    gold.assert_match(f"{disabled}\n{told}", "disabled.txt")


def test_recipes_are_read_with_a_gateway(duvet: Run, project: Path, gold: Snapshot) -> None:
    environ = {"KM_GATEWAY_URL": "http://127.0.0.1:9"}
    steps = (RUN, f"{RUN} --dry-run", "recipe list", "-q recipe list", CHECK, "recipe show look")
    told = play(partial(duvet, environ=environ), project, *steps)
    assert play(partial(duvet, environ={**environ, "KM_ADMIN_TOKEN": "sesame"}), project, *steps) == told
    gold.assert_match(told, "gateway.txt")


def test_a_recipe_is_run(duvet: Run) -> None:
    done = duvet("recipe", "run", "look", "--var", "only=km-help")
    assert (done.code, done.err) == (0, "")
    lines = [line.split()[:2] for line in done.out.splitlines()]
    steps = [[id, "success"] for id in ("open", "settle", "help")]
    assert lines[:5] == [["recipe", "look"], ["step", "status"], *steps]
    assert done.out.endswith("most  2\n") and "Errors in handling MUST be told." in done.out
    run = json.loads(duvet("recipe", "run", "look", "--json", '{"only": "km-help", "most": 1}', "--format", "json").out)
    assert (run["status"], run["recipe"], run["outputs"]["most"]) == ("success", "look", 1)
    # It is a tool like others.
    call = ("call", "--pack", "knowledge", "km-recipe-run")
    told = json.loads(duvet(*call, "--recipe", "stale-audit", "--vars", '{"most": 1}').out)
    assert (told["status"], told["recipe"]) == ("success", "stale-audit")
    assert 'unknown recipe "nothing"' in duvet(*call, "--recipe", "nothing").err
    # A run that fails.
    done = duvet("recipe", "run", "look", "--var", "only=km-none")
    assert done.code == 1 and "code     tool_failed" in done.out and "cause    invalid_request" in done.out
    told = json.loads(duvet("recipe", "run", "look", "--var", "only=km-none", "--format", "json").out)
    assert told["error"]["code"] == "tool_failed"
    assert [one["status"] for one in told["steps"]] == ["success", "success", "error"]


def test_the_release_recipe_runs(duvet: Run, project: Path) -> None:
    config = '{"ingest": {"semantic": false}}'
    make(project, {"README.md": "# The pot\n\nHow to install it.\n", "duvet.config.json": config})
    done = duvet("recipe", "run", "release-prep", "--var", "profile=nightly", "--format", "json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    ids = ("ingest", "wait", "coverage", "lifecycle", "search", "backup")
    assert [(one["id"], one["status"]) for one in told["steps"]] == [(id, "success") for id in ids]
    outputs = told["outputs"]
    assert (outputs["run"]["profile"], outputs["run"]["success"]) == ("nightly", True)
    assert outputs["coverage"]["artifact_total"] > 0
    assert (project / outputs["backup_archive"]).is_file()
    # The audit log names the recipe and its calls.
    lines = (project / ".duvet/knowledge/audit.jsonl").read_text().splitlines()
    assert [(one["tool"], one["face"], one["outcome"]) for one in map(json.loads, lines)] == [
        ("km-ingest-trigger", "workflow", "success"),
        ("km-backup-trigger", "workflow", "success"),
        ("km-recipe-run", "shell", "success"),
    ]
    done = duvet("recipe", "run", "release-prep", "--var", "query=zymurgy")
    assert done.code == 1 and "code     assert_failed" in done.out


def test_an_interrupted_run_is_reported(duvet_command: str, project: Path) -> None:
    make(project, {"recipes/wait.yaml": WAIT})
    process = start(duvet_command, project, "-v", "recipe", "run", "wait", "--format", "json")
    code, out, err = interrupt(process, "1/2 wait\n")
    assert (code, err.splitlines()[-1]) == (130, "interrupted")
    told = json.loads(out)
    assert (told["recipe"], told["error"]["code"], told["steps"][0]["status"]) == ("wait", "cancelled", "success")
