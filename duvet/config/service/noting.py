"""What the configuration of the service says of pages, for those who ask it for nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, inspect

from duvet.config.at import At
from duvet.config.check import checked, in_order
from duvet.config.read import as_table
from duvet.config.schema import NotesRule
from duvet.config.service.find import find_service
from duvet.config.service.pages import PagesSection
from duvet.config.service.project_file import in_both, project_file
from duvet.config.service.settling import document_in
from duvet.config.service.tables import ServiceConfig
from duvet.model import ProblemsError
from duvet.tree.protocol import Tree

_KEY = "pages"


class _Noted(Struct, frozen=True):
    pages: tuple[PagesSection, ...] = ()


class _Part:
    """A document less the tables that nobody asks for, with the places in all of it."""

    def __init__(self, tree: Tree, path: str) -> None:
        self._whole = document_in(tree, path)
        self.path = path
        self.written = self._whole.values
        self.values = {name: value for name, value in self.written.items() if name == _KEY}
        self.value_place = self._whole.value_place
        self.key_place = self._whole.key_place


def service_notes(
    tree: Tree, environ: Mapping[str, str], project_path: str | None = None
) -> tuple[NotesRule, ...] | None:
    """Which files are pages, None where nothing is said of that; ProblemsError where that can't be told."""
    found = find_service(tree, environ)
    if not found.path:
        return None
    part = _Part(tree, found.path)
    at = At(part, environ, is_private=True)
    ##= man/spec/pages.md#files
    ##% What is wrong with other tables of the configuration of the service, or a variable that is not set, MUST NOT keep
    ##% its table `pages` from being in force.
    problems = [*checked(_Noted, at), *in_both(at, project_file(tree, project_path))]
    if problems:
        from duvet.config.service.hiding import hiding

        ##= man/spec/pages.md#files
        ##% A configuration of the service that can't tell which files are pages MUST be an error that names it.
        raise ProblemsError(in_order(hiding(problems, inspect.type_info(ServiceConfig), part.written)))
    return tuple(one.rule() for one in as_table(part.values, _Noted).pages) or None
