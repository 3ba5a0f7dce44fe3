"""The document about the `km-` tools, section by section: each name, flag, default, limit and code in it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields

from duvet.tools.packs import Registry, enable_packs
from tests.cli.command import run
from tests.cli.server.team import Outcome, by_rest, team
from tests.unit.server.http.command import Command, HttpClient
from tests.unit.server.http.http_server import ADMIN, TOKENS


class Admin:
    """Calls tools as an admin."""

    def __init__(self, client: HttpClient) -> None:
        self._ask = by_rest(client)

    def ask(self, tool: str, /, **given: Any) -> Outcome:
        return self._ask(tool, given)

    def call(self, tool: str, /, **given: Any) -> Any:
        code, value = self._ask(tool, given)
        assert code == "", value
        return value


@pytest.fixture(scope="module")
def admin(duvet_command: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Admin]:
    folder = team(tmp_path_factory.mktemp("duskmantle") / "pot")
    template = "vscode://file/{abs_path}:{line_start}"
    environ = {"KM_EDITOR_URI_TEMPLATE": template, **TOKENS}
    with Command(duvet_command, folder, **environ) as command, command.client(ADMIN) as client:
        yield Admin(client)


def default_of(tool: str, argument: str) -> Any:
    (found,) = (one for one in Registry(enable_packs(["knowledge"])) if one.name == tool)
    return next(field.default for field in fields(found.input) if field.name == argument)


@pytest.mark.parametrize(
    "words",
    [
        'km-search --query "ingest pipeline" --limit 5',
        'km-graph-node --node-id "Code:src/kettle/boil.py"',
        "km-graph-subsystem --name Kettle --depth 2",
        "km-graph-search --term coverage",
        "km-coverage-summary",
        "km-lifecycle-report",
        "km-ingest-status --profile local",
        "km-ingest-trigger --profile local --dry-run true",
        "km-backup-trigger",
        "km-recipe-run --recipe good --vars '{}'",
        "km-feedback-submit --request-id req123 --chunk-id chunk456 --vote 1",
        "km-upload --source-path ./given.md --destination docs/uploads/",
        'km-storetext --title "Release Notes" --content "## Summary"',
        "km-search --query boil --symbol boil --kind function,method --lang python",
        "km-help --tool km-search --include-spec true",
    ],
)
def test_2_1_examples_of_the_cheat_sheet(duvet_command: str, words: str, tmp_path: Path) -> None:
    done = run(duvet_command, team(tmp_path / "pot"), "call", *shlex.split(words))
    assert done.code == 0, done.err
    assert json.loads(done.out)["status"] in ("ok", "success")


@pytest.mark.parametrize(
    ("tool", "needed", "argument", "usual", "most"),
    [
        ("km-search", {"query": "boil"}, "limit", 10, 25),
        ("km-graph-node", {"node_id": "Subsystem:Kettle"}, "limit", 50, 200),
        ("km-graph-subsystem", {"name": "Kettle"}, "limit", 25, 100),
        ("km-graph-subsystem", {"name": "Kettle"}, "depth", 1, 5),
        ("km-graph-search", {"term": "e"}, "limit", 20, 50),
    ],
)
def test_2_1_limits(admin: Admin, tool: str, needed: dict[str, Any], argument: str, usual: int, most: int) -> None:
    assert default_of(tool, argument) == usual
    more, at_most = (admin.call(tool, **needed, **{argument: count}) for count in (most + 1000, most))
    assert more.keys() == at_most.keys()
    if tool == "km-search":
        assert len(more["results"]) == len(at_most["results"]) <= most
    else:
        assert more == at_most


def test_the_variable_for_symbols(duvet_command: str, tmp_path: Path) -> None:
    here = team(tmp_path / "pot")
    assert run(duvet_command, here, "ingest", environ={"KM_SYMBOLS_ENABLED": "false"}).code == 0
    assert "KM_SYMBOLS_ENABLED" in run(duvet_command, here, "ingest", environ={"KM_SYMBOLS_ENABLED": "maybe"}).err
