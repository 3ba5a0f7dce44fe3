"""The location of the project's index, and the audit log of commands that change it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from duvet.config.service import load_service_ingest
from duvet.config.service_tables import IngestRule
from duvet.console.command import current_settings
from duvet.errors import DuvetError
from duvet.knowledge.feedback import AuditEntry, append_record
from duvet.store.location import KnowledgeSettings, StorePaths, find_store_paths
from duvet.tools.tool import SHELL_SOURCE
from duvet.tree.files import DiskTree


def locate_store(service_path: str | None) -> StorePaths:
    settings = current_settings()
    store = load_service_ingest(DiskTree(), settings.environ, settings.config_path, service_path, settings.folder)[1]
    return find_store_paths(KnowledgeSettings(os.getcwd(), IngestRule(), store))


@contextmanager
def audited(paths: StorePaths, command: str, file: str) -> Iterator[None]:
    started, outcome = time.monotonic(), "failure"
    try:
        yield
        outcome = "success"
    finally:
        entry = AuditEntry(
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            tool=f"duvet {command}",
            outcome=outcome,
            face=SHELL_SOURCE,
            who="local",
            scopes=(),
            request="",
            duration_seconds=round(time.monotonic() - started, 3),
            arguments="",
            parameters={"file": file},
        )
        if os.path.isdir(paths.folder):
            with suppress(DuvetError):
                append_record(paths, entry)
