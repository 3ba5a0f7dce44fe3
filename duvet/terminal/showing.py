"""A run of `duvet show`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from duvet.queries.catalogue import SpecificationCard
from duvet.queries.citations import Citations
from duvet.queries.detailing import Material, detail_of
from duvet.queries.details import Detail
from duvet.queries.places import Files
from duvet.queries.references import find
from duvet.terminal.catalogues import read_catalogue, tell_errors
from duvet.terminal.listings import look
from duvet.terminal.streams import pour
from duvet.tree.disk import DiskTree

if TYPE_CHECKING:
    from duvet.model import Specification


def run_show(reference: str, context: int, format: str, where: Mapping[str, Any]) -> None:
    """Write all there is to say of what a reference means."""
    ##= man/spec/show.md#details
    ##% `duvet show` MUST NOT write anything into the project but downloads and the cache.
    catalogue = read_catalogue(where)
    tell_errors(catalogue)
    files = Files(DiskTree(), os.getcwd().replace(os.sep, "/"))
    found = find(catalogue, reference, files)

    def load(card: SpecificationCard) -> Specification:
        from duvet.terminal.loading import load_specification

        return load_specification(card)

    material = Material(catalogue, Citations(catalogue, files, context), load)
    pour(_rendered(detail_of(material, found), format))


def _rendered(detail: Detail, format: str) -> bytes:
    if format == "json":
        from duvet.reports.json_document import document

        return document(detail)
    from duvet.reports.show import blocks

    if format == "markdown":
        from duvet.reports import show_markdown

        return show_markdown.render(blocks(detail))
    from duvet.reports import show_text

    return show_text.render(blocks(detail), look())
