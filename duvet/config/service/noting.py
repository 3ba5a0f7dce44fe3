"""What the configuration of the service says of pages, for those who ask it for nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet.config.schema import NotesRule
from duvet.config.service.pages import PagesSection
from duvet.config.service.parts import part_of_service
from duvet.tree.protocol import Tree


class _Noted(Struct, frozen=True):
    pages: tuple[PagesSection, ...] = ()


def service_notes(
    tree: Tree, environ: Mapping[str, str], project_path: str | None = None
) -> tuple[NotesRule, ...] | None:
    """Which files are pages, None where nothing is said of that; ProblemsError where that can't be told."""
    ##= man/spec/pages.md#files
    ##% What is wrong with other tables of the configuration of the service, or a variable that is not set, MUST NOT keep
    ##% its table `pages` from being in force.
    ##= man/spec/pages.md#files
    ##% A configuration of the service that can't tell which files are pages MUST be an error that names it.
    found = part_of_service(_Noted, tree, environ, project_path)
    return tuple(one.rule() for one in found.pages) or None if found else None
