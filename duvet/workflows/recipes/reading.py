"""Reads a recipe, and tells everything that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.config.documents.document import DocumentError
from duvet.config.service.section import NAME_PATTERN
from duvet.errors import DuvetError
from duvet.model import Place, Problem
from duvet.workflows.recipes.from_file import workflow_of
from duvet.workflows.recipes.refusing import refused
from duvet.workflows.recipes.sections import Recipe
from duvet.workflows.records import Workflow

if TYPE_CHECKING:
    from duvet.config.documents.document import Document

PROJECT, SHIPPED, FILE = "project", "shipped", "file"
"""Where a recipe comes from: the folders of the project, duvet itself, or a file that somebody has named."""


class Found(Struct, frozen=True, kw_only=True):
    """A recipe, or a file that was to be one."""

    name: str
    path: str
    origin: str
    data: bytes = b""
    workflow: Workflow | None = None
    """None where there are problems."""
    problems: tuple[Problem, ...] = ()
    document: Document | None = None
    """To find places in."""

    @property
    def steps(self) -> int:
        return len(self.workflow.steps) if self.workflow else 0


def read_recipe(data: bytes, path: str, origin: str) -> Found:
    """The recipe in a file, or what is wrong with it."""
    from duvet.config.documents.reading import read_document

    found = Found(name=_stem(path), path=path, origin=origin, data=data)
    try:
        ##= man/spec/gateway.md#recipes
        ##% A recipe that is larger than 1 MiB, nested deeper than 64 levels, or holds more than 100,000 values or 4 Mi
        ##% characters of texts and keys once its aliases are followed, MUST be refused with its file and its line.
        document = read_document(data, path)
    except DocumentError as error:
        rule = rules.CONFIG_SYNTAX if error.is_text else rules.FILE_NOT_UTF8
        return replace(found, problems=(rule.problem(error.message, path, error.place, hint=error.hint),))
    return _checked(replace(found, document=document), document)


def broken(path: str, origin: str, error: DuvetError) -> Found:
    """A file that can't be read."""
    problem = rules.broken_by(error).problem(error.message, path, Place(error.line), hint=error.hint)
    return Found(name=_stem(path), path=path, origin=origin, problems=(problem,))


def _checked(found: Found, document: Document) -> Found:
    from duvet.config.check import in_order
    from duvet.config.read import as_table

    problems = in_order(_problems(document))
    called = document.values.get("name")
    # A file may say what it is called and be wrong all the same.
    name = called if isinstance(called, str) and _can_be_name(called) else found.name
    if problems:
        return replace(found, name=name, problems=problems)
    return replace(found, name=name, workflow=workflow_of(name, as_table(document.values, Recipe)))


def _problems(document: Document) -> Iterator[Problem]:
    from duvet.config.at import At
    from duvet.config.check import checked
    from duvet.config.service.references import repeated

    at = At(document, {}, is_private=True)
    yield from checked(Recipe, at)
    yield from refused(document.values, at)
    yield from repeated(document.values, at)
    if "name" not in document.values and not _can_be_name(_stem(document.path)):
        message = "the name of this file can't be that of a recipe"
        yield At(document, {}).problem(rules.CONFIG_MISSING_KEY, message, "say what it is called: `name: ...`")


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _can_be_name(text: str) -> bool:
    return re.search(NAME_PATTERN, text) is not None
