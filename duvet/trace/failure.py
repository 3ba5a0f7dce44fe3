"""Why an annotation leads nowhere, or not quite where it should."""

from __future__ import annotations

from msgspec import Struct

from duvet.model import Annotation, Problem
from duvet.rules import Rule
from duvet.trace.places import Places


class Failure(Struct, frozen=True):
    """What is to say of an annotation, wherever it stands."""

    rule: Rule
    message: str
    hint: str = ""
    label: str = "referenced here"
    is_of_quote: bool = False
    """Whether the quote is wrong, and not the target."""
    once: bool = False
    """Whether one report is enough for all annotations that fail so."""
    is_told: bool = False
    """Whether it is reported elsewhere already, in the configuration."""

    def of(self, annotation: Annotation, places: Places) -> Problem:
        """The problem of an annotation."""
        source = annotation.source
        place = places.of(annotation, source.quote if self.is_of_quote else source.target)
        return self.rule.problem(self.message, annotation.path, place, label=self.label, hint=self.hint)
