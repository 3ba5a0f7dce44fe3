"""Projects that are kept up to date."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from duvet.config.settings import IngestRule, StoreSection
from duvet.knowledge.backup import create_backup
from duvet.knowledge.feedback import Vote
from duvet.knowledge.index import OpenedProject
from duvet.knowledge.settings import KnowledgeSettings, StorePaths, find_store_paths
from duvet.progress import Progress
from duvet.project.project import Project
from duvet.store.location import open_store
from duvet.store.records import Store
from tests.cli.running import environment
from tests.unit.knowledge.stored import NOW
from tests.unit.store.contents import everything

CLOCK = datetime.fromtimestamp(NOW, UTC)
STAMP = "20270115T080000"
"""The same in the name of a backup."""


def opener(folder: Path) -> Callable[[Progress], OpenedProject]:
    def opened(progress: Progress) -> OpenedProject:
        project = Project(str(folder), environ={"PATH": os.environ["PATH"]}, progress=progress)
        return OpenedProject(project, lambda: project.catalogue)

    return opened


def places(folder: Path, backups: str = "") -> StorePaths:
    return find_store_paths(KnowledgeSettings(str(folder), IngestRule(), StoreSection(backups=backups)))


def vote(chunk: str, given: float | None, request: str = "r", note: str | None = None) -> Vote:
    return Vote(request_id=request, chunk_id=chunk, vote=given, note=note, timestamp=CLOCK.isoformat())


def program(text: str, *args: object) -> subprocess.Popen[str]:
    """Another process that runs this program."""
    return subprocess.Popen(
        [sys.executable, "-c", text, *map(str, args)],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )


def some_lines(process: subprocess.Popen[str], count: int) -> list[str]:
    """What it says first."""
    assert process.stdout
    return [process.stdout.readline().strip() for _ in range(count)]


def made(kept: StorePaths) -> str:
    return create_backup(kept, kept.backups, CLOCK).path


def asked(path: str, question: Callable[[Store], Any] = everything) -> Any:
    with closing(open_store(path)) as store:
        return question(store)
