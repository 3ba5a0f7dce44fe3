"""Recipes that tests of `duvet recipe` run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.made import make
from tests.cli.running import Run, runner
from tests.unit.knowledge.stored import fill
from tests.unit.tools.made import FILES

LOOK = """\
name: look
summary: Looks at what nothing cites.
variables: { level: MUST, most: 2, only: null }
steps:
  - id: open
    tool: list_uncited_requirements
    params: { level: "${vars.level}", limit: "${vars.most}" }
    assert: [{ path: total, not_equals: 0 }]
    capture: [{ name: first, path: "result.result[0].text" }]
  - id: settle
    wait:
      tool: km-ingest-status
      until: { path: status, equals: ok }
      interval_seconds: 2
      timeout_seconds: 10
  - id: help
    tool: km-help
    params: { tool: "${vars.only}" }
outputs: { text: "${captures.first}", most: "${vars.most}" }
"""
WAIT = """\
steps:
  - { id: done, tool: km-help }
  - { id: wait, wait: { tool: km-ingest-status, until: { path: status, equals: never } } }
"""


def with_recipes(folder: Path) -> Path:
    """A project that was taken in, and that has a recipe."""
    # Without a configuration of the service: the tools are switched on all the same.
    return fill(make(folder, {**FILES, "recipes/look.yaml": LOOK}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return with_recipes(tmp_path / "pot")


@pytest.fixture
def duvet(duvet_command: str, project: Path) -> Run:
    return runner(duvet_command, project)
