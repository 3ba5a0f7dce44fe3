"""What the page of a project shows."""

from __future__ import annotations

from duvet.model import Problem
from duvet.project import Project
from duvet.reports.html_page import Page
from duvet.trace.finished import Finished
from duvet.version import VERSION


def page_of(project: Project, finished: Finished, problems: tuple[Problem, ...]) -> Page:
    """All that the page needs, read and computed."""
    return Page(finished=finished, catalogue=project.catalogue, problems=problems, version=VERSION)
