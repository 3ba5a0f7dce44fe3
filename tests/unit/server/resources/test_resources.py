import re
from collections.abc import Awaitable, Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import mcp_types as types
import pytest
from mcp import Client, MCPError
from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet.server.resources.templates import match_values
from tests.cli.sample_project import make
from tests.cli.tea_project import CONFIG, RFC
from tests.conftest import ROOT
from tests.unit.server.clients import MODERN, got, list_all_resources, list_below, text
from tests.unit.server.servers import server_of

pytestmark = pytest.mark.anyio

POT = "/specifications/tea/sections/pot/requirements"


async def test_the_list_is_what_a_walk_reaches(project: Path, client: Client) -> None:
    ##= man/spec/mcp.md#resources
    ##% `resources/list` MUST list every resource once, or with `path` only the resources directly below that path.
    async def walk(above: str) -> list[str]:
        found = []
        for resource in (await list_below(client, above)).resources:
            found += [resource.uri, *await walk(resource.uri.removeprefix("duvet://"))]
        return found

    listed = [resource.uri for resource in await list_all_resources(client)]
    loose = [f"duvet:///citations/src/pot.rs:{line}" for line in (25, 27, 30)]
    assert listed[:3] == ["duvet:///specifications", "duvet:///requirements", "duvet:///citations"]
    assert sorted(listed) == sorted([*listed[:3], *await walk("/specifications"), *loose])
    assert len(set(listed)) == len(listed)
    depths = [uri.count("/") for uri in listed if uri.startswith("duvet:///specifications") and "citations/" not in uri]
    assert depths == sorted(depths)
    async with Client(server_of(project, page_size=7), mode=client.mode) as paged:
        assert [resource.uri for resource in await list_all_resources(paged)] == listed


async def test_every_listed_resource_is_described_and_can_be_read(client: Client, snapshot: Snapshot) -> None:
    ##= man/spec/mcp.md#resources
    ##% `resources/get` MUST return the resource itself, an object or an array, as the result.
    described, documents = [], []
    for one in await list_all_resources(client):
        read = await text(client, one.uri)
        found = json.decode(read)
        assert one.size in (None, len(read.encode())) and one.mime_type == "application/json"
        assert found == await got(client, uri=one.uri) == await got(client, path=one.uri.removeprefix("duvet://"))
        assert json.encode(found).decode() == read
        described.append(f"{one.uri}\n  {one.name}\n  {one.title}\n  {one.description}\n  {one.size or '-'}\n")
        documents.append(f"{one.uri}\n{json.format(read)}\n")
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "server"
    snapshot.assert_match("".join(described), "resources.txt")
    snapshot.assert_match("".join(documents), "documents.txt")


async def test_the_resources_below_a_path_come_with_their_objects(client: Client) -> None:
    listed = {one.uri: one for one in await list_all_resources(client)}
    for path in ("/specifications", f"{POT}", "/requirements", "/citations", f"{POT}/1dd64a535306/citations"):
        resources = (await list_below(client, path)).resources
        assert [(resource.meta or {})["duvet/object"] for resource in resources] == await got(client, path=path)
        assert [one.model_copy(update={"meta": None}) for one in resources] == [listed[one.uri] for one in resources]
    (sections,) = (await list_below(client, "/specifications/tea")).resources
    assert sections == listed["duvet:///specifications/tea/sections"]
    (_, first, *_) = (await list_below(client, "duvet:///specifications/tea/sections")).resources
    assert first.meta == {"duvet/object": {"id": "pot", "title": "Pot"}}
    roots = [resource.uri for resource in (await list_below(client, "/")).resources]
    assert roots == ["duvet:///specifications", "duvet:///requirements", "duvet:///citations"]
    assert (await list_below(client, f"{POT}/1dd64a535306/citations/src/pot.rs:3")).resources == []
    with pytest.raises(MCPError) as refused:
        await client.read_resource("duvet:///")
    assert refused.value.data == {"uri": "duvet:///"}


async def test_a_list_is_read_and_listed_in_parts(client: Client) -> None:
    ##= man/spec/mcp.md#resources
    ##% `resources/read` MUST return a resource of the pack `trace` as JSON, or only a part of a list if the URI has
    ##% `limit=` or `cursor=`.
    whole = json.decode(await text(client, "duvet:///requirements"))
    parts, cursors = [], [""]
    while cursors[-1] is not None:
        more = f"&cursor={cursors[-1]}" if cursors[-1] else ""
        (contents,) = (await client.read_resource(f"duvet:///requirements?limit=3{more}")).contents
        page = (contents.meta or {})["duvet/page"]
        parts.append(json.decode(contents.text))  # type: ignore[union-attr]
        assert page["total"] == len(whole)
        cursors.append(page.get("next_cursor"))
    assert parts == [whole[:3], whole[3:6], whole[6:]]
    assert await got(client, uri="duvet:///requirements?limit=2") == whole[:2]
    assert await got(client, path="/requirements?limit=999999999") == whole
    listed = [one.uri for one in (await list_below(client, "/requirements")).resources]
    pages = [await list_below(client, "/requirements?limit=3")]
    while pages[-1].next_cursor is not None:
        pages.append(await list_below(client, "/requirements?limit=3", cursor=pages[-1].next_cursor))
    assert [[one.uri for one in page.resources] for page in pages] == [listed[:3], listed[3:6], listed[6:]]
    assert [one.uri for one in (await list_below(client, "duvet:///requirements?limit=1")).resources] == listed[:1]
    with pytest.raises(MCPError, match="the path contains a cursor") as refused:
        await list_below(client, f"/requirements?limit=3&cursor={pages[0].next_cursor}")
    assert refused.value.data == {"code": "invalid_request", "hint": "pass `cursor` as a separate parameter"}


async def test_pages_have_the_size_of_the_server_and_a_cursor_of_their_list(project: Path) -> None:
    async with Client(server_of(project, page_size=0), mode=MODERN) as client:
        page = await client.list_resources()
    assert (len(page.resources), page.next_cursor) == (43, None)
    async with Client(server_of(project, page_size=1), mode="legacy") as client:
        cursor = (await client.list_resources()).next_cursor
        assert cursor is not None
        for ask in (
            lambda: list_below(client, "/specifications", cursor=cursor),
            lambda: client.list_resources(cursor="made up"),
            lambda: client.read_resource(f"duvet:///requirements?cursor={cursor}"),
        ):
            with pytest.raises(MCPError, match="the cursor does not belong to this list") as refused:
                await ask()
            assert refused.value.code == types.INVALID_PARAMS


SECTION = "duvet:///specifications/{spec_id}/sections/{section_id}"
CITATION = f"{SECTION}/requirements/{{req_identifier}}/citations/{{citation_id}}"
IDS = ["e19545c1a5c9", "347deb547278", "1dd64a535306", "a5415b83517f", "5bfbf88bbb38", "2c79658776d2"]


async def complete(client: Client, of: str, variable: str, begun: str, filled: dict[str, str]) -> list[str]:
    is_template = of.startswith("duvet:")
    reference = types.ResourceTemplateReference(uri=of) if is_template else types.PromptReference(name=of)
    found = await client.complete(reference, {"name": variable, "value": begun}, context_arguments=filled)
    assert (found.completion.total, found.completion.has_more) == (len(found.completion.values), False)
    return found.completion.values


async def test_every_completed_template_can_be_read(client: Client) -> None:
    for template in (await client.list_resource_templates()).resource_templates:
        expanded = template.uri_template
        filled: dict[str, str] = {}
        for variable in re.findall(r"{(\w+)}", expanded):
            values = await complete(client, template.uri_template, variable, "", filled)
            # The first specification has a section without requirements.
            filled[variable] = values[-1] if variable == "section_id" else values[0]
            expanded = expanded.replace(f"{{{variable}}}", quote(filled[variable], safe=""))
        assert json.decode(await text(client, expanded))


WARM = {"spec_id": "tea", "section_id": "pot", "req_identifier": "1dd64a535306"}
COMPLETED: list[tuple[str, str, str, dict[str, str], list[str]]] = [
    (CITATION, "spec_id", "", {}, ["rfc7168", "tea"]),
    (CITATION, "spec_id", "T", {}, ["tea", "rfc7168"]),
    (CITATION, "spec_id", "RFC 71", {}, ["rfc7168"]),
    (CITATION, "section_id", "", {"spec_id": "tea"}, ["tea", "pot", "cup", "sugar"]),
    (CITATION, "section_id", "brew", {}, ["section-2"]),
    (CITATION, "section_id", "p", {"spec_id": "RFC7168"}, []),
    (CITATION, "req_identifier", "", {}, IDS),
    (CITATION, "req_identifier", "1D", {"spec_id": "tea"}, ["1dd64a535306"]),
    (CITATION, "req_identifier", "leak", {"spec_id": "tea", "section_id": "cup"}, ["2c79658776d2"]),
    (CITATION, "req_identifier", "leak", {"spec_id": "tea", "section_id": "pot"}, []),
    (CITATION, "citation_id", "pot", {"spec_id": "rfc7168"}, ["src/pot.rs:33"]),
    (CITATION, "citation_id", "", WARM, ["src/pot.rs:3", "tests/test_pot.py:2"]),
    (CITATION, "citation_id", "", {"spec_id": "coffee"}, []),
    ("duvet:///citations/{citation_id}", "citation_id", "src/pot.rs:2", {}, ["src/pot.rs:25", "src/pot.rs:27"]),
    ("triage_uncited", "spec", "t", {}, ["tea"]),
    ("triage_uncited", "requirement", "2c", {}, ["2c79658776d2"]),
    ("triage_uncited", "wish", "", {}, []),
]


async def test_variables_are_completed(client: Client) -> None:
    for of, variable, begun, filled, values in COMPLETED:
        assert await complete(client, of, variable, begun, filled) == values, (of, variable, begun)
    for template, variable, said in (
        ("duvet:///nothing/{spec_id}", "spec_id", 'unknown template "duvet:///nothing/{spec_id}"'),
        (SECTION, "citation_id", 'the template has no variable "citation_id"'),
    ):
        with pytest.raises(MCPError) as refused:
            await complete(client, template, variable, "", {})
        assert (refused.value.code, refused.value.message) == (types.INVALID_PARAMS, said)


async def test_completions_are_limited_and_an_id_with_several_titles_is_found_by_each(tmp_path: Path) -> None:
    choices = [("section-1", "Brewing"), ("section-2", "Serving"), ("section-1", "Introduction")]
    expected = [["section-1"], ["section-1"], ["section-1", "section-2"]]
    assert [match_values(choices, begun) for begun in ("brew", "INTRO", "section")] == expected
    sections = "".join(f"\n## Cup {number}\n\nA cup.\n" for number in range(120))
    folder = make(tmp_path, {".duvet/config.toml": CONFIG, "tea.md": f"# Tea\n{sections}", "rfc7168.txt": RFC})
    async with Client(server_of(folder), mode="legacy") as client:
        reference = types.ResourceTemplateReference(uri=SECTION)
        found = (await client.complete(reference, {"name": "section_id", "value": "cup"})).completion
    assert (len(found.values), found.total, found.has_more) == (100, 120, True)


ASKS: Sequence[Callable[[Client, str], Awaitable[Any]]] = (
    lambda client, uri: client.read_resource(uri),
    lambda client, uri: got(client, uri=uri),
    lambda client, uri: got(client, path=uri),
    list_below,
)
TEA = "/specifications/tea/sections"
NOTHING = 'unknown resource "/nothing": list the resources with `resources/list`'
MISSING = {
    "/nothing": NOTHING,
    "/specifications/tee": 'unknown specification "tee": did you mean tea?',
    f"{TEA}/pots": 'unknown section "pots" of tea.md: did you mean pot?',
    f"{TEA}/cup/requirements/a5415b83517f": (
        f'requirement "a5415b83517f" is not in section "cup": use {TEA}/pot/requirements/a5415b83517f'
    ),
    f"{TEA}/milk": f'unknown section "milk" of tea.md: list the sections with the resource {TEA} or with `duvet show tea`',
    "/citations/..%2Fpot.rs:3": 'unknown citation "../pot.rs:3"',
}


async def test_a_missing_resource_is_an_error(client: Client) -> None:
    code = types.INVALID_PARAMS if client.mode == MODERN else -32002
    for (path, said), ask in product(MISSING.items(), ASKS):
        with pytest.raises(MCPError) as refused:
            await ask(client, f"duvet://{path}")
        assert (refused.value.code, refused.value.message) == (code, f"Resource not found: {said}")
        assert refused.value.data == {"uri": f"duvet://{path}"}


async def test_wrong_uris_and_parameters_are_an_error(client: Client) -> None:
    for ask in ASKS:
        with pytest.raises(MCPError) as refused:
            await ask(client, "duvet:///requirements?limit=0")
        assert refused.value.code == types.INVALID_PARAMS
    both: dict[str, Any] = {"path": "/specifications", "uri": "duvet:///specifications"}
    wrong: dict[str, list[dict[str, Any]]] = {
        "exactly one of `path` and `uri` is required": [{}, both],
        "Invalid request parameters": [{"path": 3}, {"uri": ["duvet:///specifications"]}],
    }
    for said, params in product(wrong, range(2)):
        with pytest.raises(MCPError) as refused:
            await got(client, **wrong[said][params])
        assert (refused.value.code, refused.value.message) == (types.INVALID_PARAMS, said)
