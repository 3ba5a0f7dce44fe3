"""A client that reads every resource, calls every tool and gets every prompt."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp import Client
from msgspec import Struct, json

from duvet.project.project import Project
from duvet.trace.catalogue import Catalogue, CitationCard
from tests.unit.server.clients import blocks, list_all_resources, prompt_text, text


class Plan(Struct, frozen=True):
    tools: Mapping[str, Mapping[str, Any]]
    prompts: Mapping[str, Mapping[str, Any]]


def plan_of(folder: Path) -> Plan:
    catalogue = Project(str(folder)).catalogue
    return make_plan(
        catalogue, next(one for one in catalogue.citations if one.requirements and not one.path.endswith(".toml"))
    )


def make_plan(catalogue: Catalogue, citation: CitationCard) -> Plan:
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


class Walked(Struct):
    resources: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    prompts: dict[str, str] = {}


async def walk(client: Client, plan: Plan) -> Walked:
    """Read, call and get everything once."""
    walked = Walked()
    for resource in await list_all_resources(client):
        assert resource.uri not in walked.resources
        walked.resources[resource.uri] = json.decode(await text(client, resource.uri))
    for tool in (await client.list_tools()).tools:
        # The client checks the answer against the schema of the tool itself.
        answer = await client.call_tool(tool.name, dict(plan.tools[tool.name]))
        assert not answer.is_error and answer.structured_content is not None, (tool.name, answer)
        said, structured = json.decode(blocks(answer)[0]), answer.structured_content
        assert said == (structured["result"] if isinstance(said, list) else structured)
        walked.answers[tool.name] = structured
    for prompt in (await client.list_prompts()).prompts:
        walked.prompts[prompt.name] = await prompt_text(client, prompt.name, dict(plan.prompts[prompt.name]))
    return walked
