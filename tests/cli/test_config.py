"""`duvet config`, and the extended schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pytest_snapshot.plugin import Snapshot

from duvet.commands.config import config
from duvet.config.schema import json_schema, service_schema
from duvet.errors import UnreadableError
from tests.cli.command import Done, Run, run, runner
from tests.cli.sample_project import make
from tests.cli.terminals import show_on_terminal

PATH, GITIGNORE = ".duvet/config.toml", ".duvet/.gitignore"
TEXT = """'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[report.html]
issue-link = "https://host/${{ NAME }}"
"""


@pytest.fixture
def here(duvet_command: str, tmp_path: Path) -> Run:
    return runner(duvet_command, tmp_path)


def printed(*args: str) -> str:
    result = CliRunner(env={"NAME": "me"}).invoke(config, args, catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_a_table_of_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gold: Snapshot) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreadableError, match="no configuration in this folder or above it"):
        printed()
    make(tmp_path, {PATH: TEXT, "other.toml": TEXT})
    gold.assert_match(printed(), "table.txt")
    first = {"key": "config-path", "value": "other.toml", "origin": "command line", "option": "--config-path"}
    assert json.loads(printed("--config-path", "other.toml", "--format", "json"))[0] == first


@pytest.mark.parametrize(
    ("args", "schema"),
    [
        (["--schema"], json_schema(extended=False)),
        (["--schema", "upstream"], json_schema(extended=False)),
        (["--schema=extended"], json_schema(extended=True)),
        (["--schema", "service"], service_schema()),
    ],
)
def test_a_schema_needs_no_project(args: list[str], schema: dict[str, Any]) -> None:
    assert json.loads(printed(*args)) == schema


def test_config_check_reports_problems(tmp_path: Path, here: Run) -> None:
    assert here("config", "check").err.startswith("error: no configuration in this folder or above it [DUV008]\n")
    make(tmp_path, {"duvet.config.yaml": "server: { name: pot }\n"})
    assert here("config", "check") == Done(0, "", "checked duvet.config.yaml: no errors\n")
    make(tmp_path, {PATH: TEXT})
    done = here("config", "check", environ={"NAME": "me"})
    assert done == Done(0, "", f"checked {PATH} and duvet.config.yaml: no errors\n")
    make(tmp_path, {PATH: TEXT + "titel = 1\n", "duvet.config.yaml": "sever: {}\n"})
    done = here("config", "check", "--format", "json")
    problems = json.loads(done.out)["problems"]
    assert (done.code, [one["path"] for one in problems]) == (1, [PATH, PATH, "duvet.config.yaml"])
    assert here("config", "check", "--config", "none.yaml", "--config-path", "none.toml").err.count("error:") == 2


def test_config_check_lists_all_problems_of_a_service_configuration(tmp_path: Path, here: Run) -> None:
    workflow = {"steps": [{"id": "a", "tool": "nope"}]}
    provider = {"baseUrl": "localhost:11434"}
    service = {"server": {"port": "x"}, "providers": {"local": provider}, "workflows": {"audit": workflow}}
    make(tmp_path, {"duvet.config.json": json.dumps(service, indent=1)})
    done = here("config", "check")
    assert [line for line in done.err.splitlines() if line.startswith("error: ")] == [
        'error: server.port: invalid type: string "x", expected an integer [DUV004]',
        "error: providers.local.baseUrl: provider `local` has an invalid `baseUrl` [DUV005]",
        "error: workflows.audit: missing field `description` [DUV003]",
        'error: workflows.audit.steps[0].tool: unknown tool "nope" [DUV005]',
    ]
    assert done.code == 1


def test_a_narrow_terminal_gets_a_narrow_table(duvet_command: str, tmp_path: Path) -> None:
    patterns = ", ".join(f'"src/part-{number}/**/*.py"' for number in range(9))
    text = f"'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = [{patterns}]\n"
    make(tmp_path, {".duvet/config.toml": text})
    lines = show_on_terminal(duvet_command, tmp_path, "--color", "never", "config").splitlines()
    assert lines[0].split() == ["setting", "value", "(origin)"] and max(map(len, lines)) <= 80
    assert "report.html.enabled              true (default)" in lines
    wide = show_on_terminal(duvet_command, tmp_path, "--color", "never", "config", columns=400)
    assert wide == run(duvet_command, tmp_path, "config").out
