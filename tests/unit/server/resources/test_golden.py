"""The tree of real projects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from msgspec import json

from duvet.project.project import Project
from duvet.server.resources.documents import CitationDocument, RequirementDocument, make_document
from duvet.server.resources.tree import get_resource_tree
from duvet.tools.context import ProjectSnapshot
from tests.golden_projects import PROJECTS
from tests.slow.test_conformance import copy_with_links
from tests.unit.server.asking import everything, got, text
from tests.unit.server.clients import MODERN
from tests.unit.server.conftest import server_of

pytestmark = pytest.mark.anyio

_KEYS: dict[str, list[str]] = {
    "specifications": ["id", "name", "url", "description"],
    "specifications/{}": ["id", "name", "url", "description"],
    "specifications/{}/sections": ["id", "title"],
    "specifications/{}/sections/{}": ["id", "title", "content"],
    "specifications/{}/sections/{}/requirements": ["identifier", "text"],
    "specifications/{}/sections/{}/requirements/{}": ["identifier", "text", "status"],
    "specifications/{}/sections/{}/requirements/{}/citations": ["id"],
    "specifications/{}/sections/{}/requirements/{}/citations/{}": [
        "file_path",
        "line_number",
        "comment_text",
        "context_lines",
    ],
    "requirements": ["full_path", "identifier", "text"],
    "citations": ["full_path", "id"],
    "citations/{}": ["file_path", "line_number", "comment_text", "context_lines"],
}


@pytest.fixture
def golden(shared: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return copy_with_links(shared / "golden" / str(request.param) / "project", tmp_path / "project")


@pytest.mark.parametrize("golden", PROJECTS, indirect=True)
def test_the_tree_holds_what_the_project_has(golden: Path) -> None:
    project = Project(str(golden))
    context = ProjectSnapshot(project, project.catalogue, page_size=50)
    documents = [make_document(context, node) for node in get_resource_tree(context).all]
    stated = Counter(one.status.words for one in project.requirements)
    assert Counter(one.status for one in documents if isinstance(one, RequirementDocument)) == stated
    placed = {f"{one.file_path}:{one.line_number}" for one in documents if isinstance(one, CitationDocument)}
    assert placed == {card.id for card in project.catalogue.citations}


@pytest.mark.parametrize("golden", ["h3-704b37a"], indirect=True)
@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_a_client_walks_over_all_of_it(golden: Path, mode: str) -> None:
    async with Client(server_of(golden), mode=mode) as client:
        for resource in await everything(client):
            read = json.decode(await text(client, resource.uri))
            assert read == await got(client, uri=resource.uri)
            assert all(list(one) == _KEYS[_kind(resource.uri)] for one in _objects(read)), resource.uri


@pytest.mark.parametrize("golden", ["h3-704b37a"], indirect=True)
async def test_a_specification_is_listed_by_the_url_that_targets_name(golden: Path) -> None:
    url = "https://www.rfc-editor.org/rfc/rfc9114"
    async with Client(server_of(golden)) as client:
        listed = await got(client, path="/specifications")
        assert [one["url"] for one in _objects(listed) if one["id"] == "rfc9114"] == [url]
        found = await client.call_tool("validate_citation", {"citation": f"//= {url}#section-4.1"})
        assert found.structured_content == {"valid": True}


def _objects(read: Any) -> list[dict[str, Any]]:
    return read if isinstance(read, list) else [read]


def _kind(uri: str) -> str:
    """The names in a URI, which stand at every second place, left out."""
    above, cited, _ = uri.removeprefix("duvet:///").partition("citations/")
    parts = above.split("/") if not cited else [*above.split("/")[:-1], "citations", "{}"]
    return "/".join("{}" if number % 2 else part for number, part in enumerate(parts))
