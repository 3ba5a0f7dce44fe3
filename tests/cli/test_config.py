import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from pytest_snapshot.plugin import Snapshot

from duvet.commands.config import config
from duvet.config.schema import json_schema, service_schema
from duvet.errors import UnreadableError
from tests.cli.command import play, run
from tests.cli.sample_project import make
from tests.cli.terminals import show_on_terminal

PATH = ".duvet/config.toml"
TEXT = """'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[report.html]
issue-link = "https://host/${{ NAME }}"
"""


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


def test_a_schema_needs_no_project() -> None:
    plain, extended, service = json_schema(extended=False), json_schema(extended=True), service_schema()
    for words, schema in (
        ("--schema", plain),
        ("--schema upstream", plain),
        ("--schema=extended", extended),
        ("--schema service", service),
    ):
        assert json.loads(printed(*words.split())) == schema


WORKFLOW = {"audit": {"steps": [{"id": "a", "tool": "nope"}]}}
SERVICE = {"server": {"port": "x"}, "providers": {"local": {"baseUrl": "localhost:11434"}}, "workflows": WORKFLOW}
CHECKS: tuple[str | dict[str, str], ...] = (
    *("config check", {"duvet.config.yaml": "server: { name: pot }\n"}, "config check", {PATH: TEXT}, "config check"),
    *(
        {PATH: TEXT.replace("NAME", "UNSET") + "titel = 1\n", "duvet.config.yaml": "sever: {}\n"},
        "config check",
        "config check --format json",
    ),
    *(
        "config check --config none.yaml --config-path none.toml",
        {PATH: "", "team.json": json.dumps(SERVICE, indent=1)},
    ),
    "config check --service-config team.json",
)


def test_config_check_reports_problems(tmp_path: Path, duvet_command: str, gold: Snapshot) -> None:
    here = partial(run, duvet_command, make(tmp_path, {".git/HEAD": ""}), environ={"NAME": "me"})
    gold.assert_match(play(here, tmp_path, *CHECKS), "checks.txt")


def test_a_narrow_terminal_gets_a_narrow_table(duvet_command: str, tmp_path: Path) -> None:
    patterns = ", ".join(f'"src/part-{number}/**/*.py"' for number in range(9))
    text = f"'$schema' = 'duvet-cli/config/v1'\n[[source]]\npattern = [{patterns}]\n"
    make(tmp_path, {".duvet/config.toml": text})
    lines = show_on_terminal(duvet_command, tmp_path, "--color", "never", "config").splitlines()
    assert lines[0].split() == ["setting", "value", "(origin)"] and max(map(len, lines)) <= 80
    assert "report.html.enabled              true (default)" in lines
    unknown = show_on_terminal(duvet_command, tmp_path, "--color", "never", "config", columns=0)
    assert 80 < max(map(len, unknown.splitlines())) <= 100
    wide = show_on_terminal(duvet_command, tmp_path, "--color", "never", "config", columns=400)
    assert wide == run(duvet_command, tmp_path, "config").out
