"""The shapes of URIs, and what their variables are filled with."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import mcp_types as types
import pytest
from mcp import Client, MCPError
from msgspec import json

from duvet.server.resources.templates import match_values
from tests.cli.made import make
from tests.cli.made_tea import CONFIG, RFC
from tests.unit.server.asking import text
from tests.unit.server.conftest import server_of

pytestmark = pytest.mark.anyio

_SECTION = "duvet:///specifications/{spec_id}/sections/{section_id}"
_REQUIREMENT = f"{_SECTION}/requirements/{{req_identifier}}"
_CITATION = f"{_REQUIREMENT}/citations/{{citation_id}}"
_TEMPLATES = [
    ("duvet:///specifications/{spec_id}", "Specification"),
    ("duvet:///specifications/{spec_id}/sections", "Sections"),
    (_SECTION, "Section"),
    (f"{_SECTION}/requirements", "Requirements of a section"),
    (_REQUIREMENT, "Requirement"),
    (f"{_REQUIREMENT}/citations", "Citations of a requirement"),
    (_CITATION, "Citation of a requirement"),
    ("duvet:///citations/{citation_id}", "Citation"),
]
_IDS = ["e19545c1a5c9", "347deb547278", "1dd64a535306", "a5415b83517f", "5bfbf88bbb38", "2c79658776d2"]


async def test_every_shape_of_uris_is_told(client: Client) -> None:
    found = (await client.list_resource_templates()).resource_templates
    assert [(one.uri_template, one.title) for one in found] == _TEMPLATES
    assert {one.mime_type for one in found} == {"application/json"}
    assert all(one.description for one in found)
    assert len({one.name for one in found}) == len(found)


@pytest.mark.parametrize("template", [uri for uri, _ in _TEMPLATES])
async def test_a_template_that_is_filled_in_step_by_step_can_be_read(client: Client, template: str) -> None:
    filled: dict[str, str] = {}
    for variable in ("spec_id", "section_id", "req_identifier", "citation_id"):
        if f"{{{variable}}}" in template:
            values = await _values(client, template, variable, "", filled)
            # The first specification has a section without requirements.
            filled[variable] = values[-1] if variable == "section_id" else values[0]
    expanded = template
    for variable, value in filled.items():
        expanded = expanded.replace(f"{{{variable}}}", quote(value, safe=""))
    assert json.decode(await text(client, expanded))


@pytest.mark.parametrize(
    ("template", "variable", "begun", "filled", "values"),
    [
        (_CITATION, "spec_id", "", {}, ["rfc7168", "tea"]),
        (_CITATION, "spec_id", "T", {}, ["tea", "rfc7168"]),
        (_CITATION, "spec_id", "RFC 71", {}, ["rfc7168"]),
        (_CITATION, "section_id", "", {"spec_id": "tea"}, ["tea", "pot", "cup", "sugar"]),
        (_CITATION, "section_id", "brew", {}, ["section-2"]),
        (_CITATION, "section_id", "p", {"spec_id": "RFC7168"}, []),
        (_CITATION, "req_identifier", "", {}, _IDS),
        (_CITATION, "req_identifier", "1D", {"spec_id": "tea"}, ["1dd64a535306"]),
        (_CITATION, "req_identifier", "leak", {"spec_id": "tea", "section_id": "cup"}, ["2c79658776d2"]),
        (_CITATION, "req_identifier", "leak", {"spec_id": "tea", "section_id": "pot"}, []),
        (_CITATION, "citation_id", "pot", {"spec_id": "rfc7168"}, ["src/pot.rs:33"]),
        (
            _CITATION,
            "citation_id",
            "",
            {"spec_id": "tea", "section_id": "pot", "req_identifier": "1dd64a535306"},
            ["src/pot.rs:3", "tests/test_pot.py:2"],
        ),
        (_CITATION, "citation_id", "", {"spec_id": "coffee"}, []),
        ("duvet:///citations/{citation_id}", "citation_id", "src/pot.rs:2", {}, ["src/pot.rs:25", "src/pot.rs:27"]),
    ],
)
async def test_variables_are_completed(
    client: Client, template: str, variable: str, begun: str, filled: dict[str, str], values: list[str]
) -> None:
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% The server MUST complete the variables of resource templates and the arguments of prompts with names from the
    ##% project.
    assert await _values(client, template, variable, begun, filled) == values


async def _values(client: Client, template: str, variable: str, begun: str, filled: dict[str, str]) -> list[str]:
    reference = types.ResourceTemplateReference(uri=template)
    found = await client.complete(reference, {"name": variable, "value": begun}, context_arguments=filled)
    assert (found.completion.total, found.completion.has_more) == (len(found.completion.values), False)
    return found.completion.values


@pytest.mark.parametrize(
    ("template", "variable", "said"),
    [
        ("duvet:///nothing/{spec_id}", "spec_id", 'there is no template "duvet:///nothing/{spec_id}"'),
        (_SECTION, "citation_id", '"citation_id" is no variable of it'),
    ],
)
async def test_what_is_no_variable_is_refused(client: Client, template: str, variable: str, said: str) -> None:
    with pytest.raises(MCPError) as refused:
        await _values(client, template, variable, "", {})
    assert (refused.value.code, refused.value.message) == (types.INVALID_PARAMS, said)


@pytest.mark.parametrize(
    ("argument", "begun", "values"), [("spec", "t", ["tea"]), ("requirement", "2c", ["2c79658776d2"]), ("wish", "", [])]
)
async def test_arguments_of_prompts_are_completed(client: Client, argument: str, begun: str, values: list[str]) -> None:
    reference = types.PromptReference(name="triage_uncited")
    found = await client.complete(reference, {"name": argument, "value": begun})
    assert found.completion.values == values


def test_what_has_one_id_in_several_places_is_found_by_each_of_its_titles() -> None:
    choices = [("section-1", "Brewing"), ("section-2", "Serving"), ("section-1", "Introduction")]
    assert [match_values(choices, begun) for begun in ("brew", "INTRO", "section")] == [
        ["section-1"],
        ["section-1"],
        ["section-1", "section-2"],
    ]


async def test_no_more_values_are_sent_than_may_be(tmp_path: Path) -> None:
    sections = "".join(f"\n## Cup {number}\n\nA cup.\n" for number in range(120))
    folder = make(tmp_path, {".duvet/config.toml": CONFIG, "tea.md": f"# Tea\n{sections}", "rfc7168.txt": RFC})
    async with Client(server_of(folder), mode="legacy") as client:
        reference = types.ResourceTemplateReference(uri=_SECTION)
        found = (await client.complete(reference, {"name": "section_id", "value": "cup"})).completion
        assert (len(found.values), found.total, found.has_more) == (100, 120, True)
