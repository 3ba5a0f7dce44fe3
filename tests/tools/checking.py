"""A small project to put tools to, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import json

from duvet import MemoryTree, Project
from duvet.tools.call import call
from duvet.tools.context import Context
from duvet.tools.registry import Registry
from duvet.tools.tool import Answer, Scope
from tests.commands.made_tea import TEA_PROJECT


def context_of(texts: Mapping[str, str] = TEA_PROJECT) -> Context:
    """One reading of a project that is held in memory."""
    project = Project(tree=MemoryTree({path: text.encode() for path, text in texts.items()}))
    return Context(project, project.catalogue, 50)


def answer(context: Context, name: str, /, **arguments: object) -> Answer:
    return call(Registry().require(name), context, arguments, frozenset(Scope))


def value(context: Context, name: str, /, **arguments: object) -> Any:
    """The first block of what a tool answers."""
    return json.decode(json.encode(answer(context, name, **arguments).value))
