"""Which recipes there are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.errors import DuvetError
from duvet.workflows.recipes import MAX_RECIPE_FILES, RecipeCatalogue
from tests.unit.workflows.recipes.made import SHIPPED, Kitchen, steps

STEP = steps("{ id: a, tool: pot-hold }")


def every(kitchen: Kitchen) -> dict[str, str]:
    return {name: one.path for name, one in RecipeCatalogue(kitchen.disk).every().items()}


def test_where_they_are(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% For each run, duvet MUST read the recipes in `recipes` and `.duvet/recipes`, except through links out of the
    ##% project, and prefer them to its own recipes of the same name.
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


def test_those_of_the_project_come_first(kitchen: Kitchen) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% For each run, duvet MUST read the recipes in `recipes` and `.duvet/recipes`, except through links out of the
    ##% project, and prefer them to its own recipes of the same name.
    kitchen.write("mine", f"name: daily-health\n{STEP}outputs: {{ mine: true }}\n")
    assert every(kitchen)["daily-health"] == "recipes/mine.yaml"
    assert kitchen.run("daily-health")["outputs"] == {"mine": True}
    # Also where it is wrong: what somebody has put there is not passed over.
    kitchen.write("mine", "name: daily-health\n")
    assert kitchen.failure("daily-health").message == "recipes/mine.yaml:1: missing field `steps`"


def test_two_of_one_name(kitchen: Kitchen) -> None:
    kitchen.write("brew", STEP)
    kitchen.write("other", f"name: brew\n{STEP}")
    found = kitchen.failure("brew")
    assert found.message == 'recipes/brew.yaml:1: "brew" is the name of the recipe in recipes/other.yaml, too'


def test_links_that_lead_out(kitchen: Kitchen, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret.yaml").write_text("password: hunter2\n")
    (kitchen.folder / "recipes").mkdir()
    (kitchen.folder / "recipes" / "out.yaml").symlink_to(elsewhere / "secret.yaml")
    (kitchen.folder / ".duvet").mkdir()
    (kitchen.folder / ".duvet" / "recipes").symlink_to(elsewhere)
    assert kitchen.problems("out") == [
        ("recipes/out.yaml", 0, "this leads out of the project", "put the recipe itself there")
    ]
    assert kitchen.problems("secret")[0][2] == "this leads out of the project"
    for name in ("out", "secret"):
        found = kitchen.failure(name)
        assert (found.code, "hunter2" in repr(found.details)) == ("invalid_request", False)
    # One that stays inside is as good as a file.
    inside = kitchen.write("brew", STEP, "kept")
    (kitchen.folder / "recipes" / "brew.yaml").symlink_to(inside)
    assert kitchen.run("brew")["status"] == "success"


def test_what_is_no_file(kitchen: Kitchen) -> None:
    folder = kitchen.folder / "recipes"
    folder.mkdir()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "folder.yaml").mkdir()
    (folder / "nowhere.yaml").symlink_to(folder / "gone.yaml")
    assert [kitchen.problems(name)[0][2] for name in ("pipe", "folder", "nowhere")] == [
        "not a regular file",
        "Is a directory (os error 21)",
        "No such file or directory (os error 2)",
    ]
    assert set(SHIPPED) <= set(every(kitchen))


def test_more_than_anybody_has(kitchen: Kitchen) -> None:
    for number in range(MAX_RECIPE_FILES + 1):
        kitchen.write(f"brew{number}", "")
    with pytest.raises(DuvetError, match="recipes: more than 1,000 recipes in a folder"):
        every(kitchen)
    assert kitchen.failure("brew0").code == "upstream_error"


def test_a_file_that_somebody_names(kitchen: Kitchen, tmp_path: Path) -> None:
    path = kitchen.write("brew", STEP, "elsewhere")
    found = RecipeCatalogue(kitchen.disk).file(str(path))
    assert (found.name, found.workflow and len(found.workflow.steps), found.problems) == ("brew", 1, ())
