"""Asking for what does not exist, and asking wrongly."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS

from tests.unit.server.asking import below, got
from tests.unit.server.clients import MODERN

pytestmark = pytest.mark.anyio

_Ask = Callable[[Client, str], Awaitable[Any]]
_ASKS: dict[str, _Ask] = {
    "read": lambda client, uri: client.read_resource(uri),
    "get": lambda client, uri: got(client, uri=uri),
    "path": lambda client, uri: got(client, path=uri),
    "list": lambda client, uri: below(client, uri),
}


@pytest.mark.parametrize("ask", _ASKS.values(), ids=_ASKS)
@pytest.mark.parametrize(
    ("uri", "said"),
    [
        (
            "duvet:///nothing",
            'Resource not found: there is no resource "/nothing": begin with /specifications, /requirements or /citations',
        ),
        ("duvet:///specifications/tee", 'Resource not found: there is no specification "tee": did you mean tea?'),
        (
            "duvet:///specifications/tea/sections/pots",
            'Resource not found: there is no section "pots" in tea.md: did you mean pot?',
        ),
        (
            "duvet:///specifications/tea/sections/cup/requirements/a5415b83517f",
            (
                'Resource not found: there is no requirement "a5415b83517f" in "cup": '
                "it is /specifications/tea/sections/pot/requirements/a5415b83517f"
            ),
        ),
        (
            "duvet:///specifications/tea/sections/milk",
            'Resource not found: there is no section "milk" in tea.md: /specifications/tea/sections lists the sections',
        ),
        ("duvet:///citations/..%2Fpot.rs:3", 'Resource not found: there is no citation "../pot.rs:3"'),
    ],
)
async def test_what_does_not_exist(client: Client, ask: _Ask, uri: str, said: str) -> None:
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% The server MUST answer for an unknown resource with the error -32602, or -32002 before version 2026-07-28, and
    ##% with its `uri`.
    with pytest.raises(MCPError) as refused:
        await ask(client, uri)
    error = refused.value.error
    assert (error.code, error.message) == (INVALID_PARAMS if client.mode == MODERN else -32002, said)
    assert error.data == {"uri": uri}


@pytest.mark.parametrize("ask", _ASKS.values(), ids=_ASKS)
@pytest.mark.parametrize(
    "uri", [f"duvet:///{'a' * 20_000}", "duvet:///requirements?limit=0", "duvet:///specifications/\0"]
)
async def test_what_no_uri_can_be(client: Client, ask: _Ask, uri: str) -> None:
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% The server MUST accept names in a URI plain or percent-encoded, and refuse a URI that is longer than 16,384
    ##% characters or contains control characters.
    with pytest.raises(MCPError) as refused:
        await ask(client, uri)
    assert refused.value.code == INVALID_PARAMS


async def test_the_root_is_nothing_to_read(client: Client) -> None:
    with pytest.raises(MCPError) as refused:
        await client.read_resource("duvet:///")
    assert refused.value.data == {"uri": "duvet:///"}


@pytest.mark.parametrize("params", [{}, {"path": "/specifications", "uri": "duvet:///specifications"}])
async def test_one_thing_is_asked_for_at_once(client: Client, params: dict[str, str]) -> None:
    with pytest.raises(MCPError, match="give a `path` or a `uri`") as refused:
        await got(client, **params)
    assert refused.value.code == INVALID_PARAMS


@pytest.mark.parametrize("params", [{"path": 3}, {"uri": ["duvet:///specifications"]}])
async def test_parameters_of_another_type(client: Client, params: dict[str, Any]) -> None:
    with pytest.raises(MCPError) as refused:
        await got(client, **params)
    assert refused.value.code == INVALID_PARAMS
