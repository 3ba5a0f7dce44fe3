"""What every client does: each tool and each prompt of the server once, over a project that has something for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from duvet.project.project import Project

Arguments = Mapping[str, Any]


class Plan(Struct, frozen=True):
    """What to give to each tool and to each prompt."""

    tools: Mapping[str, Arguments]
    prompts: Mapping[str, Arguments]


def plan_of(folder: Path) -> Plan:
    """That for the project in a folder, whose first citation of a requirement in code it is about."""
    catalogue = Project(str(folder)).catalogue
    citation = next(one for one in catalogue.citations if one.requirements and not one.path.endswith(".toml"))
    requirement = catalogue.requirements[citation.requirements[0]]
    id, target = requirement.id[:12], catalogue.target_of(requirement)
    comment = f"//= {target}\n//# {requirement.text}"
    return Plan(
        tools={
            "validate_citation": {"citation": comment},
            "search_requirements": {"query": requirement.text.split()[1]},
            "get_requirement_status": {"req_identifier": id},
            "list_uncited_requirements": {},
            "list_invalid_citations": {},
            "get_citation_context": {"citation_id": citation.id, "context_lines": 2},
            "resolve_spec_id": {"url": target.partition("#")[0]},
            "get_prioritized_requirements": {},
            "validate_citations": {"citations": [comment, "//= nowhere.md#milk"]},
            "get_requirement": {"reference": id},
            "get_section": {"reference": target},
            "suggest_citation": {"requirement": catalogue.full_path_of(requirement), "file": citation.path},
            "coverage_summary": {},
        },
        prompts={
            "system": {},
            "implement_requirement": {"requirement": id},
            "write_test": {"requirement": id},
            "review_citations": {},
            "triage_uncited": {},
            "explain_section": {"section": target},
        },
    )
