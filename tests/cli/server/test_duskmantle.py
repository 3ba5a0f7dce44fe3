"""The document about the `km-` tools, section by section: each name, flag, default, limit and code that it writes.

What is behind each is tested in depth elsewhere: tools in tests/unit/tools/knowledge, search, graph and maintenance in
tests/unit/knowledge, recipes in tests/unit/workflows, scopes, errors and faces in test_knowledge.py, telemetry in
test_metrics.py, forwarding in test_gateway.py and tests/unit/tools.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields

from duvet.tools.packs import Registry, enable_packs
from tests.cli.running import run
from tests.cli.server.team import ALL, Outcome, by_rest, team
from tests.unit.knowledge.stored import NOW
from tests.unit.server.http.command import Command, HttpClient
from tests.unit.server.http.serving import ADMIN, TOKENS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return team(tmp_path_factory.mktemp("duskmantle") / "pot")


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
def admin(duvet_command: str, folder: Path) -> Iterator[Admin]:
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


def test_2_1_relationships_and_help(admin: Admin) -> None:
    node = {"node_id": "Code:src/kettle/boil.py"}
    found = {
        which: admin.call("km-graph-node", **node, relationships=which)["relationships"]
        for which in ("outgoing", "incoming", "all", "none")
    }
    assert default_of("km-graph-node", "relationships") == "outgoing"
    assert found["none"] == [] and len(found["all"]) == len(found["outgoing"]) + len(found["incoming"])
    assert set(admin.call("km-help")["tools"]) == {*ALL}
    one = admin.call("km-help", tool="km-search", include_spec=True)
    assert one["tool"] == "km-search" and one["usage"].keys() == {"description", "details"}
    assert all(f"### {name}\n" in one["spec"] for name in ALL)


def test_the_variable_for_symbols(duvet_command: str, tmp_path: Path) -> None:
    here = team(tmp_path / "pot")
    assert run(duvet_command, here, "ingest", environ={"KM_SYMBOLS_ENABLED": "false"}).code == 0
    assert "KM_SYMBOLS_ENABLED" in run(duvet_command, here, "ingest", environ={"KM_SYMBOLS_ENABLED": "maybe"}).err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("subsystems", ["kettle"]),
        ("artifact_types", ["doc", "code"]),
        ("namespaces", ["src", "kettle"]),
        ("tags", ["Integration"]),
        ("symbols", ["BOIL"]),
        ("symbol_kinds", ["class", "function", "method", "interface", "type", "module"]),
        ("symbol_languages", ["python", "typescript", "tsx", "javascript", "go"]),
        ("updated_after", "2024-01-01T00:00:00Z"),
        ("max_age_days", 36_500),
    ],
)
def test_3_search_filters(admin: Admin, name: str, value: Any) -> None:
    found = admin.call("km-search", query="boil heat", limit=10, filters={name: value})
    assert name in found["metadata"]["filters_applied"]
    for one in value if name in ("symbol_kinds", "symbol_languages") else ():
        admin.call("km-search", query="boil", filters={name: [one]})


def test_3_search(admin: Admin) -> None:
    found = admin.call("km-search", query="boil", limit=10, include_graph=True, sort_by_vector=False)
    assert found["results"][0].keys() >= {"chunk", "graph_context", "scoring"} and found["metadata"]["request_id"]
    (symbol, *_) = next(one["chunk"]["symbols"] for one in found["results"] if one["chunk"]["symbols"])
    assert symbol.keys() >= {"id", "qualified_name", "line_start", "line_end", "editor_uri"}
    assert symbol["editor_uri"].startswith("vscode://file/")


def test_3_graph(admin: Admin) -> None:
    node = admin.call("km-graph-node", node_id="DesignDoc:docs/kettle.md", relationships="all", limit=25)
    assert node["node"].keys() == {"id", "labels", "properties"}
    assert {one["direction"] for one in node["relationships"]} <= {"IN", "OUT"}
    asked = {"name": "Kettle", "depth": 2, "limit": 25, "cursor": None, "include_artifacts": True}
    subsystem = admin.call("km-graph-subsystem", **asked)
    assert subsystem.keys() >= {"subsystem", "related", "artifacts"}
    assert subsystem["related"].keys() == {"nodes", "cursor", "total"}
    assert subsystem["related"]["nodes"][0].keys() >= {"hops", "path"}
    (one, *_) = admin.call("km-graph-search", term="kettle", limit=10)["results"]
    assert one.keys() >= {"id", "label", "score", "snippet"}


def test_3_reports(admin: Admin) -> None:
    coverage = admin.call("km-coverage-summary")
    assert coverage["summary"]["artifact_total"] == len(coverage["artifacts"])
    assert coverage["summary"].keys() >= {"chunk_count", "freshness"} and coverage["missing_artifacts"]
    assert admin.call("km-lifecycle-report").keys() >= {"isolated", "stale_docs", "missing_tests"}


def test_3_ingest(admin: Admin) -> None:
    names = {"run_id", "profile", "started_at", "success", "artifact_counts", "chunk_count", "duration_seconds"}
    status = admin.call("km-ingest-status", profile="local")
    assert status.keys() >= names and status["started_at"] == NOW - 60
    for profile in ("scheduled", "demo", "my-own"):
        assert admin.call("km-ingest-status", profile=profile) == {"status": "not_found", "profile": profile}
    trigger = admin.call("km-ingest-trigger", dry_run=True, use_dummy_embeddings=False)
    assert trigger.keys() >= names and (trigger["status"], trigger["profile"]) == ("success", "manual")


def test_3_feedback(admin: Admin) -> None:
    asked = {"request_id": "uuid", "chunk_id": "docs/README.md::3", "note": "useful", "context": {"task": "demo"}}
    found = admin.call("km-feedback-submit", **asked, vote=1)
    assert found["timestamp"] and found["source"] == "mcp.manual" and {**asked, "vote": 1}.items() <= found.items()
    codes = [admin.ask("km-feedback-submit", **asked, vote=vote).code for vote in (-1.0, 1.0, 1.1, -1.1)]
    assert codes == ["", "", "invalid_request", "invalid_request"]


def test_3_backups_and_recipes(admin: Admin, duvet_command: str, folder: Path) -> None:
    name = admin.call("km-backup-trigger", destination=None)["archive"].rpartition("/")[2]
    assert name.startswith("km-backup-") and name.endswith(".tgz")
    ran = admin.call("km-recipe-run", recipe="good", vars={})
    assert ran.keys() >= {"status", "outputs", "steps"} and ran["status"] == "success"
    for recipe in ("daily-health", "release-prep", "stale-audit", "subsystem-freshness"):
        assert run(duvet_command, folder, "recipe", "show", recipe).code == 0


def test_3_uploads(admin: Admin, folder: Path) -> None:
    found = admin.call("km-upload", source_path="./given.md", destination="docs/uploads/", overwrite=True)
    assert found == {
        "status": "success",
        "stored_path": str(folder / "docs/uploads/given.md"),
        "relative_path": "docs/uploads/given.md",
        "overwritten": False,
        "ingest_triggered": False,
        "ingest_run": None,
    }
    assert admin.call("km-upload", source_path="given.md")["relative_path"] == "docs/given.md"
    about: dict[str, Any] = {"subsystem": "Deployment", "tags": ["release", "notes"], "metadata": {"author": "agent"}}
    text = {"content": "## Body\nDetails\n", "title": "Release Notes", "destination": "docs/uploads/"}
    found = admin.call("km-storetext", **text, **about)
    assert found["relative_path"] == "docs/uploads/release-notes.md" and found["status"] == "success"
    stored = (folder / "docs/uploads/release-notes.md").read_text()
    assert stored.startswith("---\ntitle: Release Notes\nsubsystem: Deployment\ntags: [release, notes]\n")
    assert stored.endswith("## Body\nDetails\n")
