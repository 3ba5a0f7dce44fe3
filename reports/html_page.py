"""Everything that the page shows, finished before any of it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.model import Problem
from duvet.queries.catalogue import Catalogue
from duvet.queries.comment_styles import CommentStyle
from duvet.queries.reasons import PriorityRow
from duvet.queries.since import Since
from duvet.trace.finished import Finished

if TYPE_CHECKING:
    from duvet.knowledge.pages.notes import Notes


class Page(Struct, frozen=True, kw_only=True):
    """A finished trace, and what stands around it on the page."""

    finished: Finished
    catalogue: Catalogue
    """The same trace as cards: its requirements are those of `finished`, in the same order."""
    problems: tuple[Problem, ...] = ()
    title: str = ""
    """Nothing where the configuration gives none."""
    logo: str = ""
    whole_text: bool = False
    """Whether the text of specifications without requirements is shown where nothing cites it."""
    snippets: Mapping[int, str] = {}
    """The code below citations, by their number in the catalogue."""
    version: str = ""
    commit: str = ""
    config_path: str = ""
    next: tuple[PriorityRow, ...] = ()
    since: Since | None = None
    comments: tuple[CommentStyle, ...] = ()
    notes: Notes | None = None
    """The pages of the project, if it has any."""
    texts: Mapping[str, str] = {}
    """What they say, by their files."""
    embedded: bytes | None = None
    """JSON for those who look for it in the page."""
