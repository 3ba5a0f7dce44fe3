"""`pages`: which files are notes."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from typing import Annotated

from msgspec import Meta

from duvet.config.schema import NotesRule
from duvet.config.service.section import Section
from duvet.config.tables import as_tuple

# Not `Text`: with that in a union, msgspec 0.22 now and then takes the interpreter down with it when that ends.
_Patterns = str | Annotated[tuple[str, ...], Meta(min_length=1)]


class PagesSection(Section, frozen=True, kw_only=True):
    """Pages: notes in Markdown that link to one another and to requirements."""

    pattern: Annotated[_Patterns, Meta(description="Which files, as one pattern of paths or several")]
    exclude: Annotated[
        str | tuple[str, ...],
        Meta(description="Which of these files to leave out, or folders with all that is in them"),
    ] = ()

    def rule(self) -> NotesRule:
        """The rule that this table stands for."""
        return NotesRule(patterns=as_tuple(self.pattern), exclude=as_tuple(self.exclude))
