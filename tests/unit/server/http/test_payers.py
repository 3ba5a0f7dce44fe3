"""By what requests are counted where they are limited."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from duvet.server.http.guards import HttpLimits, find_rate_limit_key
from duvet.server.http.tokens import AccessTokens
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.http.serving import ADMIN, BOTH, MEDIA, NOBODY, READER, asking, serving
from tests.unit.server.wire import request

pytestmark = pytest.mark.anyio
RARELY = replace(HttpLimits(), rate=0.0001, burst=3)
"""Three, and no more for hours."""


@pytest.mark.parametrize(
    ("shown", "tokens", "payer"),
    [
        ([f"Bearer {READER}"], BOTH, "token reader"),
        ([f"bearer  {ADMIN} "], BOTH, "token admin"),
        (["Bearer nobody"], BOTH, "192.0.2.1"),
        ([f"Basic {READER}"], BOTH, "192.0.2.1"),
        ([f"Bearer {READER}", f"Bearer {READER}"], BOTH, "192.0.2.1"),
        ([], BOTH, "192.0.2.1"),
        ([f"Bearer {READER}"], NOBODY, "192.0.2.1"),
    ],
)
def test_who_pays(shown: list[str], tokens: AccessTokens, payer: str) -> None:
    headers = [(b"authorization", value.encode()) for value in shown]
    assert find_rate_limit_key({"client": ("192.0.2.1", 5), "headers": headers}, tokens) == payer


async def test_a_token_pays_wherever_it_is(server: DuvetServer) -> None:
    ##= man/spec/mcp.md#limits
    ##= type=test
    ##% The server MUST answer 429 to a client that exceeds its rate, and 503 when too many requests or streams are
    ##% open, each with `Retry-After`.
    async with serving(server, tokens=BOTH, limits=RARELY) as where:
        async with asking(where, READER) as one, asking(where, READER, at="127.0.0.2") as other:
            found = [(await client.get("/api/mcp")).status_code for client in (one, other, one, other, one)]
            assert found == [200, 200, 200, 429, 429]
            answer = await one.get("/api/mcp")
            assert int(answer.headers["retry-after"]) > 0
            assert answer.json() == {
                "status": "error",
                "error": "Too many requests",
                "code": "upstream_error",
                "hint": "try again later",
            }
        async with asking(where, ADMIN) as client:
            assert (await client.get("/api/mcp")).status_code == 200
        # Who shows a token that nobody knows pays for it at its own address, and takes nothing from those who have one.
        async with asking(where, "wrong") as client:
            assert [(await client.get("/api/mcp")).status_code for _ in range(4)] == [401, 401, 401, 429]
        async with asking(where, ADMIN) as client:
            assert (await client.get("/api/mcp")).status_code == 200
        async with asking(where, at="127.0.0.3") as client:
            assert (await client.get("/health")).status_code == 200


async def test_without_tokens_addresses_pay(server: DuvetServer) -> None:
    async with serving(server, limits=RARELY) as where, asking(where, READER) as one, asking(where, ADMIN) as other:
        found = [(await client.get("/api/mcp")).status_code for client in (one, other, one, other)]
        assert found == [200, 200, 200, 429]


async def test_a_batch_is_paid_for_by_its_token(server: DuvetServer) -> None:
    batch = json.dumps([request("ping", id=number) for number in range(3)])
    async with serving(server, tokens=BOTH, limits=RARELY) as where:
        async with asking(where, READER) as client:
            assert (await client.post("/mcp", content=batch, headers=MEDIA)).status_code != 429
        async with asking(where, READER, at="127.0.0.2") as client:
            assert (await client.get("/health")).status_code == 429
