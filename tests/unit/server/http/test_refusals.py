"""What is not let through, and how that is said."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from duvet.server.http.guards import HttpLimits
from duvet.server.protocol.server import DuvetServer
from tests.unit.server.http.made import Waiting
from tests.unit.server.http.serving import BOTH, MEDIA, READER, asking, error_of, greet, serving
from tests.unit.server.wire import hello, request

pytestmark = pytest.mark.anyio
SMALL = HttpLimits(body=2000, burst=1, rate=0.001)
BAD_HOST = error_of("forbidden", "This server doesn't go by that name", "duvet mcp --allow-host NAME")
BAD_ORIGIN = error_of("forbidden", "Pages of that origin may not ask", "duvet mcp --allow-host NAME")
OTHER_METHOD = error_of("unsupported_operation", "This method is not served here")
OTHER_MEDIA = error_of("invalid_request", "A message is application/json")
OTHER_ACCEPTED = error_of("invalid_request", "Answers are application/json or text/event-stream", "accept both")
NEEDED = error_of("unauthorized", "A token is needed", "send Authorization: Bearer TOKEN")
UNKNOWN = error_of("unauthorized", "This token is not known", "send Authorization: Bearer TOKEN")

REFUSED: dict[str, tuple[str, str, dict[str, str], int, Any]] = {
    "path": ("GET", "/nothing", {}, 404, error_of("not_found", "Not Found")),
    "root": ("GET", "/", {}, 404, error_of("not_found", "Not Found")),
    "slash": ("POST", "/mcp/", MEDIA, 404, error_of("not_found", "Not Found")),
    "health by POST": ("POST", "/health", {}, 405, OTHER_METHOD),
    "method": ("PUT", "/mcp", MEDIA, 405, OTHER_METHOD),
    "preflight": ("OPTIONS", "/mcp", {"origin": "http://localhost"}, 405, OTHER_METHOD),
    "no medium": ("POST", "/mcp", {"accept": "*/*"}, 415, OTHER_MEDIA),
    "form": ("POST", "/mcp", {**MEDIA, "content-type": "text/plain; application/json"}, 415, OTHER_MEDIA),
    "accepts JSON alone": ("POST", "/mcp", {**MEDIA, "accept": "application/json"}, 406, OTHER_ACCEPTED),
    "accepts pages": ("GET", "/mcp", {"accept": "text/html"}, 406, OTHER_ACCEPTED),
    "host": ("POST", "/mcp", {**MEDIA, "host": "evil.example"}, 421, BAD_HOST),
    "host of health": ("GET", "/health", {"host": "evil.example:80"}, 421, BAD_HOST),
    "host of nothing": ("GET", "/nothing", {"host": "evil.example"}, 421, BAD_HOST),
    "origin": ("POST", "/mcp", {**MEDIA, "origin": "http://evil.example"}, 403, BAD_ORIGIN),
    "origin of health": ("GET", "/health", {"origin": "null"}, 403, BAD_ORIGIN),
}
UNAUTHORIZED: dict[str, tuple[dict[str, str], Any]] = {
    "none": ({}, NEEDED),
    "wrong": ({"authorization": "Bearer wrong"}, UNKNOWN),
    "half": ({"authorization": f"Bearer {READER[:-1]}"}, UNKNOWN),
    "longer": ({"authorization": f"Bearer {READER}x"}, UNKNOWN),
    "empty": ({"authorization": "Bearer"}, UNKNOWN),
    "other scheme": ({"authorization": f"Basic {READER}"}, UNKNOWN),
    "bare": ({"authorization": READER}, UNKNOWN),
    "not ASCII": ({"authorization": "Bearer \xe9"}, UNKNOWN),
}


##= man/spec/mcp.md#http
##= type=test
##% On every path, the server MUST refuse a foreign `Host` with 421 and a foreign `Origin` with 403.
##= man/spec/mcp.md#http
##= type=test
##% The server MUST answer in JSON with 404 for an unknown path, 405 for a method, 415 for a medium, and 406 for an
##% `Accept` that it does not support.
async def test_refusals(server: DuvetServer) -> None:
    async with serving(server) as where, asking(where) as client:
        found = {}
        for name, (method, path, headers, _, _) in REFUSED.items():
            answer = await client.request(method, path, headers=headers)
            assert answer.headers["content-type"] == "application/json"
            found[name] = (answer.status_code, answer.json())
        assert (await client.put("/mcp")).headers["allow"] == "GET, POST, DELETE"
    assert found == {name: (status, body) for name, (_, _, _, status, body) in REFUSED.items()}


##= man/spec/mcp.md#http
##= type=test
##% With tokens, the server MUST answer a request to `/mcp` without a valid one with 401 and `WWW-Authenticate`, and
##% bind each session to its token.
@pytest.mark.parametrize("case", UNAUTHORIZED)
async def test_a_token_is_needed(server: DuvetServer, case: str) -> None:
    headers, body = UNAUTHORIZED[case]
    shown = [(name.encode(), value.encode("latin-1")) for name, value in (MEDIA | headers).items()]
    async with serving(server, tokens=BOTH) as where, asking(where) as client:
        answer = await client.post("/mcp", json=hello(), headers=shown)
        assert (answer.status_code, answer.json()) == (401, body)
        challenge = 'Bearer realm="duvet", error="invalid_token"' if headers else 'Bearer realm="duvet"'
        assert answer.headers["www-authenticate"] == challenge


async def test_one_token_is_shown(server: DuvetServer) -> None:
    headers = [*MEDIA.items(), ("authorization", f"Bearer {READER}"), ("authorization", f"Bearer {READER}")]
    async with serving(server, tokens=BOTH) as where, asking(where) as client:
        assert (await client.post("/mcp", json=hello(), headers=headers)).status_code == 401


##= man/spec/service.md#operations
##= type=test
##% Without a token, `/health` MUST answer 200 with `{"status":"ok"}`, and `/ready` MUST answer 200 if the project can
##% be read or else 503.
async def test_health(server: DuvetServer) -> None:
    async with serving(server, tokens=BOTH) as where, asking(where) as client:
        answer = await client.get("/health")
        assert (answer.status_code, answer.text) == (200, '{"status":"ok"}')
        assert set(answer.headers) == {"date", "content-type", "content-length", "cache-control"}


##= man/spec/mcp.md#limits
##= type=test
##% The server MUST refuse a line of more than 4 MiB with the error -32600, and a larger body than configured with 413,
##% without reading it all.
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_large_request(server: DuvetServer, chunked: bool) -> None:
    async def parts() -> Any:
        for _ in range(4):
            yield b"[" * 1000

    async with serving(server, limits=HttpLimits(body=2000)) as where, asking(where) as client:
        answer = await client.post("/mcp", content=parts() if chunked else b"[" * 4000, headers=MEDIA)
        hint = "it may have 2,000 bytes: send less at once, and text as UTF-8, which is shorter than escapes"
        assert (answer.status_code, answer.json()) == (
            413,
            error_of("invalid_request", "The request is too large", hint),
        )
        assert answer.headers["connection"] == "close"
        assert (await client.post("/mcp", json=hello(), headers=MEDIA)).status_code == 200


##= man/spec/mcp.md#limits
##= type=test
##% The server MUST answer 429 to a client that exceeds its rate, and 503 when too many requests or streams are open,
##% each with `Retry-After`.
async def test_too_often(server: DuvetServer) -> None:
    async with serving(server, limits=HttpLimits(rate=0.5, burst=2)) as where, asking(where) as client:
        answers = [await client.get("/health") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[2].json() == error_of("upstream_error", "Too many requests", "try again later")
        assert answers[2].headers["retry-after"] == "2"


async def test_too_many_at_once(server: DuvetServer, waiting: Waiting) -> None:
    async with serving(server, limits=HttpLimits(requests=1, streams=1)) as where, asking(where) as client:
        session = await greet(client)
        async with client.stream("GET", "/mcp", headers=session) as stream, anyio.create_task_group() as tasks:
            assert stream.status_code == 200
            tasks.start_soon(_wait, client, session)
            await waiting.asked.wait()
            refused = [await client.get("/mcp", headers=session), await client.post("/mcp", headers=session)]
            waiting.may_answer.set()
        again = await client.post("/mcp", json=request("ping"), headers=session)
    busy = error_of("upstream_error", "Too many requests at once", "try again later")
    assert [(one.status_code, one.json(), one.headers["retry-after"]) for one in refused] == [(503, busy, "1")] * 2
    assert again.status_code == 200


async def _wait(client: Any, session: dict[str, str]) -> None:
    answer = await client.post("/mcp", json=request("tests/wait"), headers=session)
    assert '"waited":true' in answer.text


async def test_what_is_no_message(server: DuvetServer) -> None:
    bodies = {
        b"{": (None, -32700),
        b"\xff": (None, -32700),
        b"[" * 200_000: (None, -32700),
        b"1": (None, -32600),
        b"{}": (None, -32600),
        b'{"jsonrpc":"2.0","id":7,"method":1}': (7, -32600),
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}': (None, -32600),
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}': (None, -32600),
        b'{"jsonrpc":"1.0","id":"a","method":"ping"}': ("a", -32600),
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}': (1, -32600),
    }
    async with serving(server) as where, asking(where) as client:
        found = {}
        for body in bodies:
            answer = await client.post("/mcp", content=body, headers=MEDIA)
            assert (answer.status_code, answer.headers["content-type"]) == (400, "application/json")
            found[body] = (answer.json()["id"], answer.json()["error"]["code"])
    assert found == bodies
