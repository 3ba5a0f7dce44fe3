"""`resources/list`, `resources/templates/list`, `resources/read`, and `resources/get`, which is our own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import json, to_builtins

from duvet.errors import NotFoundError, QueryError
from duvet.server.bare import wrapped
from duvet.server.live import Live
from duvet.server.protocol.parts import Request, whole_list
from duvet.server.resources.addresses import asked
from duvet.server.resources.descriptions import MIME_TYPE, Described
from duvet.server.resources.finding import node_of
from duvet.server.resources.reading import Listed, all_resources, read, resources_below
from duvet.server.resources.templates import TEMPLATES
from duvet.server.resources.tree import tree_of
from duvet.tools.context import Context
from duvet.tools.errors import hint_of
from duvet.tools.tool import Page

_NOT_FOUND = -32002
"""What a handshake version says; later ones say that the parameters are wrong."""
_OBJECT = "duvet/object"
_PAGE = "duvet/page"


class ListParams(types.PaginatedRequestParams):
    """A page of all resources, or of those right below a path."""

    path: str | None = None


class GetParams(types.RequestParams):
    """A resource by its path or its URI."""

    path: str | None = None
    uri: str | None = None


class Resources:
    """Serves the tree of the project as it is."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("resources/list", ListParams, self.list)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read)
        server.add_request_handler("resources/get", GetParams, self.get)

    async def list(self, request: Request, params: ListParams) -> types.ListResourcesResult:
        with _telling_what_is_missing(request, params.path or ""):
            shown, place = await self._live.ask(lambda context: _listed(context, params))
        return types.ListResourcesResult(resources=[_resource(one) for one in shown], next_cursor=place.next_cursor)

    async def templates(
        self, request: Request, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        whole_list(params)
        return types.ListResourceTemplatesResult(resource_templates=_TEMPLATES)

    async def read(self, request: Request, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        value, page = await self._read(request, params.uri)
        contents = types.TextResourceContents(
            uri=params.uri,
            mime_type=MIME_TYPE,
            text=json.encode(value).decode(),
            _meta=None if page is None else {_PAGE: _words(page)},
        )
        return types.ReadResourceResult(contents=[contents])

    async def get(self, request: Request, params: GetParams) -> dict[str, Any]:
        ##= man/spec/mcp.md#resources
        ##% The result of `resources/get` MUST be the object, or the array, itself; an object has no other members but
        ##% those that the version of the protocol demands of every result.
        if (params.path is None) == (params.uri is None):
            raise QueryError("give a `path` or a `uri`")
        ##= man/spec/mcp.md#resources
        ##% With `?limit=`, `resources/get` MUST give the first entries of a list alone: an array has no place for a cursor,
        ##% which is what `resources/read` is for.
        value, _ = await self._read(request, params.path or params.uri or "")
        plain = to_builtins(value)
        return wrapped(plain) if isinstance(plain, list) else plain

    async def _read(self, request: Request, reference: str) -> tuple[Any, Page | None]:
        with _telling_what_is_missing(request, reference):
            return await self._live.ask(lambda context: read(context, asked(reference)))


def _listed(context: Context, params: ListParams) -> tuple[Sequence[Described], Page]:
    ##= man/spec/mcp.md#resources
    ##% `resources/list` MUST list every resource once, page by page, and with a `path` those right below it, each with
    ##% its object.
    if params.path is None:
        return all_resources(context, params.cursor)
    wanted = asked(params.path)
    if wanted.cursor is not None:
        raise QueryError("the path has a cursor", hint="give `cursor` beside `path`")
    ##= man/spec/mcp.md#resources
    ##% A `?limit=` in the `path` of `resources/list` MUST be the size of a page.
    return resources_below(context, node_of(tree_of(context), wanted), params.cursor, wanted.limit)


@contextmanager
def _telling_what_is_missing(request: Request, reference: str) -> Iterator[None]:
    try:
        yield
    except NotFoundError as error:
        ##= man/spec/mcp.md#resources
        ##% A resource that does not exist MUST be an error with the code of the version of the protocol, -32602 since
        ##% 2026-07-28 and -32002 before, whose data is what was asked for as `uri`.
        is_modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
        message = ": ".join(filter(None, ["Resource not found", error.message, hint_of(error)]))
        raise MCPError(types.INVALID_PARAMS if is_modern else _NOT_FOUND, message, {"uri": reference}) from error


def _words(page: Page) -> dict[str, Any]:
    return {"total": page.total, **({"next_cursor": page.next_cursor} if page.next_cursor else {})}


def _resource(one: Described) -> types.Resource:
    return types.Resource(
        uri=one.uri,
        name=one.name,
        title=one.title,
        description=one.description,
        mime_type=MIME_TYPE,
        size=one.size,
        _meta={_OBJECT: to_builtins(one.object)} if isinstance(one, Listed) and one.object else None,
    )


_TEMPLATES = [
    types.ResourceTemplate(
        uri_template=one.uri, name=one.name, title=one.title, description=one.description, mime_type=MIME_TYPE
    )
    for one in TEMPLATES
]
