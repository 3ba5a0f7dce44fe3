"""`search`: what counts, besides the words, in a search in everything."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from enum import StrEnum
from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from duvet.config.schema import SearchRule
from duvet.config.service.section import Section

_Weight = Annotated[float, Meta(ge=0, le=1)] | None


class ProfileName(StrEnum):
    """What somebody looks for mostly."""

    DEFAULT = "default"
    ANALYSIS = "analysis"
    OPERATIONS = "operations"
    DOCS_HEAVY = "docs-heavy"


class WeightsSection(Section, frozen=True, kw_only=True):
    """How much each thing counts, where it isn't what the profile says."""

    subsystem: Annotated[
        _Weight,
        Meta(
            description="That the query names the subsystem; here and below, the profile counts where nothing is said"
        ),
    ] = None
    relationship: Annotated[_Weight, Meta(description="That much hangs together with the file")] = None
    support: Annotated[_Weight, Meta(description="That there are documents and tests for it")] = None
    criticality: Annotated[_Weight, Meta(description="How critical the subsystem is")] = None


class SearchSection(Section, frozen=True, kw_only=True):
    """How results that match equally well are ordered."""

    profile: Annotated[
        ProfileName,
        Meta(description="The weights, by what is looked for mostly; each answer of `km-search` tells them"),
    ] = ProfileName.DEFAULT
    weights: Annotated[WeightsSection, Meta(description="Single weights, from 0 to 1")] = WeightsSection()
    feedback: Annotated[bool, Meta(description="Whether the votes given by `km-feedback-submit` count, a little")] = (
        False
    )

    def rule(self) -> SearchRule:
        """The rule that this table stands for."""
        said = {name: value for name, value in asdict(self.weights).items() if value is not None}
        return SearchRule(profile=self.profile.value, weights=said, feedback=self.feedback)
