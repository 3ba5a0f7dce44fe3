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


@pytest.mark.criterion("knowledge 2.1")
def test_2_1_examples_of_the_cheat_sheet(duvet_command: str, tmp_path: Path) -> None:
    folder = team(tmp_path / "pot")
    for words in (
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
    ):
        done = run(duvet_command, folder, "call", *shlex.split(words))
        assert done.code == 0, done.err
        assert json.loads(done.out)["status"] in ("ok", "success")


@pytest.mark.criterion("knowledge 2.2")
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


RUN = {"run_id", "profile", "started_at", "duration_seconds", "success", "artifact_counts", "chunk_count"}
STORED = {"status", "stored_path", "relative_path", "overwritten", "ingest_triggered", "ingest_run"}
FILTERS: dict[str, Any] = {
    "subsystems": ["kettle"],
    "artifact_types": ["doc", "code"],
    "namespaces": [],
    "tags": [],
    "symbols": ["BOIL"],
    "symbol_kinds": ["function"],
    "symbol_languages": ["python"],
    "updated_after": "2024-01-01T00:00:00Z",
    "max_age_days": 30_000,
}


@pytest.mark.criterion("knowledge 3.1")
def test_3_1_a_search_with_every_field(admin: Admin) -> None:
    given = {"query": "boil", "limit": 10, "include_graph": True, "filters": FILTERS, "sort_by_vector": False}
    found = admin.call("km-search", **given)
    (result,) = found["results"]
    assert result.keys() == {"chunk", "graph_context", "scoring"} and found["metadata"]["request_id"]
    (symbol,) = result["chunk"]["symbols"]
    assert (symbol["id"], symbol["line_start"]) == ("src/kettle/boil.py::boil", 1)
    assert symbol["editor_uri"].startswith("vscode://file/")


@pytest.mark.criterion("knowledge 3.2", "knowledge 3.3", "knowledge 3.4")
def test_3_2_to_3_4_the_graph(admin: Admin) -> None:
    found = admin.call("km-graph-node", node_id="DesignDoc:docs/kettle.md", relationships="all", limit=25)
    assert found["node"]["id"] == "DesignDoc:docs/kettle.md" and found["relationships"]
    assert admin.ask("km-graph-node", node_id="DesignDoc:gone.md").code == "not_found"
    assert admin.ask("km-graph-node", node_id="gone").code == "invalid_identifier"
    given = {"name": "Kettle", "depth": 2, "limit": 25, "cursor": None, "include_artifacts": True}
    found = admin.call("km-graph-subsystem", **given)
    assert found["related"].keys() == {"nodes", "cursor", "total"} and found["artifacts"]
    assert all(one["hops"] == len(one["path"]) for one in found["related"]["nodes"])
    (first, *_) = admin.call("km-graph-search", term="kettle", limit=10)["results"]
    assert first.keys() == {"id", "label", "score", "snippet"}


@pytest.mark.criterion("knowledge 3.5", "knowledge 3.6", "knowledge 3.7")
def test_3_5_to_3_7_reports_and_runs(admin: Admin) -> None:
    summary = admin.call("km-coverage-summary")["summary"]
    assert summary["artifact_total"] > 0 and summary["chunk_count"] > 0
    assert admin.call("km-ingest-status", profile="local").keys() >= RUN
    assert admin.ask("km-ingest-status", profile="nightly").value["status"] == "not_found"
    run = admin.call("km-ingest-trigger", profile="manual", dry_run=True, use_dummy_embeddings=False)
    assert run.keys() >= RUN and (run["profile"], run["status"], run["dry_run"]) == ("manual", "success", True)
    assert admin.ask("km-ingest-trigger", paths=["docs"]).code == "unsupported_operation"


@pytest.mark.criterion("knowledge 3.8", "knowledge 3.9", "knowledge 3.10", "knowledge 3.11", "knowledge 3.12")
def test_3_8_to_3_12_what_maintainers_store(admin: Admin) -> None:
    given = {
        "request_id": "r",
        "chunk_id": "src/kettle/boil.py::0",
        "vote": 1,
        "note": "useful",
        "context": {"task": "x"},
    }
    assert "timestamp" in admin.call("km-feedback-submit", **given)
    archive = admin.call("km-backup-trigger", destination=None)["archive"]
    assert archive.startswith(".duvet/knowledge/backups/km-backup-") and archive.endswith(".tgz")
    run = admin.call("km-recipe-run", recipe="look", vars={"x": 2})
    assert (run["status"], run["outputs"], [one["id"] for one in run["steps"]]) == ("success", {"x": 2}, ["a"])
    for recipe, code in (
        ("gone", "recipe_not_found"),
        ("failing", "tool_failed"),
        ("wrong", "assert_failed"),
        ("late", "timeout"),
    ):
        assert admin.ask("km-recipe-run", recipe=recipe).code == code
    copied = admin.call(
        "km-upload", source_path="./given.md", destination="docs/uploads/", overwrite=True, ingest=False
    )
    assert copied.keys() == STORED and copied["relative_path"] == "docs/uploads/given.md"
    assert admin.ask("km-upload", source_path="gone.md").code == "invalid_request"
    text = {
        "content": "## Body\nDetails\n",
        "title": "Release Notes",
        "destination": "docs/uploads/",
        "overwrite": True,
    }
    more = {"subsystem": "Deployment", "tags": ["release", "notes"], "metadata": {"author": "agent"}, "ingest": False}
    stored = admin.call("km-storetext", **text, **more)
    assert stored.keys() == STORED and stored["relative_path"] == "docs/uploads/release-notes.md"
    assert "\ntags: [release, notes]\n" in Path(stored["stored_path"]).read_text()
    assert admin.ask("km-storetext", content=" ").code == "invalid_request"


@pytest.mark.criterion("knowledge 2.3")
def test_2_help_embeds_the_document(admin: Admin) -> None:
    spec = admin.call("km-help", include_spec=True)["spec"]
    headings = [line.removeprefix("## ") for line in spec.splitlines() if line.startswith("## ")]
    about = ["Scopes and tokens", "Nodes", "Tools", "Forms of answers", "Answers and errors"]
    assert headings == [*about, "Telemetry", "Security", "Not supported"]
