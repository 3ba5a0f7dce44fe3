"""A run of `duvet cite`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.errors import DuvetError
from duvet.model import Kind
from duvet.queries.citable import citable
from duvet.queries.places import Files, place_of
from duvet.queries.references import find
from duvet.reports.cells import visible
from duvet.terminal.options import open_cache
from duvet.terminal.patches import patch
from duvet.terminal.questions import open_quietly
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour
from duvet.text import quoted
from duvet.validation.citing import Cited, Wish, cited, write_cited


def run_cite(
    reference: str,
    place: str,
    kind: str | None,
    fields: Mapping[str, str],
    part: str | None,
    width: int,
    where: Mapping[str, Any],
    *,
    dry_run: bool,
) -> None:
    """Insert an annotation, or show what that would do."""
    wanted = place_of(place)
    if wanted is None:
        raise DuvetError(f"{quoted(place)} names no line", hint="write FILE:LINE")
    project = open_quietly(open_cache(settings()), where)
    catalogue = project.catalogue
    meant = citable(catalogue, find(catalogue, reference, Files(project.tree, project.root)), part)
    wish = Wish(wanted.path, wanted.line, Kind[kind.upper()] if kind else None, fields, width)
    found = cited(project, meant, wish)
    ##= man/spec/cite.md#what-is-written
    ##% With `--dry-run`, a unified diff MUST be shown, and nothing written.
    if dry_run:
        pour("".join(patch(found.path, found.before, found.after)).encode())
        return
    # Nothing is written where nobody can be told.
    pour(b"")
    write_cited(project, found)
    pour(_told(found).encode(errors="replace"))


def _told(found: Cited) -> str:
    """What was inserted, and where."""
    ##= man/spec/cite.md#what-is-written
    ##% What has been written MUST be shown with its place on standard output.
    lines = [f"{visible(found.path)}:{found.line}", *(visible(line) for line in found.lines)]
    return "".join(f"{line}\n" for line in lines)
