"""duvet traces duvet: every sentence of its specification is implemented and tested."""

from duvet.project.project import Project
from duvet.trace.catalogue import State
from tests.conftest import ROOT


def test_every_requirement_is_done_and_nothing_is_wrong_with_a_citation() -> None:
    project = Project(str(ROOT))
    assert [f"{one.path}:{one.place.line}: {one.message}" for one in project.trace.problems] == []
    requirements = project.requirements
    left = [f"{one.state.words}: {one.section.id}: {one.text}" for one in requirements if one.state is not State.DONE]
    assert requirements and left == []
