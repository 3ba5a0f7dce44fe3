"""What the SDK's client has no words for: methods of our own, and parameters of our own."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp import Client
from msgspec import json
from pydantic import RootModel

from duvet.server.messages import unwrap_array


class Get(types.Request[dict[str, Any], str]):
    """`resources/get`"""

    method: str = "resources/get"
    params: dict[str, Any]


class ListBelow(types.Request[dict[str, Any], str]):
    """`resources/list` with a path."""

    method: str = "resources/list"
    params: dict[str, Any]


class Anything(RootModel[dict[str, Any]]):
    """Whatever is answered."""


async def got(client: Client, **params: str) -> Any:
    """The result of `resources/get`, as a transport lets it out."""
    found = await client.session.send_request(Get(params=params), Anything)
    # What all results of an era bring along is not the answer.
    own = {key: value for key, value in found.root.items() if key not in ("_meta", "resultType")}
    return json.decode(json.encode(unwrap_array(own)))


async def below(client: Client, path: str, **params: str) -> types.ListResourcesResult:
    """The resources right below a path."""
    return await client.session.send_request(ListBelow(params={"path": path, **params}), types.ListResourcesResult)


async def everything(client: Client) -> list[types.Resource]:
    """All resources, page by page."""
    page = await client.list_resources()
    found = [*page.resources]
    while page.next_cursor is not None:
        page = await client.list_resources(cursor=page.next_cursor)
        found += page.resources
    return found


async def text(client: Client, uri: str) -> str:
    """What is read at a URI."""
    result = await client.read_resource(uri)
    (contents,) = result.contents
    assert isinstance(contents, types.TextResourceContents)
    assert (contents.uri, contents.mime_type) == (uri, "application/json")
    return contents.text
