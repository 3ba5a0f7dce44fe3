import random
from pathlib import Path

import pytest

from duvet.project.project import Options, Project
from duvet.project.validation import fix_project, overlay_project
from duvet.specs.library import Policy
from tests.unit.project.mutations import HOW, MOVE, WRAP, Spoiler
from tests.unit.project.test_validation_mutations import LEFT, OTHER, RESTORED, SEEDS, check_mutations

LEAST = {"drop": 80, "change": 80, "dashes": 60, "swap": 80, "case": 80, "end": 40, MOVE: 80}
"""Of what is wrong, so many in a hundred are mended at least; the others have several answers, or none."""
_RESTORED = 90
"""Of what is mended, so many in a hundred say again what they said; for the others as good an answer is known."""


def golden(shared: Path, name: str) -> Project:
    return Project(str(shared / "golden" / name / "project"), Options(policy=Policy(offline=True)))


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", ("h3-704b37a", "s2n-tls-132053b"))
def test_mutated_citations_of_real_projects_are_reported(name: str, seed: int, shared: Path) -> None:
    project = golden(shared, name)
    counts = check_mutations(project, Spoiler(project).spoil(random.Random(seed)))
    for how, least in LEAST.items():
        restored, other, left = (counts[how, what] for what in (RESTORED, OTHER, LEFT))
        assert 100 * (restored + other) >= least * (restored + other + left), (how, counts)
    restored, other = (sum(counts[how, what] for how in HOW) for what in (RESTORED, OTHER))
    assert 100 * restored >= _RESTORED * (restored + other), counts
    assert not any(counts[WRAP, what] for what in (RESTORED, OTHER, LEFT))


@pytest.mark.parametrize(("name", "files"), [("h3-704b37a", 0), ("s2n-tls-132053b", 4)])
def test_unchanged_real_projects_have_no_new_problems(name: str, files: int, shared: Path) -> None:
    project = golden(shared, name)
    done = fix_project(project, lambda findings: findings.files, lambda *_: True)
    assert len(done.after) == files
    assert (
        fix_project(overlay_project(project, done.after), lambda findings: findings.files, lambda *_: True).after == {}
    )
