"""`duvet config`"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from duvet.commands.config import config
from duvet.config.schema import json_schema, service_schema
from duvet.errors import UnreadableError

TEXT = """'$schema' = "https://awslabs.github.io/duvet/config/v0.4.json"
[report.html]
issue-link = "https://host/${{ NAME }}"
"""
TABLE = """\
config-path              .duvet/config.toml                                default
$schema                  https://awslabs.github.io/duvet/config/v0.4.json  .duvet/config.toml:1
report.html.enabled      true                                              default
report.html.path         .duvet/reports/report.html                        default
report.html.blob-link    -                                                 default
report.html.issue-link   https://host/me                                   .duvet/config.toml:3 $NAME
report.json.enabled      false                                             default
report.json.path         .duvet/reports/report.json                        default
report.snapshot.enabled  false                                             default
report.snapshot.path     .duvet/snapshot.txt                               default
requirement              .duvet/requirements/**/*.toml                     built in
requirement              .duvet/todos/**/*.toml                            built in
requirement              .duvet/exceptions/**/*.toml                       built in
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a configuration."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".duvet").mkdir()
    (tmp_path / ".duvet/config.toml").write_text(TEXT)
    return tmp_path


def stdout(*args: str) -> str:
    result = CliRunner(env={"NAME": "me"}).invoke(config, args, catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


@pytest.mark.usefixtures("project")
def test_a_table_of_settings() -> None:
    ##= man/spec/trace.md#configuration
    ##% `duvet config` MUST show each value in force and where it comes from.
    assert stdout() == TABLE


def test_json_of_a_file_that_is_given(project: Path) -> None:
    (project / ".duvet/config.toml").rename(project / "other.toml")
    assert json.loads(stdout("--config-path", "other.toml", "--format", "json"))[0] == {
        "key": "config-path",
        "value": "other.toml",
        "origin": "command line",
        "option": "--config-path",
    }


@pytest.mark.parametrize(
    ("args", "extended"), [(["--schema"], False), (["--schema", "upstream"], False), (["--schema=extended"], True)]
)
def test_a_schema_needs_no_project(args: list[str], extended: bool) -> None:
    assert json.loads(stdout(*args)) == json_schema(extended=extended)


def test_the_schema_of_the_service() -> None:
    assert json.loads(stdout("--schema", "service")) == service_schema()


def test_a_folder_without_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreadableError, match="no configuration in this folder"):
        stdout()
