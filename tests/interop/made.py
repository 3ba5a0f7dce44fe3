"""The project that the others look at."""

from __future__ import annotations

from pathlib import Path

from msgspec import json

from tests.cli.made import make
from tests.cli.made_tea import TEA_PROJECT
from tests.unit.server.walk import plan_of


def written(folder: Path) -> tuple[Path, Path]:
    """A project in the folder, and the plan for it as JSON."""
    project = make(folder / "project", TEA_PROJECT)
    file = folder / "plan.json"
    file.write_bytes(json.encode(plan_of(project)))
    return project, file
