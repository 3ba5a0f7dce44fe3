"""A project that maintainers keep, what they call, and what is written down of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from duvet.knowledge.settings import AUDIT_FILE
from tests.cli.made import make
from tests.unit.knowledge.ingest.made import LEDGER

SECRET = "do not tell"
CONFIG: dict[str, Any] = {"toolPacks": {"knowledge": {}}, "ingest": {"semantic": False}, "server": {"logLevel": "info"}}
KEPT = ".duvet/knowledge"
CALLS: dict[str, dict[str, Any]] = {
    "km-ingest-trigger": {"profile": "faces"},
    "km-upload": {"source_path": "docs/spec.md", "destination": "copies/spec.md", "overwrite": True},
    "km-storetext": {"content": SECRET, "title": "A note", "tags": ["a"], "overwrite": True, "ingest": True},
    "km-feedback-submit": {"request_id": "r", "chunk_id": "docs/spec.md::0", "vote": 1, "note": SECRET},
    "km-backup-trigger": {"destination": "kept"},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "ledger", {**LEDGER, "duvet.config.json": json.dumps(CONFIG)})


def audit(project: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / KEPT / AUDIT_FILE).read_text().splitlines()]
