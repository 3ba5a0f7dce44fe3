"""Citations of real projects are judged as `duvet report` judges them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duvet.errors import DuvetError
from duvet.project.project import Project
from duvet.tools.context import ProjectSnapshot
from tests.slow.test_conformance import copy_with_links
from tests.unit.tools.made import value

AREAS = ("comments", "markdown", "ietf", "matching", "targets", "legacy")


def disagreements(project: Project) -> list[str]:
    """The comments whose citations one takes for valid and the other doesn't."""
    trace, context = project.trace, ProjectSnapshot(project, project.catalogue, 50)
    found = []
    for id, one in enumerate(trace.annotations):
        if one.from_file:
            continue
        text = project.tree.read(one.path).decode()
        lines = text.split("\n")[one.line - 1 : text.count("\n", 0, one.source.text_end) + 1]
        told = value(context, "validate_citation", citation="\n".join(lines))
        if told["valid"] != (trace.match_of[id] is not None):
            found.append(f"{one.path}:{one.line}: {told}")
    return found


@pytest.mark.parametrize("area", AREAS)
def test_in_the_cases_of_an_area(area: str, shared: Path, tmp_path: Path) -> None:
    looked = 0
    for case in sorted((shared / "probes" / "open" / area).iterdir()):
        folder = shutil.copytree(case / "project", tmp_path / case.name, symlinks=True)
        try:
            project = Project(str(folder))
            looked += len(project.trace.annotations)
        except DuvetError:
            continue
        assert disagreements(project) == [], case.name
    assert looked


@pytest.mark.parametrize("name", ["h3-704b37a", "s2n-tls-132053b"])
def test_in_a_real_project(name: str, shared: Path, tmp_path: Path) -> None:
    project = Project(str(copy_with_links(shared / "golden" / name / "project", tmp_path / name)))
    assert project.trace.annotations and disagreements(project) == []
