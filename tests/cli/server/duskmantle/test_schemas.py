"""What each tool takes and answers"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.running import run
from tests.cli.server.duskmantle.calling import call
from tests.unit.knowledge.stored import DAY, NOW

RUN_FIELDS = {"run_id", "profile", "started_at", "success", "artifact_counts", "chunk_count", "duration_seconds"}
FILTERS: dict[str, Any] = {
    "subsystems": ["kettle"],
    "artifact_types": ["doc", "code"],
    "namespaces": ["src", "kettle"],
    "tags": ["Integration"],
    "symbols": ["BOIL"],
    "symbol_kinds": ["function"],
    "symbol_languages": ["python"],
    "updated_after": "2024-01-01T00:00:00Z",
    "max_age_days": 36_500,
}


class TestSchemas:
    """3"""

    @pytest.mark.parametrize("name", FILTERS)
    def test_search_filters(self, admin: httpx2.Client, name: str) -> None:
        found = call(admin, "km-search", query="boil heat", limit=10, filters={name: FILTERS[name]})
        assert name in found["metadata"]["filters_applied"]

    def test_search(self, admin: httpx2.Client) -> None:
        asked = {"query": "boil", "limit": 10, "include_graph": True, "sort_by_vector": False}
        found = call(admin, "km-search", **asked)
        (one, *_) = found["results"]
        assert one.keys() >= {"chunk", "graph_context", "scoring"} and found["metadata"]["request_id"]
        (symbol, *_) = next(one["chunk"]["symbols"] for one in found["results"] if one["chunk"]["symbols"])
        assert symbol.keys() >= {"id", "qualified_name", "line_start", "line_end", "editor_uri"}
        assert symbol["editor_uri"].startswith("vscode://file/")

    @pytest.mark.parametrize("kind", ["class", "function", "method", "interface", "type", "module"])
    def test_symbol_kinds(self, admin: httpx2.Client, kind: str) -> None:
        call(admin, "km-search", query="boil", filters={"symbol_kinds": [kind]})

    @pytest.mark.parametrize("language", ["python", "typescript", "tsx", "javascript", "go"])
    def test_symbol_languages(self, admin: httpx2.Client, language: str) -> None:
        call(admin, "km-search", query="boil", filters={"symbol_languages": [language]})

    def test_graph_node(self, admin: httpx2.Client) -> None:
        found = call(admin, "km-graph-node", node_id="DesignDoc:docs/kettle.md", relationships="all", limit=25)
        assert found["node"].keys() == {"id", "labels", "properties"}
        assert {one["direction"] for one in found["relationships"]} <= {"IN", "OUT"}

    def test_graph_subsystem(self, admin: httpx2.Client) -> None:
        asked = {"name": "Kettle", "depth": 2, "limit": 25, "cursor": None, "include_artifacts": True}
        found = call(admin, "km-graph-subsystem", **asked)
        assert found.keys() >= {"subsystem", "related", "artifacts"}
        assert found["related"].keys() == {"nodes", "cursor", "total"}
        assert found["related"]["nodes"][0].keys() >= {"hops", "path"}

    def test_graph_search(self, admin: httpx2.Client) -> None:
        (one, *_) = call(admin, "km-graph-search", term="kettle", limit=10)["results"]
        assert one.keys() >= {"id", "label", "score", "snippet"}

    def test_coverage(self, admin: httpx2.Client) -> None:
        found = call(admin, "km-coverage-summary")
        assert found["summary"]["artifact_total"] == len(found["artifacts"])
        assert found["summary"].keys() >= {"chunk_count", "freshness"} and found["missing_artifacts"]

    def test_lifecycle(self, admin: httpx2.Client) -> None:
        found = call(admin, "km-lifecycle-report")
        assert found.keys() >= {"isolated", "stale_docs", "missing_tests"}

    @pytest.mark.parametrize("profile", ["local", "scheduled", "demo", "my-own"])
    def test_ingest_status(self, admin: httpx2.Client, profile: str) -> None:
        found = call(admin, "km-ingest-status", profile=profile)
        if profile == "local":
            assert found.keys() >= RUN_FIELDS and found["started_at"] == NOW - 60 < NOW + DAY
        else:
            assert found == {"status": "not_found", "profile": profile}

    def test_ingest_trigger(self, admin: httpx2.Client) -> None:
        found = call(admin, "km-ingest-trigger", dry_run=True, use_dummy_embeddings=False)
        assert found.keys() >= RUN_FIELDS and (found["status"], found["profile"]) == ("success", "manual")

    def test_feedback(self, admin: httpx2.Client) -> None:
        asked = {
            "request_id": "uuid",
            "chunk_id": "docs/README.md::3",
            "vote": 1,
            "note": "useful",
            "context": {"task": "demo"},
        }
        found = call(admin, "km-feedback-submit", **asked)
        assert found["timestamp"] and found["source"] == "mcp.manual" and asked.items() <= found.items()
        for vote, status in ((-1.0, 200), (1.0, 200), (1.1, 400), (-1.1, 400)):
            given = {**asked, "vote": vote}
            answer = admin.post("/api/mcp", json={"tool": "km-feedback-submit", "input": given})
            assert answer.status_code == status

    def test_backup(self, admin: httpx2.Client) -> None:
        found = call(admin, "km-backup-trigger", destination=None)
        name = found["archive"].rpartition("/")[2]
        assert name.startswith("km-backup-") and name.endswith(".tgz")

    def test_recipe(self, admin: httpx2.Client) -> None:
        found = call(admin, "km-recipe-run", recipe="good", vars={})
        assert found.keys() >= {"status", "outputs", "steps"} and found["status"] == "success"

    @pytest.mark.parametrize("recipe", ["daily-health", "release-prep", "stale-audit", "subsystem-freshness"])
    def test_recipes_that_ship(self, duvet_command: str, folder: Path, recipe: str) -> None:
        assert run(duvet_command, folder, "recipe", "show", recipe).code == 0

    def test_upload(self, admin: httpx2.Client, folder: Path) -> None:
        found = call(admin, "km-upload", source_path="./given.md", destination="docs/uploads/", overwrite=True)
        at = folder / "docs/uploads/given.md"
        assert found == {
            "status": "success",
            "stored_path": str(at),
            "relative_path": "docs/uploads/given.md",
            "overwritten": False,
            "ingest_triggered": False,
            "ingest_run": None,
        }
        assert call(admin, "km-upload", source_path="given.md")["relative_path"] == "docs/given.md"

    def test_storetext(self, admin: httpx2.Client, folder: Path) -> None:
        found = call(
            admin,
            "km-storetext",
            content="## Body\nDetails\n",
            title="Release Notes",
            destination="docs/uploads/",
            subsystem="Deployment",
            tags=["release", "notes"],
            metadata={"author": "agent"},
        )
        assert found["relative_path"] == "docs/uploads/release-notes.md" and found["status"] == "success"
        text = (folder / "docs/uploads/release-notes.md").read_text()
        assert text.startswith("---\ntitle: Release Notes\nsubsystem: Deployment\ntags: [release, notes]\n")
        assert text.endswith("## Body\nDetails\n")
