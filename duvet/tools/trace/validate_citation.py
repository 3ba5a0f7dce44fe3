"""`validate_citation`"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.checking import Verdict, checker
from duvet.tools.trace.verdicts import REQUIREMENT_NOT_FOUND, SECTION_NOT_FOUND, SPECIFICATION_NOT_FOUND

Citation = Annotated[str, Meta(max_length=10_000)]
"""Longer ones would keep others waiting."""


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    citation: Annotated[Citation, Meta(description="The whole comment, or spec#section alone")]


class Output(Struct, frozen=True, omit_defaults=True):
    valid: bool
    error: str | None = None
    warning: str | None = None
    nearest: str | None = None


_STEPS = {
    SPECIFICATION_NOT_FOUND: "Find its id with resolve_spec_id, or the text with search_requirements.",
    SECTION_NOT_FOUND: "Find the text with search_requirements, or read a section with get_section.",
    REQUIREMENT_NOT_FOUND: "Find the text with search_requirements; suggest_citation writes the comment.",
}
_AS_NEAREST = "Name the target as `nearest` says."
_AS_NEAREST_WHOLE = "Name the specification as `nearest` says, and one of its sections: spec#section."
_WRITE = "Write the target as spec#section, or let suggest_citation write the comment."


def validate(asked: Input, context: Context) -> Answer:
    """Whether a citation leads to a text of the project."""
    found = checker(context).verdict(asked.citation)
    return Answer(value=output_of(found), next_step=_next_step(found))


def output_of(verdict: Verdict) -> Output:
    """A verdict as it is told."""
    given = (verdict.error, verdict.warning, verdict.nearest)
    return Output(not verdict.error, *(one or None for one in given))


def _next_step(verdict: Verdict) -> str:
    ##= man/spec/mcp.md#tools
    ##% After a citation that is invalid, the second block MUST say what to do.
    if not verdict.error:
        return ""
    phrase = verdict.error.partition(":")[0]
    if verdict.nearest and phrase != REQUIREMENT_NOT_FOUND:
        ##= man/spec/mcp.md#tools
        ##% Where `nearest` is a target, the second block MUST say to name that.
        step = _AS_NEAREST if "#" in verdict.nearest else _AS_NEAREST_WHOLE
        return f"{step} {verdict.hint}".rstrip()
    return verdict.hint or _STEPS.get(phrase, _WRITE)


VALIDATE_CITATION = Question(
    name="validate_citation",
    title="Validate a citation",
    description="Whether a citation leads to a specification, its section, and the text it quotes.",
    input=Input,
    output=Output,
    handler=validate,
)
