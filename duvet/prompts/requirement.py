"""What prompts about one requirement are filled with."""

from __future__ import annotations

from collections.abc import Sequence

from duvet.config.schema import SourceRule
from duvet.prompts.comments import comments_for
from duvet.queries.detailing import Material, detail_of
from duvet.queries.details import RequirementDetail
from duvet.queries.references import Requirements


def requirement_values(material: Material, index: int, rules: Sequence[SourceRule]) -> dict[str, object]:
    """The requirement with its citations, what to paste where, and the notes that it is still to do."""
    requirement = detail_of(material, Requirements((index,)))
    assert isinstance(requirement, RequirementDetail)
    ##= man/spec/queries.md#prompts
    ##% A prompt about a requirement MUST hold its text, its id, its target, its level, its status, and each of its
    ##% citations with the code around it.
    todos = [f"{one.file_path}, line {one.line_number}" for one in requirement.citations if one.type == "todo"]
    return {
        "requirement": requirement,
        "comments": comments_for(rules, requirement.target, requirement.text),
        "todos": todos,
    }
