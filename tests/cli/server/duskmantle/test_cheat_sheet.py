"""Each example of a tool, each limit, and the variables that are named on the way"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.running import Done, run
from tests.cli.server.duskmantle.calling import SCOPES, call, default
from tests.unit.server.http.team import team

EXAMPLES = [
    'km-search --query "ingest pipeline" --limit 5',
    'km-graph-node --node-id "Code:src/kettle/boil.py"',
    "km-graph-subsystem --name Kettle --depth 2",
    "km-graph-search --term coverage",
    "km-coverage-summary",
    "km-lifecycle-report",
    "km-ingest-status --profile local",
    "km-ingest-trigger --profile local --dry-run true",
    "km-backup-trigger",
    'km-recipe-run --recipe good --vars {"profile":"release"}',
    "km-feedback-submit --request-id req123 --chunk-id chunk456 --vote 1",
    "km-upload --source-path ./given.md --destination docs/uploads/",
    'km-storetext --title "Release Notes" --content "## Summary"',
    "km-search --query boil --symbol boil --kind function,method --lang python",
    "km-help --tool km-search --include-spec true",
]
LIMITS = [
    ("km-search", "limit", 10, 25),
    ("km-graph-node", "limit", 50, 200),
    ("km-graph-subsystem", "limit", 25, 100),
    ("km-graph-subsystem", "depth", 1, 5),
    ("km-graph-search", "limit", 20, 50),
]
NEEDED: dict[str, dict[str, Any]] = {
    "km-search": {"query": "boil"},
    "km-graph-node": {"node_id": "Subsystem:Kettle"},
    "km-graph-subsystem": {"name": "Kettle"},
    "km-graph-search": {"term": "e"},
}


class TestCheatSheet:
    """2.1"""

    @pytest.mark.parametrize("words", EXAMPLES)
    def test_examples(self, duvet_command: str, folder: Path, words: str, tmp_path: Path) -> None:
        import shlex

        given = words.replace('{"profile":"release"}', "'{}'")
        here = team(tmp_path / "pot")
        done: Done = run(duvet_command, here, "call", *shlex.split(given))
        assert done.code == 0, done.err
        assert json.loads(done.out)["status"] in ("ok", "success")

    @pytest.mark.parametrize(("tool", "argument", "usual", "most"), LIMITS)
    def test_limits(self, admin: httpx2.Client, tool: str, argument: str, usual: int, most: int) -> None:
        assert default(tool, argument) == usual
        more = call(admin, tool, **NEEDED[tool], **{argument: most + 1000})
        at_most = call(admin, tool, **NEEDED[tool], **{argument: most})
        assert more.keys() == at_most.keys()
        if tool != "km-search":
            assert more == at_most
        else:
            assert len(more["results"]) == len(at_most["results"]) <= most

    def test_relationships(self, admin: httpx2.Client) -> None:
        found = {
            which: call(admin, "km-graph-node", node_id="Code:src/kettle/boil.py", relationships=which)["relationships"]
            for which in ("outgoing", "incoming", "all", "none")
        }
        assert default("km-graph-node", "relationships") == "outgoing"
        assert found["none"] == [] and len(found["all"]) == len(found["outgoing"]) + len(found["incoming"])

    def test_help(self, admin: httpx2.Client) -> None:
        assert set(call(admin, "km-help")["tools"]) == {*SCOPES}
        one = call(admin, "km-help", tool="km-search", include_spec=True)
        assert one["tool"] == "km-search" and one["usage"].keys() == {"description", "details"}
        assert all(f"### {name}\n" in one["spec"] for name in SCOPES)

    def test_the_rest_mirrors_reports(self, admin: httpx2.Client) -> None:
        for path, tool in (("coverage", "km-coverage-summary"), ("lifecycle", "km-lifecycle-report")):
            report, told = admin.get(f"/api/v1/{path}").json(), call(admin, tool)
            assert report["summary"] == told["summary"] and report.keys() == told.keys()


class TestEnvironment:
    """The variables that are named on the way"""

    def test_uploads(self, duvet_command: str, tmp_path: Path) -> None:
        here = team(tmp_path / "pot")
        root = tmp_path / "root"
        root.mkdir()
        environ = {
            "KM_CONTENT_ROOT": str(root),
            "KM_UPLOAD_DEFAULT_OVERWRITE": "true",
            "KM_UPLOAD_DEFAULT_INGEST": "true",
        }
        for overwritten in (False, True):
            done = run(duvet_command, here, "call", "km-upload", "--source-path", "given.md", environ=environ)
            assert done.code == 0, done.err
            found = json.loads(done.out)
            assert (found["overwritten"], found["ingest_triggered"]) == (overwritten, True)
            assert found["ingest_run"]["success"] is True
        assert (root / "docs/given.md").read_text() == "# Given\n"
        bare = run(duvet_command, here, "call", "km-upload", "--source-path", "given.md")
        assert json.loads(bare.out)["ingest_triggered"] is False
        assert run(duvet_command, here, "call", "km-upload", "--source-path", "given.md").code == 2

    def test_symbols(self, duvet_command: str, tmp_path: Path) -> None:
        here = team(tmp_path / "pot")
        assert run(duvet_command, here, "ingest", environ={"KM_SYMBOLS_ENABLED": "false"}).code == 0
        assert "KM_SYMBOLS_ENABLED" in run(duvet_command, here, "ingest", environ={"KM_SYMBOLS_ENABLED": "maybe"}).err
