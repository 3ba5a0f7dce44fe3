"""The lists of everything, and walks over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS
from msgspec import json
from pytest_snapshot.plugin import Snapshot

from tests.conftest import ROOT
from tests.unit.server.asking import below, everything, got, text
from tests.unit.server.clients import MODERN
from tests.unit.server.conftest import server_of

pytestmark = pytest.mark.anyio

GOLD = ROOT / "tests" / "gold" / "server"

_BREWING = "/specifications/rfc7168/sections/section-2/requirements"
_POT = "/specifications/tea/sections/pot/requirements"
_CUP = "/specifications/tea/sections/cup/requirements"
_LID = "The lid MUST fit the pot, unless there is none, which is a pity that many a tea party has seen already."
_REQUIREMENTS = [
    (f"{_BREWING}/e19545c1a5c9", "TEA-capable pots MUST announce the teas that they can brew."),
    (f"{_BREWING}/347deb547278", "holds coffee MUST answer with 418."),
    (f"{_POT}/1dd64a535306", "The pot MUST be warm."),
    (f"{_POT}/a5415b83517f", "It SHOULD be round, and nobody MAY drop it."),
    (f"{_POT}/5bfbf88bbb38", _LID),
    (f"{_CUP}/2c79658776d2", "A cup MUST NOT leak."),
    (f"{_CUP}/1dd64a535306", "The pot MUST be warm."),
]
_CITATIONS = [
    (f"{_BREWING}/347deb547278", ".duvet/exceptions/coffee.toml:3"),
    (f"{_POT}/1dd64a535306", "src/pot.rs:3"),
    (f"{_POT}/a5415b83517f", "src/pot.rs:5"),
    (f"{_CUP}/2c79658776d2", "src/pot.rs:14"),
    (f"{_CUP}/1dd64a535306", "src/pot.rs:19"),
    ("", "src/pot.rs:25"),
    ("", "src/pot.rs:27"),
    ("", "src/pot.rs:30"),
    (f"{_BREWING}/e19545c1a5c9", "src/pot.rs:33"),
    (f"{_POT}/1dd64a535306", "tests/test_pot.py:2"),
]


async def test_all_requirements_of_the_project(client: Client) -> None:
    assert await got(client, path="/requirements") == [
        {"full_path": path, "identifier": path[-12:], "text": words} for path, words in _REQUIREMENTS
    ]


async def test_all_citations_of_the_project(client: Client) -> None:
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% `resources/list` MUST list every resource once, page by page, or with a `path` the resources right below it with
    ##% their objects.
    assert await got(client, path="/citations") == [
        {"full_path": f"{above}/citations/{id}", "id": id} for above, id in _CITATIONS
    ]
    assert await got(client, path="/citations/src/pot.rs:25") == {
        "file_path": "src/pot.rs",
        "line_number": 25,
        "comment_text": "//= tea.md#sugar",
        "context_lines": ["//# The pot MUST be warm.", "", "//= tea.md#sugar", "", "//= tea.md#milk"],
    }


async def test_a_walk_over_the_list_reaches_every_resource_once(project: Path, client: Client) -> None:
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% `resources/list` MUST list every resource once, page by page, or with a `path` the resources right below it with
    ##% their objects.
    listed = [resource.uri for resource in await everything(client)]
    reached = [f"duvet://{path}" for path in await _walked(client, "/specifications")]
    loose = [f"duvet:///citations/{id}" for above, id in _CITATIONS if not above]
    assert listed[:3] == ["duvet:///specifications", "duvet:///requirements", "duvet:///citations"]
    assert sorted(listed) == sorted([*listed[:3], *reached, *loose])
    assert len(set(listed)) == len(listed)
    depths = [uri.count("/") for uri in listed if uri.startswith("duvet:///specifications") and "citations/" not in uri]
    assert depths == sorted(depths)
    async with Client(server_of(project, page_size=7), mode=client.mode) as paged:
        assert [resource.uri for resource in await everything(paged)] == listed


async def _walked(client: Client, above: str) -> list[str]:
    """What stands below a path, found by the lists of what stands right below."""
    found = []
    for resource in (await below(client, above)).resources:
        path = resource.uri.removeprefix("duvet://")
        found += [path, *await _walked(client, path)]
    return found


async def test_how_resources_are_described(client: Client, snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = GOLD
    shown = [
        f"{one.uri}\n  {one.name}\n  {one.title}\n  {one.description}\n  {one.size or '-'}\n"
        for one in await everything(client)
    ]
    snapshot.assert_match("".join(shown), "resources.txt")


async def test_every_listed_resource_can_be_read(client: Client) -> None:
    for resource in await everything(client):
        read = await text(client, resource.uri)
        assert resource.size in (None, len(read.encode()))
        assert json.decode(read) == await got(client, uri=resource.uri)


async def test_what_stands_below_a_path_comes_with_its_objects(client: Client) -> None:
    for path in ("/specifications", f"{_POT}", "/requirements", "/citations", f"{_POT}/1dd64a535306/citations"):
        resources = (await below(client, path)).resources
        assert [_object(resource) for resource in resources] == await got(client, path=path)
    (sections,) = (await below(client, "/specifications/tea")).resources
    assert sections.model_dump(mode="json", by_alias=True, exclude_none=True) == {
        "uri": "duvet:///specifications/tea/sections",
        "name": "tea/sections",
        "title": "Sections of Tea",
        "description": "The sections of Tea",
        "mimeType": "application/json",
    }
    (_, first, *_) = (await below(client, "duvet:///specifications/tea/sections")).resources
    assert first.model_dump(mode="json", by_alias=True, exclude_none=True) == {
        "uri": "duvet:///specifications/tea/sections/pot",
        "name": "tea#pot",
        "title": "Pot",
        "description": "A section of Tea, with its text",
        "mimeType": "application/json",
        "_meta": {"duvet/object": {"id": "pot", "title": "Pot"}},
    }
    roots = [resource.uri for resource in (await below(client, "/")).resources]
    assert roots == ["duvet:///specifications", "duvet:///requirements", "duvet:///citations"]
    assert (await below(client, f"{_POT}/1dd64a535306/citations/src/pot.rs:3")).resources == []


def _object(resource: Any) -> Any:
    return (resource.meta or {})["duvet/object"]


async def test_a_list_is_read_in_parts(client: Client) -> None:
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% `resources/read` MUST return the JSON of an object or a list, or with `?limit=&cursor=` a part of the list.
    whole = json.decode(await text(client, "duvet:///requirements"))
    parts, more = [], ""
    while True:
        uri = f"duvet:///requirements?limit=3{more}"
        (contents,) = (await client.read_resource(uri)).contents
        place = (contents.meta or {})["duvet/page"]
        parts.append(json.decode(contents.text))  # type: ignore[union-attr]
        assert place["total"] == len(whole)
        if "next_cursor" not in place:
            break
        more = f"&cursor={place['next_cursor']}"
    assert parts == [whole[:3], whole[3:6], whole[6:]]
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% `resources/get` MUST return the object or the array itself, or with `?limit=` the first entries.
    assert await got(client, uri="duvet:///requirements?limit=2") == whole[:2]
    assert await got(client, path="/requirements?limit=999999999") == whole


async def test_lists_have_one_page_where_that_is_the_wish(project: Path) -> None:
    async with Client(server_of(project, page_size=0), mode=MODERN) as client:
        page = await client.list_resources()
        assert (len(page.resources), page.next_cursor) == (43, None)


async def test_a_cursor_of_another_list_is_refused(project: Path) -> None:
    async with Client(server_of(project, page_size=1), mode="legacy") as client:
        cursor = (await client.list_resources()).next_cursor
        assert cursor is not None
        for ask in (
            lambda: below(client, "/specifications", cursor=cursor),
            lambda: client.list_resources(cursor="made up"),
            lambda: client.read_resource(f"duvet:///requirements?cursor={cursor}"),
        ):
            with pytest.raises(MCPError, match="the cursor does not belong to this list") as refused:
                await ask()
            assert refused.value.code == INVALID_PARAMS


async def test_a_path_with_a_limit(client: Client) -> None:
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% `resources/list` MUST list every resource once, page by page, or with a `path` the resources right below it with
    ##% their objects.
    whole = [one.uri for one in (await below(client, "/requirements")).resources]
    found: list[list[str]] = []
    more: dict[str, str] = {}
    while len(found) < len(whole):
        page = await below(client, "/requirements?limit=3", **more)
        found.append([one.uri for one in page.resources])
        if page.next_cursor is None:
            break
        more = {"cursor": page.next_cursor}
    assert found == [whole[:3], whole[3:6], whole[6:]]
    assert [one.uri for one in (await below(client, "duvet:///requirements?limit=1")).resources] == whole[:1]
    with pytest.raises(MCPError, match="the path has a cursor") as refused:
        await below(client, f"/requirements?limit=3&cursor={more['cursor']}")
    assert refused.value.error.data == {"code": "invalid_request", "hint": "give `cursor` beside `path`"}
