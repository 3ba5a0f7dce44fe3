"""What prompts about one requirement are filled with."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from duvet.config.schema import SourceRule
from duvet.errors import NotFoundError
from duvet.prompts.comments import comments_for
from duvet.prompts.room import WIDEST, fitting
from duvet.queries.detailing import detail_of
from duvet.queries.details import Citation, RequirementDetail
from duvet.queries.references import Requirements
from duvet.text import quoted, shortened
from duvet.tools.context import Context

_AROUND = 3


def the_requirement(context: Context, reference: str) -> Requirements:
    """The requirement that a reference means; NotFoundError where it means something else."""
    found = context.find(reference)
    if not isinstance(found, Requirements):
        hint = "give the first digits of its id, or the path of its resource"
        raise NotFoundError(f"{quoted(reference)} is no requirement", hint=hint)
    return found


def requirement_values(context: Context, requirement: Requirements) -> Mapping[str, object]:
    """The requirement with its citations, what to paste where, and the notes that it is still to do."""
    detail = detail_of(context.material(_AROUND), requirement)
    assert isinstance(detail, RequirementDetail)
    ##= man/spec/queries.md#prompts
    ##% A prompt about a requirement MUST hold its text, its id, its target, its level, its status, and each of its
    ##% citations with the code around it.
    citations = [_narrowed(one) for one in detail.citations]
    shown = fitting(citations, _words_of)
    todos = [f"{one.file_path}, line {one.line_number}" for one in detail.citations if one.type == "todo"]
    return {
        "requirement": detail,
        "citations": shown,
        "left_out": len(citations) - len(shown),
        "comments": comments_for(_rules(context), detail.target, detail.text),
        "todos": fitting(todos, str),
    }


def _rules(context: Context) -> tuple[SourceRule, ...]:
    project = context.project
    return (*project.options.sources, *(project.config.sources if project.config else ()))


def _words_of(citation: Citation) -> str:
    """What the prompt shows of it, with the numbers of its lines."""
    numbered = "".join(f"{'':12}{line}" for line in citation.context_lines)
    return f"{citation.type} in {citation.file_path}, {citation.reason} {citation.feature} {numbered}"


def _narrowed(citation: Citation) -> Citation:
    return replace(citation, context_lines=tuple(shortened(line, WIDEST) for line in citation.context_lines))
