"""Prompts of projects in memory"""

from __future__ import annotations

from collections.abc import Mapping

from duvet.project import Project
from duvet.prompts.arguments import asked
from duvet.prompts.filling import filled
from duvet.tools.context import Context
from duvet.tools.registry import Registry
from duvet.tree.memory import MemoryTree
from tests.cli.made_tea import TEA_PROJECT

USUAL = Registry()


def context_of(**changed: str) -> Context:
    """The project of tea, with some files changed; a file without text is left out."""
    files = {path: text for path, text in {**TEA_PROJECT, **changed}.items() if text}
    project = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()}))
    return Context(project, project.catalogue, page_size=50)


def text_of(name: str, context: Context, /, **given: str) -> str:
    """The prompt with these arguments."""
    return text_for(USUAL, name, context, given)


def text_for(registry: Registry, name: str, context: Context, given: Mapping[str, str]) -> str:
    """The same for who has these tools."""
    return filled(asked(name, given), context, registry)
