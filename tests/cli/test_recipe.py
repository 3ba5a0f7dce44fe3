"""`duvet recipe`"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.recipes import LOOK, duvet, project
from tests.cli.running import Run, files

__all__ = ["duvet", "project"]  # fixtures, which tests ask for by name


def test_which_there_are(duvet: Run, project: Path) -> None:
    rows = json.loads(duvet("recipe", "--format", "json").out)
    assert [(row["name"], row["file"], row["steps"]) for row in rows] == [
        ("daily-health", "shipped", 4),
        ("look", "recipes/look.yaml", 3),
        ("release-prep", "shipped", 6),
        ("stale-audit", "shipped", 1),
        ("subsystem-freshness", "shipped", 2),
    ]
    (project / "recipes" / "broken.yaml").write_text("steps: 3\n")
    done = duvet("recipe", "list", "--format", "text")
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% duvet MUST list every problem of a recipe with file, line and path of the key, and run no step of it or of a
    ##% recipe that calls it.
    assert (done.code, len(done.out.splitlines())) == (0, 5)
    assert "recipes/broken.yaml:1:8" in done.err
    assert done.err.endswith("left out, for it is no recipe: recipes/broken.yaml\n")
    (project / "recipes" / "worse.yaml").write_text("steps: [\n")
    done = duvet("recipe", "list")
    assert done.err.endswith("left out, for they are no recipes: recipes/broken.yaml, recipes/worse.yaml\n")
    assert "left out" not in duvet("-q", "recipe", "list").err


def test_one_of_them(duvet: Run, project: Path) -> None:
    assert duvet("recipe", "show", "look").out == LOOK
    assert json.loads(duvet("recipe", "show", "look", "--format", "json").out)["steps"][0]["id"] == "open"
    # What is shown is a recipe of the project once it is written there.
    (project / "recipes" / "mine.yaml").write_text(duvet("recipe", "show", "daily-health").out)
    assert duvet("recipe", "validate", "daily-health").code == 0
    assert "recipes/mine.yaml" in duvet("recipe", "list").out


def test_one_that_becomes_the_projects(duvet: Run, project: Path) -> None:
    text = duvet("recipe", "show", "release-prep").out
    for _ in range(2):
        assert duvet("recipe", "show", "release-prep", "--output", "recipes/release-prep.yaml") == (0, "", "")
        assert (project / "recipes/release-prep.yaml").read_text() == text
    assert "recipes/release-prep.yaml" in duvet("recipe", "list").out
    assert duvet("recipe", "validate", "recipes/release-prep.yaml").code == 0
    assert duvet("recipe", "show", "look", "-o", "-").out == LOOK
    assert duvet("recipe", "show", "none", "--output", "none.yaml").code == 1
    assert not (project / "none.yaml").exists()


MISUSED: list[tuple[tuple[str, ...], int, str]] = [
    (("run", "look"), 2, "the variable only is missing"),
    (("run", "look", "--var", "only"), 2, '--var takes NAME=VALUE, not "only"'),
    (("run", "look", "--var", "mots=1"), 2, 'look has no variable "mots"\ndid you mean most?'),
    (("run", "look", "--var", "only=x", "--var", "most=few"), 2, "the variable most has to be a whole number"),
    (("run", "look", "--json", "[]"), 2, "--json is no object"),
    (("run", "look", "--json", '{"mots": 1}'), 2, 'recipe look has no variable "mots"'),
    (("run",), 2, "`run` needs the NAME of one recipe"),
    (("run", "a", "b"), 2, "`run` needs the NAME of one recipe"),
    (("run", "look", "--format", "sarif"), 2, "`run` is written as text, json"),
    (("list", "look"), 2, "`list` takes no name"),
    (("show", "look", "--dry-run"), 2, "--var, --json and --dry-run go with `run`"),
    (("run", "look", "--output", "a.yaml"), 2, "--output goes with `show`"),
    (("run", "lok"), 1, 'there is no recipe "lok"\n  = help: did you mean look? there are daily-health'),
    (("show", "nothing"), 1, 'there is no recipe "nothing"'),
    (("validate", "nothing.yaml"), 1, "No such file or directory"),
]


@pytest.mark.parametrize(("words", "code", "message"), MISUSED, ids=range(len(MISUSED)))
def test_misuse(duvet: Run, words: tuple[str, ...], code: int, message: str) -> None:
    done = duvet("recipe", *words)
    assert (done.code, done.out) == (code, "") and message in done.err


def test_a_dry_run(duvet: Run, project: Path) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% With `--dry-run`, `duvet recipe run` MUST show what each step would call, with `${` for values that only a run
    ##% brings, and call nothing.
    (project / "recipes" / "look.yaml").write_text(
        LOOK.replace('"${vars.only}"', '"$${x} ${vars.only} ${captures.first}"')
    )
    before = files(project)
    done = duvet("recipe", "run", "look", "--dry-run", "--var", "only=1.10", "--format", "json")
    assert json.loads(done.out) == {
        "status": "dry_run",
        "recipe": "look",
        "vars": {"level": "MUST", "most": 2, "only": "1.10"},
        "steps": [
            {"id": "open", "tool": "list_uncited_requirements", "params": {"level": "MUST", "limit": 2}},
            {
                "id": "settle",
                "tool": "km-ingest-status",
                "params": {},
                "until": {"path": "status", "equals": "ok", "interval_seconds": 2.0, "timeout_seconds": 10.0},
            },
            {"id": "help", "tool": "km-help", "params": {"tool": "$${x} 1.10 ${captures.first}"}},
        ],
    }
    done = duvet("recipe", "run", "look", "--dry-run", "--var", "only=x")
    assert done.out.splitlines()[0] == "look  dry run"
    assert 'status is "ok", every 2 s, for' in done.out and '{"tool":"$${x} x' in done.out
    assert files(project) == before
    assert duvet("recipe", "run", "look", "--dry-run").code == 2


def test_what_is_wrong(duvet: Run, project: Path) -> None:
    assert duvet("recipe", "validate").err == "1 recipe, no errors\n"
    other = project / "elsewhere.yaml"
    other.write_text(LOOK.replace("km-help", "km-hlep").replace("total, not_equals", "total, notEquals"))
    done = duvet("recipe", "validate", "elsewhere.yaml")
    assert (done.code, done.out) == (1, "")
    assert "elsewhere.yaml:8:29" in done.err and "unknown field `notEquals`" in done.err
    other.write_text(LOOK.replace("km-help", "km-hlep"))
    done = duvet("recipe", "validate", "elsewhere.yaml", "look", "--format", "json")
    (found,) = json.loads(done.out)["problems"]
    assert (done.code, found["path"], found["line"]) == (1, "elsewhere.yaml", 17)
    other.rename(project / "recipes" / "wrong.yaml")
    assert duvet("recipe", "validate").code == 1
    (project / "recipes" / "wrong.yaml").write_text(
        LOOK.replace("name: look", "name: wrong").replace("km-help", "km-hlep")
    )
    for words in (("run", "wrong"), ("run", "wrong", "--dry-run"), ("validate", "wrong")):
        done = duvet("recipe", *words)
        assert (done.code, done.out) == (1, "")
        assert 'steps[2].tool: there is no tool "km-hlep"' in done.err and "recipes/wrong.yaml:17:11" in done.err
