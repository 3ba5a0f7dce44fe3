import json
import signal
from functools import partial
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, play, runner
from tests.cli.sample_project import PROJECTS, make
from tests.cli.terminals import Terminal
from tests.unit.llm.provider_server import Reply, Wire, openai_says
from tests.unit.tools.tool_calls import FILES

CONFIG = (PROJECTS / "recipes/workflow.yaml").read_text()
BAD = """
  bad:
    description: Wrong
    steps: [{ id: a, tool: no_such_tool }]
"""


@pytest.fixture
def project(tmp_path: Path, wire: Wire) -> Path:
    return make(tmp_path / "pot", {**FILES, "duvet.config.yaml": CONFIG.replace("URL", wire.url)})


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    return partial(runner(duvet_command, project), environ={"POT_KEY": "sk-pot-1234"})


def test_a_workflow_is_run(duvet: Run, wire: Wire) -> None:
    wire.plan(openai_says("Lids."))
    done = duvet("workflow", "run", "audit", "--var", "most=2")
    assert (done.code, done.err) == (0, "")
    assert "open     success" in done.out and done.out.endswith("Outputs\n  summary  Lids.\n  most     2\n")
    (asked,) = wire.asked
    assert asked.headers["authorization"] == "Bearer sk-pot-1234"
    assert asked.body["messages"][-1]["content"] == "In a word: Errors in handling MUST be told."
    run = json.loads(duvet("workflow", "run", "audit", "--json", '{"level": "SHOULD"}', "--format", "json").out)
    assert (run["status"], run["outputs"]) == ("success", {"summary": "Lids.", "most": 5})
    assert [(step["id"], step["status"]) for step in run["steps"]] == [("open", "success"), ("summary", "success")]


def test_a_failed_step_fails_the_workflow(duvet: Run, wire: Wire) -> None:
    wire.plan(Reply(500, b'{"error": {"message": "sk-pot-1234 is out of order"}}'))
    done = duvet("workflow", "run", "audit")
    assert (done.code, "sk-pot-1234" in f"{done.out}{done.err}") == (1, False)
    assert "code     model_failed" in done.out and "cause    unavailable" in done.out
    done = duvet("workflow", "run", "audit", "--var", "level=unspecified")
    assert done.code == 1 and "code     assert_failed" in done.out
    assert [line.split()[:2] for line in done.out.splitlines()[2:4]] == [["open", "error"], ["summary", "skipped"]]


def test_an_interrupted_workflow_is_reported(project: Path, wire: Wire, duvet_command: str) -> None:
    path = project / "duvet.config.yaml"
    path.write_text(path.read_text().replace("apiKey: $POT_KEY, ", ""))
    wire.plan(Reply(body=b"x", stops_before="headers"))
    terminal = Terminal(duvet_command, project, "workflow", "run", "audit")
    terminal.until("1/2 summary")
    terminal.process.send_signal(signal.SIGINT)
    assert (terminal.code(), terminal.shown.lines) == (130, ["0/2 open", "1/2 summary", "", "interrupted", ""])


def test_workflows_are_listed_and_checked(duvet: Run, project: Path, gold: Snapshot) -> None:
    name = "duvet.config.yaml"
    bad = {name: (project / name).read_text() + BAD}
    told = play(duvet, project, "workflow", "workflow show audit", "workflow check", bad, "workflow check audit")
    told += play(duvet, project, "workflow check", "workflow check bad", "workflow run bad", {name: "{}"}, "workflow")
    gold.assert_match(told + play(duvet, project, "workflow list --format json"), "lists.txt")
