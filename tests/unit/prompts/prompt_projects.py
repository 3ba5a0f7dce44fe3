"""Prompts for projects in memory."""

from __future__ import annotations

from collections.abc import Mapping

from duvet.project.project import Project
from duvet.prompts.content import fill_prompt
from duvet.prompts.library import check_prompt_arguments
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry
from duvet.tree.files import MemoryTree
from tests.cli.tea_project import TEA_PROJECT

USUAL = Registry()


def context_of(**changed: str) -> ProjectSnapshot:
    """Return the tea project with some files changed; a file without text is left out."""
    files = {path: text for path, text in {**TEA_PROJECT, **changed}.items() if text}
    project = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()}))
    return ProjectSnapshot(project, project.catalogue, page_size=50)


def text_of(name: str, context: ProjectSnapshot, /, **given: str) -> str:
    return text_for(USUAL, name, context, given)


def text_for(registry: Registry, name: str, context: ProjectSnapshot, given: Mapping[str, str]) -> str:
    return fill_prompt(name, check_prompt_arguments(name, given), context, registry)
