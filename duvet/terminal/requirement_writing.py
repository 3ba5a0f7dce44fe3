"""Extracted requirements go to disk: what changed is written, what is stale is named or removed."""

from __future__ import annotations

import os

from duvet.errors import OutputError, describe
from duvet.model import Problem
from duvet.outputs import store_changed, together
from duvet.project import Project
from duvet.specs.extraction import Extraction
from duvet.specs.stale import left_files, left_problem, stale_files, stale_problem


def write_requirements(project: Project, extraction: Extraction, *, prune: bool) -> list[Problem]:
    """Write the files whose bytes differ; a warning for each stale one, unless it is to be removed."""
    memory = project.memory
    with together() as write:
        doubtful = [path for path, data in extraction.files.items() if not memory.holds(path, data)]
        for path in doubtful:
            store_changed(project.disk.at(path), extraction.files[path], write)
    for path in doubtful:
        memory.wrote(path, extraction.files[path])
    stale = {path: stale_problem(path) for path in stale_files(extraction, project.tree)}
    stale |= {path: left_problem(path, name) for path, name in left_files(extraction, project.library)}
    ##= man/spec/trace.md#requirements
    ##% A requirement file that nothing asks for any more SHOULD cause a warning.
    if not prune:
        return list(stale.values())
    ##= man/spec/trace.md#requirements
    ##% With `--prune`, such files MUST be removed, and no other file.
    for path in stale:
        _remove(project, path)
    return []


def _remove(project: Project, path: str) -> None:
    try:
        os.unlink(project.disk.at(path))
    except OSError as error:
        raise OutputError(f"can't remove this file: {describe(error)}", path=path) from error
    project.memory.removed(path)
    project.progress.end(f"Removed {path}")
