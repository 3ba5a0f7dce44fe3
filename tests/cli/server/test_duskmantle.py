"""The document about the `km-` tools, section by section: each name, flag, default, limit and code in it."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import run
from tests.cli.server.team import by_rest, replace_varying_values, team
from tests.unit.server.http.command import Command
from tests.unit.server.http.http_server import ADMIN, TOKENS


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
TEXT = {
    "content": "## Body\nDetails\n",
    "title": "Release Notes",
    "destination": "docs/uploads/",
    "overwrite": True,
    "subsystem": "Deployment",
    "tags": ["release", "notes"],
    "metadata": {"author": "agent"},
    "ingest": False,
}
VOTE = {"request_id": "r", "chunk_id": "src/kettle/boil.py::0", "vote": 1, "note": "useful", "context": {"task": "x"}}
UPLOAD = {"source_path": "./given.md", "destination": "docs/uploads/", "overwrite": True, "ingest": False}
AROUND = {"name": "Kettle", "depth": 2, "limit": 25, "cursor": None, "include_artifacts": True}
CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("km-search", {"query": "boil", "limit": limit}) for limit in (25, 1025)),
    *(("km-graph-node", {"node_id": "Subsystem:Kettle", "limit": limit}) for limit in (200, 1200)),
    *(("km-graph-subsystem", {"name": "Kettle", "limit": limit}) for limit in (100, 1100)),
    *(("km-graph-subsystem", {"name": "Kettle", "depth": depth}) for depth in (5, 1005)),
    *(("km-graph-search", {"term": "e", "limit": limit}) for limit in (50, 1050)),
    ("km-search", {"query": "boil", "limit": 10, "include_graph": True, "filters": FILTERS, "sort_by_vector": False}),
    ("km-graph-node", {"node_id": "DesignDoc:docs/kettle.md", "relationships": "all", "limit": 25}),
    ("km-graph-node", {"node_id": "DesignDoc:gone.md"}),
    ("km-graph-node", {"node_id": "gone"}),
    ("km-graph-subsystem", AROUND),
    ("km-graph-search", {"term": "kettle", "limit": 10}),
    ("km-coverage-summary", {}),
    *(("km-ingest-status", {"profile": profile}) for profile in ("local", "nightly")),
    ("km-ingest-trigger", {"profile": "manual", "dry_run": True, "use_dummy_embeddings": False}),
    ("km-ingest-trigger", {"paths": ["docs"]}),
    ("km-feedback-submit", VOTE),
    ("km-backup-trigger", {"destination": None}),
    ("km-recipe-run", {"recipe": "look", "vars": {"x": 2}}),
    *(("km-recipe-run", {"recipe": recipe}) for recipe in ("gone", "failing", "wrong", "late")),
    ("km-upload", UPLOAD),
    ("km-upload", {"source_path": "gone.md"}),
    ("km-storetext", TEXT),
    ("km-storetext", {"content": " "}),
]
"""The requests of the document, and each limit of it with the same request above that limit."""


def outline(value: Any) -> Any:
    """Return an answer with only the ids of what it lists; the tests of each tool compare all of it."""
    if isinstance(value, dict):
        return {name: outline(part) for name, part in value.items()}
    return [id_of(item) for item in value] if isinstance(value, list) else value


def id_of(item: Any) -> Any:
    while isinstance(item, dict):
        item = next(item[name] for name in ("chunk_id", "id", "chunk", "target", "path") if name in item)
    return item


@pytest.mark.criterion("knowledge 2.2", "knowledge 2.3", "knowledge 3.1", "knowledge 3.2", "knowledge 3.3")
@pytest.mark.criterion("knowledge 3.4", "knowledge 3.5", "knowledge 3.6", "knowledge 3.7", "knowledge 3.8")
@pytest.mark.criterion("knowledge 3.9", "knowledge 3.10", "knowledge 3.11", "knowledge 3.12")
def test_3_requests_of_the_document(duvet_command: str, tmp_path: Path, gold: Snapshot) -> None:
    folder = team(tmp_path / "pot")
    template, told = "vscode://file/{abs_path}:{line_start}", []
    with (
        Command(duvet_command, folder, KM_EDITOR_URI_TEMPLATE=template, **TOKENS) as command,
        command.client(ADMIN) as client,
    ):
        ask = by_rest(client)
        for tool, given in CALLS:
            code, value = ask(tool, given)
            shown = json.dumps(outline(replace_varying_values(value)), ensure_ascii=False).replace(
                str(folder), "<project>"
            )
            told.append(f"{tool} {json.dumps(given)}\n{f'{code}: ' if code else ''}{shown}\n")
        spec = ask("km-help", {"include_spec": True}).value["spec"]
        (first,) = ask("km-search", {"query": "boil", "limit": 1}).value["results"]
    assert first["chunk"]["symbols"][0]["editor_uri"] == f"vscode://file/{folder}/src/kettle/boil.py:1"
    gold.assert_match("\n".join(told), "answers.txt")
    assert "\ntags: [release, notes]\n" in (folder / "docs/uploads/release-notes.md").read_text()
    headings = [line.removeprefix("## ") for line in spec.splitlines() if line.startswith("## ")]
    about = ["Scopes and tokens", "Nodes", "Tools", "Forms of answers", "Answers and errors"]
    assert headings == [*about, "Telemetry", "Security", "Not supported"]
