"""The document about the `km-` tools, section by section: each name, flag, default, limit and code that it writes.

What stands behind each is tested in depth beside the code: tools in tests/tools/knowledge, searching and graph in
tests/knowledge, maintenance in tests/knowledge/upkeep, recipes in tests/workflows/recipes, faces, scopes, limits and metrics in
tests/server/http, forwarding in tests/tools/gateway.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import fields

from duvet.tools.choosing import named
from duvet.tools.errors import Code
from duvet.tools.registry import Registry
from duvet.tools.tool import Scope, Tool
from tests.commands.running import Done, run
from tests.knowledge.stored import DAY, NOW
from tests.server.http.command import Command
from tests.server.http.serving import ADMIN, READER
from tests.server.http.team import FAILING, TOKENS, team

KM = {tool.name: tool for tool in Registry(named(["knowledge"]))}
SCOPES = {
    "km-help": "reader",
    "km-search": "reader",
    "km-graph-node": "reader",
    "km-graph-subsystem": "reader",
    "km-graph-search": "reader",
    "km-coverage-summary": "reader",
    "km-lifecycle-report": "maintainer",
    "km-ingest-status": "maintainer",
    "km-ingest-trigger": "maintainer",
    "km-feedback-submit": "maintainer",
    "km-backup-trigger": "maintainer",
    "km-recipe-run": "maintainer",
    "km-upload": "maintainer",
    "km-storetext": "maintainer",
}
CODES = ("invalid_request", "not_found", "unauthorized", "forbidden", "upstream_error", "unsupported_operation")
RUN_FIELDS = {"run_id", "profile", "started_at", "success", "artifact_counts", "chunk_count", "duration_seconds"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return team(tmp_path_factory.mktemp("duskmantle") / "pot")


@pytest.fixture(scope="module")
def gateway(duvet_command: str, folder: Path) -> Iterator[Command]:
    environ = {**TOKENS, "KM_EDITOR_URI_TEMPLATE": "vscode://file/{abs_path}:{line_start}"}
    with Command(duvet_command, folder, **environ) as command:
        yield command


@pytest.fixture(scope="module")
def admin(gateway: Command) -> Iterator[httpx2.Client]:
    with client(gateway, ADMIN) as found:
        yield found


def client(gateway: Command, token: str = "") -> httpx2.Client:
    shown = {"authorization": f"Bearer {token}"} if token else {}
    host, port = gateway.where
    return httpx2.Client(base_url=f"http://{host}:{port}", headers=shown, timeout=60, trust_env=False)


def call(client: httpx2.Client, tool: str, /, **given: Any) -> Any:
    """What it answers, which is of the status 200."""
    answer = client.post("/api/mcp", json={"tool": tool, "input": given})
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "ok"
    return answer.json()["result"]


def default(tool: str, argument: str) -> Any:
    return next(field.default for field in fields(KM[tool].input) if field.name == argument)


class TestScopeAndAuthentication:
    """1"""

    @pytest.mark.parametrize("tool", SCOPES)
    def test_tokens(self, gateway: Command, tool: str) -> None:
        for token, status in (("", 401), (READER, 200 if SCOPES[tool] == "reader" else 403)):
            with client(gateway, token) as http:
                answer = http.post("/api/mcp", json={"tool": tool, "input": {"nonsense": 1}})
            # Who may call it is told of the argument instead.
            assert answer.status_code == (400 if status == 200 else status)

    @pytest.mark.parametrize(
        ("name", "value", "tools"),
        [("KM_READER_TOKEN", READER, {"reader"}), ("KM_ADMIN_TOKEN", ADMIN, {"reader", "maintainer"})],
    )
    def test_the_environment_of_a_client(
        self, duvet_command: str, gateway: Command, tmp_path: Path, name: str, value: str, tools: set[str]
    ) -> None:
        url = gateway.url.removesuffix("/mcp")
        desk = team(tmp_path / "desk")
        listed = run(duvet_command, desk, "tools", "--format", "json", environ={"KM_GATEWAY_URL": url, name: value}).out
        assert {row["scope"] for row in json.loads(listed) if row["name"] in KM} == tools


class TestToolCatalogue:
    """2"""

    def test_all_of_them(self, admin: httpx2.Client) -> None:
        listed = {one["name"]: one["scope"] for one in admin.get("/api/mcp").json()["tools"]}
        assert {name: scope for name, scope in listed.items() if name.startswith("km-")} == SCOPES

    @pytest.mark.parametrize("tool", KM.values(), ids=KM)
    def test_what_changes_something_says_so(self, tool: Tool) -> None:
        reads = tool.scope is Scope.READER or tool.name in ("km-lifecycle-report", "km-ingest-status")
        assert tool.only_reads == reads


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


class TestErrorModel:
    """4"""

    @pytest.mark.parametrize("code", CODES)
    def test_standard_codes(self, code: str) -> None:
        assert Code(code)

    @pytest.mark.parametrize(
        "code", ["invalid_identifier", "recipe_not_found", "tool_failed", "assert_failed", "timeout"]
    )
    def test_codes_of_single_tools(self, code: str) -> None:
        assert code in {one.code for one in FAILING}

    @pytest.mark.parametrize("failing", FAILING, ids=[f"{one.tool} {one.code}" for one in FAILING])
    def test_every_answer_has_a_status(self, admin: httpx2.Client, failing: Any) -> None:
        answer = admin.post("/api/mcp", json={"tool": failing.tool, "input": failing.given})
        found = answer.json()
        assert (answer.status_code, found["status"], found["code"]) == (failing.status, "error", failing.code)
        assert found["error"]


class TestTelemetry:
    """5"""

    @pytest.mark.parametrize("tool", SCOPES)
    def test_metrics(self, admin: httpx2.Client, tool: str) -> None:
        text = admin.get("/metrics").text
        for result in ("success", "error"):
            assert f'km_mcp_requests_total{{result="{result}",tool="{tool}"}} ' in text
        assert f'km_mcp_request_seconds_bucket{{le="+Inf",tool="{tool}"}} ' in text
        for code in CODES:
            assert f'km_mcp_failures_total{{error="{code}",tool="{tool}"}} ' in text


class TestSecurity:
    """6"""

    def test_rates_are_limited(self, duvet_command: str, tmp_path: Path) -> None:
        here = team(tmp_path / "pot")
        rarely = Command(duvet_command, here, "--rate", "0.001", **TOKENS)
        with rarely as command, client(command, READER) as http:
            found = [http.get("/api/mcp") for _ in range(3)]
        assert [one.status_code for one in found] == [200, 429, 429]
        assert int(found[1].headers["retry-after"]) > 1

    @pytest.mark.parametrize("destination", ["../x.md", "/etc/x.md", "docs/../../x.md", "~/x.md\x00", "C:\\x.md"])
    def test_paths(self, admin: httpx2.Client, destination: str) -> None:
        given = {"content": "x", "destination": destination}
        answer = admin.post("/api/mcp", json={"tool": "km-storetext", "input": given})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")

    @pytest.mark.parametrize("node", ["", ":", "x", "Label:", "Nothing:x", ":x", "Code:" + "x" * 30_000])
    def test_node_ids(self, admin: httpx2.Client, node: str) -> None:
        answer = admin.post("/api/mcp", json={"tool": "km-graph-node", "input": {"node_id": node}})
        assert answer.status_code in (400, 404)
