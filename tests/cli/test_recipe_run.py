"""`duvet recipe run`"""

from __future__ import annotations

import json
import signal
from pathlib import Path

from tests.cli.made import make
from tests.cli.recipes import WAIT, duvet, project
from tests.cli.running import Run, start
from tests.cli.terminals import Terminal
from tests.unit.specs.serving import LONGEST

__all__ = ["duvet", "project"]  # fixtures, which tests ask for by name


def test_a_run(duvet: Run) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% `duvet recipe run` MUST show the result of each step, and exit with 0 after success, 1 after a failure, and 2
    ##% for wrong variables.
    done = duvet("recipe", "run", "look", "--var", "only=km-help")
    assert (done.code, done.err) == (0, "")
    lines = [line.split()[:2] for line in done.out.splitlines()]
    assert lines[:5] == [
        ["recipe", "look"],
        ["step", "status"],
        *([id, "success"] for id in ("open", "settle", "help")),
    ]
    assert done.out.endswith("most  2\n") and "Errors in handling MUST be told." in done.out
    run = json.loads(duvet("recipe", "run", "look", "--json", '{"only": "km-help", "most": 1}', "--format", "json").out)
    assert (run["status"], run["recipe"], run["outputs"]["most"]) == ("success", "look", 1)


def test_a_run_that_fails(duvet: Run) -> None:
    done = duvet("recipe", "run", "look", "--var", "only=km-none")
    assert done.code == 1 and "code     tool_failed" in done.out and "cause    invalid_request" in done.out
    told = json.loads(duvet("recipe", "run", "look", "--var", "only=km-none", "--format", "json").out)
    assert (told["error"]["code"], [one["status"] for one in told["steps"]]) == (
        "tool_failed",
        ["success", "success", "error"],
    )
    done = duvet("recipe", "run", "look", "--var=only=", "--var", "level=unspecified")
    assert done.code == 1 and "code     assert_failed" in done.out


def test_a_release(duvet: Run, project: Path) -> None:
    ##= man/spec/gateway.md#recipes
    ##= type=test
    ##% A recipe MUST be able to call every enabled tool and workflow, with the rights of its caller.
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
    # The account of changes names the recipe, and what it has called.
    lines = (project / ".duvet/knowledge/audit.jsonl").read_text().splitlines()
    deeds = [(one["tool"], one["face"], one["outcome"]) for one in map(json.loads, lines)]
    assert deeds == [
        ("km-ingest-trigger", "workflow", "success"),
        ("km-backup-trigger", "workflow", "success"),
        ("km-recipe-run", "shell", "success"),
    ]
    done = duvet("recipe", "run", "release-prep", "--var", "query=zymurgy")
    assert done.code == 1 and "code     assert_failed" in done.out


def test_progress_on_a_terminal(duvet_command: str, project: Path) -> None:
    terminal = Terminal(duvet_command, make(project, {"recipes/wait.yaml": WAIT}), "recipe", "run", "wait")
    terminal.until("1/2 wait")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.code() == 130


def test_an_interruption(duvet_command: str, project: Path) -> None:
    make(project, {"recipes/wait.yaml": WAIT})
    process = start(duvet_command, project, "-v", "recipe", "run", "wait", "--format", "json")
    assert process.stderr is not None
    assert any(line == "1/2 wait\n" for line in process.stderr)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LONGEST)
    assert (process.returncode, err.splitlines()[-1]) == (130, "interrupted")
    told = json.loads(out)
    assert (told["recipe"], told["error"]["code"], told["steps"][0]["status"]) == ("wait", "cancelled", "success")


def test_it_is_a_tool_like_others(duvet: Run) -> None:
    call = ("call", "--pack", "knowledge", "km-recipe-run")
    told = json.loads(duvet(*call, "--recipe", "stale-audit", "--vars", '{"most": 1}').out)
    assert (told["status"], told["recipe"]) == ("success", "stale-audit")
    done = duvet(*call, "--recipe", "nothing")
    assert (done.code, 'there is no recipe "nothing"' in done.err) == (1, True)
