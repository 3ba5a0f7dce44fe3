"""`pages`: which files are notes."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from duvet.config.schema import NotesRule
from duvet.config.service.section import Section
from duvet.config.tables import Excluded, Included, notes_rule


class PagesSection(Section, frozen=True, kw_only=True):
    """Pages: notes in Markdown that link to one another and to requirements."""

    # Not `Text`: with that in a union, msgspec 0.22 now and then takes the interpreter down with it when that ends.
    pattern: Included
    exclude: Excluded = ()

    def rule(self) -> NotesRule:
        """The rule that this table stands for."""
        return notes_rule(self.pattern, self.exclude)
