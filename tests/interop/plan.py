"""What every client does: each tool and each prompt of the server once, over a project that has something for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, json

from duvet.project import Project
from tests.commands.made import make
from tests.commands.made_tea import TEA_PROJECT

Arguments = Mapping[str, Any]
CITATION = "//= tea.md#pot\n//# The pot MUST be warm."
PLACE = "src/pot.rs:3"


class Plan(Struct, frozen=True):
    """What to give to each tool and to each prompt."""

    tools: Mapping[str, Arguments]
    prompts: Mapping[str, Arguments]


def plan_of(folder: Path) -> Plan:
    """That for the project in a folder."""
    id = Project(str(folder)).catalogue.requirements[0].id[:12]
    return Plan(
        tools={
            "validate_citation": {"citation": CITATION},
            "search_requirements": {"query": "pot"},
            "get_requirement_status": {"req_identifier": id},
            "list_uncited_requirements": {},
            "list_invalid_citations": {},
            "get_citation_context": {"citation_id": PLACE, "context_lines": 2},
            "resolve_spec_id": {"url": "tea.md"},
            "get_prioritized_requirements": {},
            "validate_citations": {"citations": [CITATION, "//= tea.md#milk"]},
            "get_requirement": {"reference": id},
            "get_section": {"section": "tea.md#pot"},
            "suggest_citation": {"requirement": id, "file": "src/pot.rs"},
            "coverage_summary": {},
        },
        prompts={
            "system": {},
            "implement_requirement": {"requirement": id},
            "write_test": {"requirement": id},
            "review_citations": {},
            "triage_uncited": {},
            "explain_section": {"section": "tea.md#pot"},
        },
    )


def written(folder: Path) -> tuple[Path, Path]:
    """A project in the folder, and the plan for it as JSON."""
    project = make(folder / "project", TEA_PROJECT)
    file = folder / "plan.json"
    file.write_bytes(json.encode(plan_of(project)))
    return project, file
